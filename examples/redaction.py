"""What may leave the process: functions that redact items, and runs without any content.

python examples/redaction.py
"""

import asyncio
import re
import tempfile
from pathlib import Path
from typing import Any

from agents import Agent, RunConfig, Runner

import itemtrace
from itemtrace.testing.items import message
from itemtrace.testing.provider import FakeProvider


CARD = re.compile(r"\b(?:\d[ -]?){15,16}\b")


def hide_cards(value: Any) -> Any:
    """Replaces card numbers in every text of an item."""
    if isinstance(value, str):
        return CARD.sub("[card]", value)
    if isinstance(value, dict):
        return {key: hide_cards(child) for key, child in value.items()}
    if isinstance(value, list):
        return [hide_cards(child) for child in value]
    return value


agent = Agent(name="Cashier", model="cashier")
NUMBER = "4929 1234 5678 9012"
ANSWERS = {
    "cashier": [[message(f"Charged {NUMBER}.")], [message(f"Charged {NUMBER}.")]]
}


async def main(store: Path) -> None:
    itemtrace.install(store=store, redact=[hide_cards])
    async with FakeProvider(ANSWERS) as fake:
        for sensitive in (True, False):
            config = RunConfig(
                model_provider=fake.models(), trace_include_sensitive_data=sensitive
            )
            result = await Runner.run(agent, f"Charge {NUMBER}.", run_config=config)
            assert NUMBER in result.final_output  # the run itself is as it was
    itemtrace.uninstall()


def show(store: Path) -> None:
    for ledger in itemtrace.iter_ledgers(store):
        run = ledger.runs[0]
        print(
            run.input, run.to_input_list(), *(gap.cause for gap in run.gaps), sep="\n  "
        )
    assert NUMBER.encode() not in store.read_bytes()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "traces.db"))
        show(Path(folder) / "traces.db")
