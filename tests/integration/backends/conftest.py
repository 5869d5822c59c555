"""What the tests of backends share: the demo and a run of hard values, recorded once."""

from dataclasses import dataclass
from typing import Any

import pytest

import itemtrace
from itemtrace.codec.spans import SpanRow
from itemtrace.testing.demo import run_demo
from itemtrace.testing.recorder import SpanRecorder
from itemtrace.testing.synthetic import RunWriter, rows_of


HARD: list[Any] = [
    "日本語 \u2028 😀 \x00\x01\x7f \ufeff",
    "a lone \ud83d surrogate",
    '{"looks": "like JSON"}',
    "it1;item;not a record",
    "x" * 100_000,
    {"$it": "$it", "": None, "b": [1, 1.0, -0.0, 2**70, True], "a": {}},
    "\\ud800 'quoted' \"twice\" `thrice` <b>&amp;</b> %s {x:String} \r\n\t",
]
"""Values that some backend is known to change or refuse."""


@dataclass(frozen=True)
class Recording:
    """What was exported and the ledger that it gives.

    Attributes:
        spans: The SDK's spans.
        rows: The same as rows.
        ledger: What the rows rebuild to; exact.
    """

    spans: tuple[Any, ...]
    rows: list[SpanRow]
    ledger: Any


@pytest.fixture
async def recorded_demo():
    """The demo, recorded: two traces, nested runs, a run that waits and is resumed."""
    with SpanRecorder() as recorder:
        itemtrace.install(tracer_provider=recorder.provider)
        try:
            await run_demo()
        finally:
            itemtrace.uninstall()
        recording = Recording(recorder.spans(), recorder.rows(), recorder.ledger())
    assert recording.ledger.exact
    return recording


@pytest.fixture
def hard_rows():
    """A sealed run with an item of each hard value."""
    run = RunWriter("00000000000000b1")
    run.add("begin", started=10**18, capture="full", agent="Desk", input="Hello")
    for value in HARD:
        run.add(
            "item",
            type="message_output_item",
            agent="Desk",
            raw={"type": "message", "role": "assistant", "value": value},
        )
    run.add("end", status="completed", items=[[1, len(HARD)]])
    run.seal()
    return rows_of(run.records)
