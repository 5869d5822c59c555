"""The comparison of a rebuilt run with the SDK's result: equal where it is, and only there."""

import dataclasses
from typing import Any

import pytest
from agents import Agent, MaxTurnsExceeded, Runner, function_tool
from openai import BadRequestError

import itemtrace
from itemtrace.errors import GapError
from itemtrace.testing import truth
from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.provider import FakeProvider, Step
from itemtrace.testing.recorder import SpanRecorder


@function_tool
async def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


ADDING = [
    [reasoning("rs_1", "gAAAA"), function_call("add", "call_1", a=1, b=2)],
    [message("3")],
]


async def record(*answers, **options) -> Any:
    """Runs an agent on answers and returns its ledger's run and how it ended."""
    with SpanRecorder() as recorded:
        itemtrace.install(tracer_provider=recorded.provider)
        try:
            async with FakeProvider({"a": list(answers)}) as fake:
                agent = Agent(name="A", model=fake.responses_model("a"), tools=[add])
                try:
                    ended = await Runner.run(agent, "1 + 2?", **options)
                except (MaxTurnsExceeded, BadRequestError) as error:
                    ended = error
        finally:
            itemtrace.uninstall()
        (run,) = recorded.ledger().runs
    return run, ended


async def test_equal():
    """A run that was recorded whole is equal in every fact, item and response."""
    run, result = await record(*ADDING)
    found = truth.compare(run, result)
    assert [each for each in found if not each.equal] == []
    names = {each.name for each in found}
    assert {fact.name for fact in truth.FACTS} < names
    assert {"len(new_items)", "new_items[3]", "raw_responses[1]"} < names
    assert truth.differences(run, result) == []


async def test_changed_item_is_named():
    """A raw item that differs is found in the item and in the lists it is part of."""
    run, result = await record(*ADDING)
    result.new_items[1].raw_item.arguments = '{"a":1,"b":3}'
    names = [each.name for each in truth.differences(run, result)]
    assert names == [
        "to_input_list()",
        "to_input_list(mode='normalized')",
        "new_items[1]",
        "raw_responses[0]",
    ]


async def test_missing_item_is_named():
    """A list that is shorter than the SDK's is unequal in its length."""
    run, result = await record(*ADDING)
    result.new_items.append(result.new_items[-1])
    found = truth.differences(run, result)
    assert str(found[-1]) == "len(new_items): expected 5, got 4"


@pytest.mark.parametrize("field", ["input_tokens", "requests"])
async def test_usage_is_compared(field):
    """A token more is a difference, and nothing else is."""
    run, result = await record(*ADDING)
    usage = result.context_wrapper.usage
    setattr(usage, field, getattr(usage, field) + 1)
    assert [each.name for each in truth.differences(run, result)] == ["usage"]


async def test_failed_run():
    """Of a failed run the error and what its exception kept are compared."""
    run, error = await record(ADDING[0], max_turns=1)
    assert isinstance(error, MaxTurnsExceeded)
    found = truth.compare(run, error)
    assert truth.differences(run, error) == []
    assert found[0].expected == '["MaxTurnsExceeded","Max turns (1) exceeded"]'
    assert "new_items[2]" in {each.name for each in found}


async def test_failure_without_run_data():
    """An exception that kept nothing of the run is compared itself."""
    run, error = await record(Step(status=400, error="no"))
    assert [each.name for each in truth.compare(run, error)] == ["error"]
    assert truth.differences(run, error) == []


async def test_gap_stands_for_what_is_lost():
    """What a ledger cannot give is no answer, but the gap that says why."""

    def lost():
        msg = "record 4 is missing"
        raise GapError(msg)

    found = truth.compared("input", "Hello", lost)
    assert found == truth.Comparison(
        "input", False, '"Hello"', "gap: record 4 is missing"
    )
    assert str(dataclasses.replace(found, equal=True)) == "input: equal"
