"""A run inside a web request, and a database query inside a tool: one tree of spans.

Any OpenTelemetry span that is current when a run starts is the run's parent, whether a web
framework's instrumentation made it or, as here, the program itself.

    python examples/parent_span.py
"""

import asyncio

from agents import Agent, RunConfig, Runner, function_tool
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

import itemtrace
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider


exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = provider.get_tracer("shop")


@function_tool
async def find_order(order: str) -> str:
    """Finds an order."""
    with tracer.start_as_current_span("SELECT orders", kind=SpanKind.CLIENT):
        return f"{order}: two lamps"


agent = Agent(name="Desk", model="desk", tools=[find_order])

ANSWERS = {
    "desk": [
        [function_call("find_order", "call_1", order="A-1042")],
        [message("Two lamps.")],
    ]
}


async def ask(question: str, config: RunConfig) -> str:
    """The handler of `POST /ask`."""
    with tracer.start_as_current_span("POST /ask", kind=SpanKind.SERVER):
        result = await Runner.run(agent, question, run_config=config)
        return str(result.final_output)


def show_tree() -> dict[str, str]:
    """Prints the spans as a tree and returns each name's parent."""
    spans = sorted(exporter.get_finished_spans(), key=lambda span: span.start_time or 0)
    by_id = {span.get_span_context().span_id: span for span in spans}
    parents = {}
    for span in spans:
        above, depth = span.parent, 0
        if above is not None:
            parents[span.name] = by_id[above.span_id].name
        while above is not None:
            above, depth = by_id[above.span_id].parent, depth + 1
        print("  " * depth + span.name)
    return parents


async def main() -> None:
    itemtrace.install(tracer_provider=provider)
    async with FakeProvider(ANSWERS) as fake:
        config = RunConfig(model_provider=fake.models())
        print(await ask("What is in order A-1042?", config))
    itemtrace.uninstall()

    parents = show_tree()
    assert parents["SELECT orders"] == "execute_tool find_order"
    assert (
        len(
            {span.get_span_context().trace_id for span in exporter.get_finished_spans()}
        )
        == 1
    )
    assert trace.get_current_span() is trace.INVALID_SPAN


if __name__ == "__main__":
    asyncio.run(main())
    provider.shutdown()
