"""The comparison of a rebuilt run with the SDK's result: equal where it is, and only there."""

import dataclasses
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    MaxTurnsExceeded,
    Runner,
    function_tool,
    input_guardrail,
)
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


@asynccontextmanager
async def recording():
    """Records what runs inside."""
    with SpanRecorder() as recorded:
        itemtrace.install(tracer_provider=recorded.provider)
        try:
            yield recorded
        finally:
            itemtrace.uninstall()


async def record(*answers, **options) -> Any:
    """Runs an agent on answers and returns its ledger's run and how it ended."""
    async with recording() as recorded, FakeProvider({"a": list(answers)}) as fake:
        agent = Agent(name="A", model=fake.responses_model("a"), tools=[add])
        try:
            ended = await Runner.run(agent, "1 + 2?", **options)
        except (MaxTurnsExceeded, BadRequestError) as error:
            ended = error
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


@input_guardrail
async def polite(_context, _agent, _text):
    """Says what it found."""
    return GuardrailFunctionOutput({"polite": True}, tripwire_triggered=False)


@function_tool(needs_approval=True)
async def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


async def test_approvals_guardrails_and_null_status():
    """Pending approvals and guardrail results are compared; a null status is kept, not sent."""
    call = function_call("pay", "call_1", amount=5) | {"status": None}
    async with recording() as recorded, FakeProvider({"a": [[call]]}) as fake:
        agent = Agent(
            name="A",
            model=fake.responses_model("a"),
            tools=[pay],
            input_guardrails=[polite],
        )
        result = await Runner.run(agent, "Pay, please.")
    (run,) = recorded.ledger().runs
    assert [str(found) for found in truth.differences(run, result)] == []
    found = {each.name: each.expected for each in truth.compare(run, result)}
    assert '"output_info":{"polite":true}' in found["input_guardrail_results"]
    assert '"beside":{"tool_origin"' in found["interruptions"]
    assert '"status":null' in found["new_items[0]"]
    assert "status" not in found["to_input_list()"]


async def test_nested_run():
    """The result of an agent used as a tool is equal to the run under the call."""
    nested = []

    async def keep(result):
        nested.append(result)
        return str(result.final_output)

    script = {
        "outer": [[function_call("ask", "call_1", input="2?")], [message("two")]],
        "inner": [[message("two")]],
    }
    async with recording() as recorded, FakeProvider(script) as fake:
        inner = Agent(name="Inner", model=fake.responses_model("inner"))
        ask = inner.as_tool("ask", "Asks.", custom_output_extractor=keep)
        outer = Agent(name="Outer", model=fake.responses_model("outer"), tools=[ask])
        await Runner.run(outer, "2?")
    (run,) = recorded.ledger().runs
    # its usage object is the outer run's, which went on counting
    assert [each.name for each in truth.differences(run.runs[0], nested[0])] == [
        "usage"
    ]
    found = {each.name: each.expected for each in truth.compare(run.runs[0], nested[0])}
    assert found["agent_tool_invocation"] == '["ask","call_1","{\\"input\\":\\"2?\\"}"]'
