"""What the tests of backends share: the demo and a run of hard values, recorded once."""

import secrets
from dataclasses import dataclass
from typing import Any

import pytest
from opentelemetry.sdk.trace.id_generator import IdGenerator

import itemtrace
from itemtrace.codec.spans import SpanRow
from itemtrace.testing import pypi_servers
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


class UniqueIds(IdGenerator):
    """Ids that no test repeats: servers keep what earlier tests sent."""

    def generate_trace_id(self):
        """Returns a trace id."""
        return secrets.randbits(127) + 1

    def generate_span_id(self):
        """Returns a span id."""
        return secrets.randbits(63) + 1


@pytest.fixture
async def recorded_demo():
    """The demo, recorded: two traces, nested runs, a run that waits and is resumed."""
    with SpanRecorder(ids=UniqueIds()) as recorder:
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
    return rows_of(run.records, trace_id=f"{secrets.randbits(127) + 1:032x}")


@pytest.fixture(scope="session")
def phoenix_server():
    """Runs Phoenix once for all tests, or skips them."""
    with pypi_servers.phoenix(pypi_servers.require_environment("phoenix")) as server:
        yield server


@pytest.fixture(scope="session")
def mlflow_server():
    """Runs MLflow once for all tests, or skips them."""
    with pypi_servers.mlflow(pypi_servers.require_environment("mlflow")) as server:
        yield server
