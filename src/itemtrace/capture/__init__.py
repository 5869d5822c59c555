"""SDK objects into spans: the writing side.

`processor` receives the SDK's tracing callbacks, `runner` wraps the agent runner, `hooks` see
model and tool calls; `tree` keeps the OpenTelemetry spans, `frame` records one run, `writer` puts
records on spans. Nothing here may raise into a run: `guard` is the one place that sees to it.
"""
