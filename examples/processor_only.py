"""A trace processor and nothing else: no patching, and a ledger that says what it lacks.

The SDK's tracing callbacks give responses, arguments and results, but not what only the runner
knows: approvals, guardrail details, the caller's own input. `install()` records those too.

    python examples/processor_only.py
"""

import asyncio
import tempfile
from pathlib import Path

from agents import Agent, RunConfig, Runner, add_trace_processor, function_tool

import itemtrace
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider


@function_tool
async def next_train(to: str) -> str:
    """Finds the next train."""
    return f"09:00 {to}"


agent = Agent(name="Guide", model="guide", tools=[next_train])
ANSWERS = {
    "guide": [[function_call("next_train", "call_1", to="Ulm")], [message("At nine.")]]
}


async def main(store: Path) -> None:
    processor = itemtrace.ItemTraceProcessor(store=store)
    add_trace_processor(processor)
    async with FakeProvider(ANSWERS) as fake:
        config = RunConfig(model_provider=fake.models())
        await Runner.run(agent, "When to Ulm?", run_config=config)
    processor.shutdown()

    run = itemtrace.load(store).runs[0]
    for item in run.items:
        print(f"{item.type:<22} {item.text or item.arguments or ''}")
    print(f"captured from {run.capture}; exact: {run.exact}")
    for gap in run.gaps:
        print(f"  {gap}")
    assert not run.exact


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "traces.db"))
