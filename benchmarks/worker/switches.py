"""How each recorder is switched on, one registered function for each.

A switch gets the span processor that must see every span and returns nothing; afterwards the SDK's
own uploader is taken out, for everybody alike.
"""

# ruff: noqa: D102 - each recorder exists in its own environment only; the SDK's own hooks

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agents
from agents.tracing import TracingProcessor, get_trace_provider
from agents.tracing.processors import BatchTraceProcessor
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider


Switch = Callable[[SpanProcessor], None]
SWITCHES: dict[str, Switch] = {}


def switch(name: str) -> Callable[[Switch], Switch]:
    """Registers a switch under a peer's name."""

    def register(function: Switch) -> Switch:
        SWITCHES[name] = function
        return function

    return register


def switch_on(name: str, processor: SpanProcessor) -> None:
    """Switches a recorder on and the SDK's uploader off."""
    SWITCHES[name](processor)
    processors = get_trace_provider()._multi_processor  # type: ignore[attr-defined]
    processors.set_processors(
        [p for p in processors._processors if not isinstance(p, BatchTraceProcessor)]
    )


def provider(processor: SpanProcessor) -> TracerProvider:
    """Returns the global tracer provider: plain, with the default span limits."""
    made = TracerProvider()
    made.add_span_processor(processor)
    trace.set_tracer_provider(made)
    return made


@switch("off")
def off(_: SpanProcessor) -> None:
    agents.set_tracing_disabled(True)


class NoOpProcessor(TracingProcessor):
    """Hears everything and does nothing."""

    def on_trace_start(self, trace: Any) -> None: ...
    def on_trace_end(self, trace: Any) -> None: ...
    def on_span_start(self, span: Any) -> None: ...
    def on_span_end(self, span: Any) -> None: ...
    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...


@switch("noop")
def noop(_: SpanProcessor) -> None:
    agents.set_trace_processors([NoOpProcessor()])


@switch("itemtrace-off")
def itemtrace_off(processor: SpanProcessor) -> None:
    import itemtrace

    itemtrace.install(tracer_provider=provider(processor), messages="off")


@switch("itemtrace-delta")
def itemtrace_delta(processor: SpanProcessor) -> None:
    import itemtrace

    itemtrace.install(tracer_provider=provider(processor), messages="delta")


@switch("openinference")
def openinference(processor: SpanProcessor) -> None:
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider(processor))


@switch("traceloop")
@switch("contrib-v2")
def contrib(processor: SpanProcessor) -> None:
    """Two packages that share one import name, each in its own environment."""
    from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider(processor))


@switch("genai")
def genai(processor: SpanProcessor) -> None:
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
    from opentelemetry.instrumentation.genai.openai_agents.processor import (
        GenAITracingProcessor,
    )
    from opentelemetry.util.genai.handler import TelemetryHandler

    tracer_provider = provider(processor)
    OpenAIInstrumentor().instrument(tracer_provider=tracer_provider)
    handler = TelemetryHandler(tracer_provider=tracer_provider)
    agents.set_trace_processors([GenAITracingProcessor(handler, "openai")])


@switch("logfire")
def logfire(processor: SpanProcessor) -> None:
    """Makes a provider of its own; nothing is sent."""
    import logfire as library

    library.configure(
        send_to_logfire=False,
        console=False,
        additional_span_processors=[processor],
        inspect_arguments=False,
        metrics=False,
    )
    library.instrument_openai_agents()


@switch("oa-otel")
def oa_otel(processor: SpanProcessor) -> None:
    from openai_agents_opentelemetry import OpenTelemetryTracingProcessor

    provider(processor)
    agents.add_trace_processor(OpenTelemetryTracingProcessor())
