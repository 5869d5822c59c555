"""The door without the runner seam: what tracing callbacks can know, and what they can't."""

import pytest
from agents import Agent, RunConfig, Runner, add_trace_processor, function_tool

import itemtrace
from itemtrace.capture.guard import HEALTH
from itemtrace.ledger import GapCause
from itemtrace.testing import truth
from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.recorder import SpanRecorder


@pytest.fixture
def alone(sdk_processors):
    """The processor as a user adds it, without `install`."""
    HEALTH.reset()
    with SpanRecorder() as recorder:
        processor = itemtrace.ItemTraceProcessor(tracer_provider=recorder.provider)
        add_trace_processor(processor)
        yield recorder
        processor.shutdown()
        assert processor.tree.open_count() == 0
    assert itemtrace.health() == {}


@function_tool
async def weigh(item: str) -> int:
    """Weighs."""
    return len(item)


async def plain(agent, given, **more):
    """`Runner.run`."""
    return await Runner.run(agent, given, **more)


async def streamed(agent, given, **more):
    """`Runner.run_streamed`, to its end."""
    result = Runner.run_streamed(agent, given, **more)
    async for _ in result.stream_events():
        pass
    return result


WAYS = pytest.mark.parametrize("way", [plain, streamed])
SCRIPT = {
    "m": [
        [
            reasoning("rs_1", "gAAAA-weigh"),
            function_call("weigh", "call_1", item="rope"),
            function_call("weigh", "call_2", item="anchor"),
        ],
        [message("Ten.")],
    ]
}


def named_gap(ledger):
    """The one thing that is said to be missing."""
    causes = {gap.cause for gap in ledger.gaps}
    assert causes == {GapCause.NOT_CAPTURED}
    assert not ledger.exact
    return [gap.message for gap in ledger.gaps]


@WAYS
async def test_what_it_knows(way, provide, alone):
    """Responses, model inputs, items and usage equal the SDK's; the gap is named."""
    fake = provide(SCRIPT)
    agent = Agent(
        name="Scales",
        instructions="Weigh.",
        model=fake.responses_model("m"),
        tools=[weigh],
    )
    result = await way(agent, "How heavy?", run_config=RunConfig(group_id="g"))
    ledger = alone.ledger()
    assert "itemtrace.install() captures the whole run" in named_gap(ledger)[0]
    (run,) = ledger.runs
    assert (run.capture, run.agent, run.status) == ("spans", "Scales", "completed")
    assert run.group == "g"
    assert [call.input for call in run.model_calls] == [
        request["input"] for request in fake.requests
    ]
    assert [call.system for call in run.model_calls] == ["Weigh."] * 2
    for got, expected in zip(run.raw_responses, result.raw_responses, strict=True):
        assert got.output == truth.response_of_sdk(expected)["output"]
        assert got.response_id == expected.response_id
        assert got.usage.total_tokens == expected.usage.total_tokens
    expected_items = [truth.dumped(item.raw_item) for item in result.new_items]
    got_items = [item.raw for item in run.items]
    assert [item for item in expected_items if item in got_items] == expected_items
    assert {call.call_id: call.status for call in run.tool_calls} == {
        "call_1": "completed",
        "call_2": "completed",
    }
    assert ledger.self_check() == []


@WAYS
async def test_nested_and_handoff(way, provide, alone):
    """Agents as tools are nested runs; a handoff stays in its run."""
    fake = provide(
        {
            "desk": [
                [function_call("ask", "call_1", input="?")],
                [function_call("transfer_to_till", "call_2")],
            ],
            "inner": [[message("maybe")]],
            "till": [[message("Pay.")]],
        }
    )
    inner = Agent(name="Inner", model=fake.responses_model("inner"))
    till = Agent(name="Till", model=fake.responses_model("till"))
    desk = Agent(
        name="Desk",
        model=fake.responses_model("desk"),
        tools=[inner.as_tool("ask", "Asks.")],
        handoffs=[till],
    )
    await way(desk, "Go.")
    ledger = alone.ledger()
    named_gap(ledger)
    (run,) = ledger.runs
    assert [call.agent for call in run.model_calls] == ["Desk", "Desk", "Till"]
    assert run.last_agent == "Till"
    (nested,) = run.runs
    assert nested.agent == "Inner"
    assert [call.agent for call in nested.model_calls] == ["Inner"]


async def test_two_runs(provide, alone):
    """Two runs are two runs, each with its own calls."""
    fake = provide({"m": [[message("one", "msg_1")], [message("two", "msg_2")]]})
    agent = Agent(name="Scales", model=fake.responses_model("m"))
    for words in ("first", "second"):
        await Runner.run(agent, words)
    ledger = alone.ledger()
    named_gap(ledger)
    assert [len(run.model_calls) for run in ledger.runs] == [1, 1]
    assert [run.raw_responses[0].items[0].text for run in ledger.runs] == ["one", "two"]


async def test_failed_run(provide, alone):
    """A run that fails says so."""
    fake = provide({"m": [[function_call("nowhere", "call_1")]]})
    agent = Agent(name="Scales", model=fake.responses_model("m"))
    with pytest.raises(Exception, match="nowhere"):
        await Runner.run(agent, "Go.")
    (run,) = alone.ledger().runs
    assert run.status == "failed"
    assert run.model_calls[0].response.output[0]["name"] == "nowhere"


async def test_content_off(provide, alone):
    """Without sensitive data spans hold none, and neither does the ledger."""
    fake = provide(SCRIPT)
    agent = Agent(name="Scales", model=fake.responses_model("m"), tools=[weigh])
    config = RunConfig(trace_include_sensitive_data=False)
    await Runner.run(agent, "How heavy?", run_config=config)
    ledger = alone.ledger()
    assert not ledger.exact
    text = str([dict(span.attributes) for span in alone.spans()])
    assert "anchor" not in text
    assert "How heavy" not in text
