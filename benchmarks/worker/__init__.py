"""What runs inside a recorder's environment: one measurement, one fresh process.

`python -m benchmarks.worker JOB`, JOB a JSON object, writes JSON lines to standard output: any number
of `{"event": "progress", ...}`, then one `{"event": "result", ...}`. Needs the Agents SDK, the
OpenTelemetry SDK and the OTLP encoder, nothing else.
"""
