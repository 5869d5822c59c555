"""Install itemtrace, run an agent, and get the whole run back from its trace.

python examples/quickstart.py
"""

import asyncio
import tempfile
from pathlib import Path

from agents import Agent, RunConfig, Runner, function_tool

import itemtrace
from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.provider import FakeProvider


@function_tool
async def stock_level(article: str) -> int:
    """Returns how many of an article are left."""
    return {"lamp": 7}.get(article, 0)


agent = Agent(
    name="Clerk", instructions="Answer briefly.", model="clerk", tools=[stock_level]
)

ANSWERS = {  # instead of OpenAI: what the model named `clerk` says, in order
    "clerk": [
        [
            reasoning("rs_1", "gAAAA"),
            function_call("stock_level", "call_1", article="lamp"),
        ],
        [message("Seven lamps are left.")],
    ]
}


async def main(store: Path) -> None:
    itemtrace.install(store=store)
    async with FakeProvider(ANSWERS) as fake:
        config = RunConfig(model_provider=fake.models())
        result = await Runner.run(agent, "How many lamps are left?", run_config=config)
    itemtrace.uninstall()  # a program that ends does this by itself

    run = itemtrace.load(store).runs[0]
    for item in run.items:
        print(f"{item.agent:>6}  {item.type:<22} {item.text or item.arguments or ''}")
    print(f"{run.usage.total_tokens} tokens; exact: {run.exact}")

    assert run.final_output == result.final_output
    assert run.to_input_list() == result.to_input_list()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "traces.db"))
