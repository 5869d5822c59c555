"""A streamed run is recorded like any other; nothing has to be consumed in a special way.

python examples/streaming.py
"""

import asyncio
import tempfile
from pathlib import Path

from agents import Agent, RunConfig, Runner
from openai.types.responses import ResponseTextDeltaEvent

import itemtrace
from itemtrace.testing.items import message
from itemtrace.testing.provider import FakeProvider


agent = Agent(name="Poet", model="poet")
ANSWERS = {
    "poet": [[message("Über allen Gipfeln ist Ruh, in allen Wipfeln spürest du ...")]]
}


async def main(store: Path) -> None:
    itemtrace.install(store=store)
    async with FakeProvider(ANSWERS) as fake:
        config = RunConfig(model_provider=fake.models())
        result = Runner.run_streamed(agent, "A poem, please.", run_config=config)
        async for event in result.stream_events():
            if event.type != "raw_response_event":
                continue
            if isinstance(event.data, ResponseTextDeltaEvent):
                print(event.data.delta, end="", flush=True)
    itemtrace.uninstall()

    run = itemtrace.load(store).runs[0]
    print(f"\n{run.status}, streamed: {run.streamed}")
    assert run.to_input_list() == result.to_input_list()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "traces.db"))
