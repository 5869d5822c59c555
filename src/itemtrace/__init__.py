"""Lossless OpenTelemetry traces for the OpenAI Agents SDK, and the run back from them."""
