"""A run waits for a person and is resumed later, in another process, from its trace alone.

python examples/approvals.py
"""

import asyncio
import tempfile
from pathlib import Path

from agents import Agent, RunConfig, Runner, function_tool

import itemtrace
from itemtrace.ledger.convert.sdk import run_state
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider


@function_tool(needs_approval=True)
async def refund(order: str, amount: float) -> str:
    """Pays money back for an order."""
    return f"refunded {amount:.2f} for {order}"


agent = Agent(name="Cashier", model="cashier", tools=[refund])

ASKS = {"cashier": [[function_call("refund", "call_1", order="A-1042", amount=89.9)]]}
ANSWERS = {"cashier": [[message("The refund is on its way.")]]}


async def ask(store: Path) -> None:
    """Monday's process: the run stops, since a refund needs a person."""
    itemtrace.install(store=store)
    async with FakeProvider(ASKS) as fake:
        config = RunConfig(model_provider=fake.models())
        await Runner.run(agent, "Refund order A-1042.", run_config=config)
    itemtrace.uninstall()


async def decide(store: Path) -> None:
    """Tuesday's process: it knows the trace and the agents, nothing else."""
    waiting = next(run for run in itemtrace.load(store).runs if run.interruptions)
    for pending in waiting.interruptions:
        print(f"approve {pending.tool_name}({pending.arguments})? yes")

    state = await run_state(waiting, agent)
    for interruption in state.get_interruptions():
        state.approve(interruption)
    itemtrace.install(store=store)
    async with FakeProvider(ANSWERS) as fake:
        config = RunConfig(model_provider=fake.models())
        result = await Runner.run(agent, state, run_config=config)
    itemtrace.uninstall()
    print(result.final_output)

    ledger = itemtrace.load(store)
    print([(run.status, run.resumed) for run in ledger.runs])
    assert [run.status for run in ledger.runs] == ["interrupted", "completed"]
    assert ledger.runs[1].to_input_list() == result.to_input_list()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(ask(Path(folder) / "traces.db"))
        asyncio.run(decide(Path(folder) / "traces.db"))
