"""The demo, recorded and rebuilt: equal to what the SDK returned, fact by fact."""

from typing import Any

import pytest

import itemtrace
from itemtrace.codec import canonical
from itemtrace.testing import truth
from itemtrace.testing.demo import run_demo
from itemtrace.testing.demo_script import script
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder


class Recorded:
    """One recorded demo: the SDK's results, the requests that were sent, the spans."""

    def __init__(self, results, requests, rows, ledger):
        self.results = results
        self.requests = requests
        self.rows = rows
        self.ledger = ledger


async def record(*, streamed):
    """Runs the demo under itemtrace."""
    with SpanRecorder() as recorded:
        itemtrace.install(tracer_provider=recorded.provider)
        try:
            async with FakeProvider(script()) as fake:
                results = await run_demo(streamed=streamed, fake=fake)
        finally:
            itemtrace.uninstall()
        return Recorded(results, fake.requests, recorded.rows(), recorded.ledger())


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
async def demo(request):
    """The demo, plain and streamed."""
    return await record(streamed=request.param)


async def test_nothing_is_lost(demo):
    """No run, nested ones included, has a gap."""
    assert demo.ledger.gaps == ()
    assert demo.ledger.exact


async def test_equal_to_the_sdk(demo):
    """Each of the three runs is equal to its result in everything that is compared."""
    assert len(demo.ledger.runs) == len(demo.results) == 3
    for run, result in zip(demo.ledger.runs, demo.results, strict=True):
        assert [str(found) for found in truth.differences(run, result)] == []


async def test_resumed_run_is_linked(demo):
    """The resumed run knows the one that waited, and what was decided."""
    paused, resumed, follow_up = demo.ledger.runs
    assert [run.status for run in demo.ledger.runs] == [
        "interrupted",
        "completed",
        "completed",
    ]
    assert resumed.resumed == paused
    assert follow_up.resumed is None
    assert [(each.call_id, each.decision) for each in resumed.approvals] == [
        ("call_refund_one", "approved"),
        ("call_refund_all", "rejected"),
    ]


async def test_nested_run(demo):
    """The translator's run hangs under the call that started it."""
    paused = demo.ledger.runs[0]
    (translate,) = (call for call in paused.tool_calls if call.name == "translate")
    (nested,) = translate.runs
    assert nested.agent == "Translator"
    assert nested.agent_tool_invocation.tool_call_id == "call_translate"
    assert nested.final_output == translate.output.output
    assert [call.name for call in nested.tool_calls] == ["glossary"]


async def test_tool_calls(demo):
    """Every call has its own output and its own end; equal calls are not mixed up."""
    calls = {
        call.call_id: call for run in demo.ledger.runs[:1] for call in run.tool_calls
    }
    assert {call_id: call.status for call_id, call in calls.items()} == {
        "call_order": "completed",
        "call_stock_1": "completed",
        "call_stock_2": "completed",
        "call_parcel": "failed",
        "call_photo": "completed",
        "call_translate": "completed",
        "call_refund_one": "pending",
        "call_refund_all": "pending",
    }
    assert calls["call_parcel"].error.message.startswith("Error running tool")


async def test_model_saw_what_was_sent(demo):
    """The input of every model call is, item by item, what arrived at the provider."""
    runs = demo.ledger.all_runs()
    calls = [call for run in runs for call in run.model_calls if not call.recalled]
    recorded = sorted(canonical.dumps(as_sent(call.input)) for call in calls)
    arrived = sorted(canonical.dumps(request["input"]) for request in demo.requests)
    assert recorded == arrived


def as_sent(items):
    """Input items as the Responses model writes them: a text alone is a user's message."""
    return [{key: item[key] for key in item} for item in items]


async def test_streamed_equals_whole():
    """The streamed demo has the same ledger as the plain one, ids and times left aside."""
    plain, streamed = await record(streamed=False), await record(streamed=True)
    for one, other in zip(plain.ledger.runs, streamed.ledger.runs, strict=True):
        assert one.to_input_list() == other.to_input_list()
        assert [item.type for item in one.items] == [item.type for item in other.items]
        assert one.usage == other.usage


async def test_spans_fit(demo):
    """No span has more attributes than OpenTelemetry keeps, no value more than a backend takes."""
    assert max(len(row.attributes) for row in demo.rows) < 128
    assert sum(row.dropped_attributes for row in demo.rows) == 0
    values = (value for row in demo.rows for value in row.attributes.values())
    records = [value for value in values if str(value).startswith("it1;")]
    assert max(len(value.encode()) for value in records) <= 2_000


NAMES = ("Jürgen", "A-1042", "89.9")


def without_names(value: Any) -> Any:
    """A redactor that takes a customer's name, order and amount out of every text."""
    if isinstance(value, str):
        for name in NAMES:
            value = value.replace(name, "[x]")
    if isinstance(value, dict):
        return {key: without_names(child) for key, child in value.items()}
    if isinstance(value, list):
        return [without_names(child) for child in value]
    return value


async def test_redaction_reaches_everything():
    """What a redactor takes out of items is nowhere in the spans: copies, values, state, output."""
    with SpanRecorder() as recorded:
        itemtrace.install(tracer_provider=recorded.provider, redact=[without_names])
        try:
            await run_demo()
        finally:
            itemtrace.uninstall()
    leaks = {
        (row.name, key)
        for row in recorded.rows()
        for key, value in row.attributes.items()
        if any(name in str(value) for name in NAMES)
    }
    assert leaks == set()
