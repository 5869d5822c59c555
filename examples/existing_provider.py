"""An application that has a tracer provider already: itemtrace uses it and adds no other.

Give `install` the provider, or make it the global one: then plain `install()` finds it. The spans
go where the application's own go, and here to a local store as well.

    python examples/existing_provider.py
"""

import asyncio
import tempfile
from pathlib import Path

from agents import Agent, RunConfig, Runner
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import itemtrace
from itemtrace.testing.items import message
from itemtrace.testing.provider import FakeProvider


agent = Agent(name="Greeter", model="greeter")
ANSWERS = {"greeter": [[message("Grüß Gott!")]]}


async def main(store: Path) -> None:
    exporter = InMemorySpanExporter()  # stands for the application's own
    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    itemtrace.install(tracer_provider=provider, store=store)  # a local copy as well
    async with FakeProvider(ANSWERS) as fake:
        config = RunConfig(model_provider=fake.models())
        await Runner.run(agent, "Hello!", run_config=config)
    itemtrace.uninstall()

    ours = {span.name for span in exporter.get_finished_spans()}
    print(sorted(ours))
    assert "invoke_agent Greeter" in ours
    assert itemtrace.load(store).exact
    provider.shutdown()  # the application's provider stays the application's


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "traces.db"))
