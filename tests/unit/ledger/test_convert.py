"""Conversions say what they leave out; SDK objects are equal to the originals."""

import json
from dataclasses import fields
from typing import Any

import pytest
from agents import (
    Agent,
    HandoffOutputItem,
    ItemHelpers,
    MessageOutputItem,
    ModelResponse,
    ReasoningItem,
    Runner,
    RunState,
    ToolApprovalItem,
    ToolCallItem,
    ToolCallOutputItem,
    ToolOutputImage,
    ToolOutputText,
    Usage,
    function_tool,
    handoff,
)  # fmt: skip
from agents.testing import ScriptedModel
from agents.tool import ToolOrigin, ToolOriginType
from openai._models import construct_type
from openai.types.responses import ResponseOutputItem
from openai.types.responses.response_usage import (
    InputTokensDetails,
    OutputTokensDetails,
)

from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG, Escaped
from itemtrace.errors import ConfigError, GapError
from itemtrace.ledger.convert import convert, formats, sdk
from itemtrace.rebuild import rebuild
from itemtrace.testing.synthetic import RunWriter, rows_of


CLERK = Agent(name="Clerk")
DESK = Agent(name="Desk", handoffs=[handoff(CLERK)])


def raw_model(**value) -> Any:
    """An output item as the client makes it."""
    return construct_type(value=value, type_=ResponseOutputItem)


def recorded(*bodies, **end):
    """A run with these item records, all of them in its result."""
    run = RunWriter("00000000000000a1")
    run.add("begin", started=1, agent="Desk", input="Hello")
    items = [run.add("item", **{"agent": "Desk", **body}) for body in bodies]
    run.add("end", **{"status": "completed", "items": items, **end})
    run.seal()
    return rebuild(rows_of(run.records)).runs[0]


def test_input_list_says_what_it_leaves_out(run):
    """Approvals, items outside the result and nested runs are named."""
    converted = convert(run, "input_list")
    assert converted.value == run.to_input_list()
    assert converted.left_out == (
        "item 14: a pending approval is no input",
        "run 00000000000000b2: a nested run has a list of its own",
    )


def test_input_list_of_a_damaged_run():
    """Lost items and those of a discarded response are told."""
    body = {"type": "message_output_item", "raw": {"type": "message"}}
    lost = recorded(body, body, items=[1, 9])
    assert convert(lost, "input_list").left_out == (
        "item 9: it is lost",
        "item 2: message is not among the result's items",
    )


def test_formats():
    """Formats are found by name; an unknown one is refused with the known ones."""
    assert "input_list" in formats()
    with pytest.raises(
        ConfigError, match=r"no conversion to 'vinyl'; expected one of .*input_list"
    ):
        convert(recorded(), "vinyl")


CALL = {
    "type": "function_call",
    "call_id": "c1",
    "name": "look",
    "arguments": "{}",
    "id": "fc",
    "status": "completed",
}
ANSWER = {
    "type": "message", "id": "m", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
}  # fmt: skip
THOUGHT = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
UNKNOWN = {"type": "hologram_call", "id": "h", "beam": {"colours": [1, None]}}
OUTPUT: Any = {"type": "function_call_output", "call_id": "c1", "output": "done"}
ORIGIN = ToolOrigin(ToolOriginType.FUNCTION)


def test_items_equal_the_originals():
    """Models of the `openai` package, mappings, origins, typed outputs and bound agents."""
    image = ToolOutputImage(image_url="data:x")
    originals = [
        ReasoningItem(DESK, raw_model(**THOUGHT)),
        ToolCallItem(DESK, raw_model(**CALL), description="Looks.", tool_origin=ORIGIN),
        ToolCallOutputItem(DESK, OUTPUT, "done"),
        ToolCallOutputItem(DESK, OUTPUT, ([image, ToolOutputText(text="t")], 1.5)),
        HandoffOutputItem(DESK, OUTPUT, source_agent=DESK, target_agent=CLERK),
        MessageOutputItem(CLERK, raw_model(**ANSWER)),
        MessageOutputItem(CLERK, raw_model(**UNKNOWN)),
        ToolCallItem(DESK, {"type": "web_search_call", "id": "w"}),
    ]
    output = canonical.encode(([image, ToolOutputText(text="t")], 1.5))
    run = recorded(
        {"type": "reasoning_item", "raw": THOUGHT},
        {
            "type": "tool_call_item",
            "raw": CALL,
            "extra": {"description": "Looks.", "tool_origin": ORIGIN},
        },
        {"type": "tool_call_output_item", "raw": OUTPUT},
        {
            "type": "tool_call_output_item",
            "raw": OUTPUT,
            "extra": {"output": Escaped(output)},
        },
        {
            "type": "handoff_output_item",
            "raw": OUTPUT,
            "extra": {"source_agent": "Desk", "target_agent": "Clerk"},
        },
        {"type": "message_output_item", "raw": ANSWER, "agent": "Clerk"},
        {
            "type": "message_output_item",
            "raw": UNKNOWN,
            "agent": "Clerk",
            "class": "ResponseOutputMessage",
        },
        {
            "type": "tool_call_item",
            "raw": {"type": "web_search_call", "id": "w"},
            "class": "dict",
        },
    )
    found = sdk.new_items(run, DESK)
    assert found == originals
    assert [type(item.raw_item) for item in found] == [
        type(item.raw_item) for item in originals
    ]
    assert [item.to_input_item() for item in found] == [
        item.to_input_item() for item in run.new_items
    ]
    assert ItemHelpers.text_message_outputs(found[5:6]) == "Hi"


def test_output_corrected_at_the_end():
    """A value that only the run's end had is used, models of others stay mappings."""
    run = recorded(
        {"type": "tool_call_output_item", "raw": OUTPUT},
        {"type": "tool_call_output_item", "raw": OUTPUT, "extra": {"title": "t"}},
        fix={
            "1": {
                "extra": {
                    "output": Escaped(
                        {TAG: "model", "type": "app.Thing", "v": {"a": 1}}
                    )
                }
            }
        },
    )
    assert [item.output for item in sdk.new_items(run, DESK)] == [{"a": 1}, "done"]


def test_approvals_are_items_too():
    """A pending approval is made again with its name and key."""
    run = recorded(
        {
            "type": "tool_approval_item",
            "raw": CALL,
            "extra": {"tool_lookup_key": ("bare", "look")},
        }
    )
    (found,) = sdk.new_items(run, [DESK])
    assert isinstance(found, ToolApprovalItem)
    assert (found.name, found.call_id, found.tool_lookup_key) == (
        "look",
        "c1",
        ("bare", "look"),
    )


@pytest.mark.parametrize(
    "given",
    [DESK, [DESK, CLERK], {"Desk": DESK, "Clerk": CLERK}, [DESK, Agent(name="Desk")]],
)
def test_agents_are_found(given):
    """A starting agent whose handoffs are followed, a list, a mapping."""
    assert sdk.agents_by_name(given) == {"Desk": DESK, "Clerk": CLERK}


def test_agents_in_a_circle():
    """Agents that hand off to each other, directly and by `handoff()`."""
    first, second = Agent(name="First"), Agent(name="Second")
    first.handoffs, second.handoffs = (
        [second, Agent(name="First")],
        [handoff(first), first, second],
    )
    assert sdk.agents_by_name(first) == {"First": first, "Second": second}


def test_missing_agents_are_named():
    """One error for all agents that were not given."""
    run = recorded({"type": "message_output_item", "raw": ANSWER, "agent": "Boss"})
    with pytest.raises(
        GapError, match="agents that were not given: Boss; given are Desk, Clerk"
    ):
        sdk.new_items(run, DESK)
    with pytest.raises(GapError, match="given are none"):
        sdk.new_items(run, [])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            {
                "type": "message_output_item",
                "raw": Escaped({TAG: "withheld", "n": 1, "d": "x"}),
            },
            "is not whole",
        ),
        ({"type": "hologram_item", "raw": {}}, "is a 'hologram_item'"),
    ],
)
def test_items_that_cannot_be_made(body, message):
    """Withheld content and types of a newer SDK are an error, never half an item."""
    with pytest.raises(GapError, match=message):
        sdk.new_items(recorded(body), DESK)


def test_responses_equal_the_originals():
    """Real responses with real usage."""
    run = RunWriter("00000000000000a1")
    run.add("begin", started=1)
    items = [
        run.add("item", type="tool_call_item", raw=CALL),
        run.add(
            "item",
            type="tool_call_item",
            raw={"type": "web_search_call"},
            **{"class": "dict"},
        ),
    ]
    usage = [
        1,
        2,
        3,
        5,
        {"cached_tokens": 1, "cache_write_tokens": 0},
        {"reasoning_tokens": 2},
    ]
    run.add(
        "call", n=0,
        response={
            "id": "r", "request_id": "q", "raw_usage": {"total": 5}, "usage": usage,
            "entries": [usage[1:]], "output": items,
        },
    )  # fmt: skip
    tokens = {
        "input_tokens": 2, "output_tokens": 3, "total_tokens": 5,
        "input_tokens_details": InputTokensDetails(cached_tokens=1, cache_write_tokens=0),
        "output_tokens_details": OutputTokensDetails(reasoning_tokens=2),
    }  # fmt: skip
    (found,) = sdk.raw_responses(rebuild(rows_of(run.records)).runs[0])
    assert found.usage.request_usage_entries[0].total_tokens == 5
    expected: Any = ModelResponse(
        output=[],
        usage=Usage(
            requests=1,
            request_usage_entries=found.usage.request_usage_entries,
            **tokens,
        ),
        response_id="r",
        request_id="q",
        raw_usage={"total": 5},
    )
    expected.output = [raw_model(**CALL), {"type": "web_search_call"}]
    assert found == expected
    assert [type(entry) for entry in found.output] == [type(raw_model(**CALL)), dict]


def test_responses_with_lost_items():
    """A response whose item is lost is an error that names it."""
    run = RunWriter("00000000000000a1")
    run.add("begin", started=1)
    run.add("call", n=0, response={"output": [5]})
    with pytest.raises(GapError, match="item 5 of run 00000000000000a1 is not whole"):
        sdk.raw_responses(rebuild(rows_of(run.records)).runs[0])


def test_handoffs_without_an_agent_are_passed_over():
    """A `Handoff` that keeps no agent cannot be followed."""
    kept = handoff(CLERK)
    values = {
        field.name: getattr(kept, field.name) for field in fields(kept) if field.init
    }
    agent = Agent(name="Desk", handoffs=[type(kept)(**values)])
    assert sdk.agents_by_name(agent) == {"Desk": agent}


@function_tool(needs_approval=True)
def pay() -> str:
    """Pays."""
    return "paid"


async def test_state_of_an_interrupted_run():
    """The recorded state is the SDK's own again, with the pending approval in it."""
    agent = Agent(
        name="Desk",
        tools=[pay],
        model=ScriptedModel([[raw_model(**{**CALL, "name": "pay"})]]),
    )
    result = await Runner.run(agent, "Hello")
    state = result.to_state().to_json()
    for value in (state, json.dumps(state)):
        found = await sdk.run_state(recorded(status="interrupted", state=value), agent)
        assert isinstance(found, RunState)
        assert [item.call_id for item in found.get_interruptions()] == ["c1"]


async def test_state_that_refers_to_items():
    """References in a state, however deep, are the items again."""
    agent = Agent(
        name="Desk",
        tools=[pay],
        model=ScriptedModel([[raw_model(**{**CALL, "name": "pay"})]]),
    )
    state = (await Runner.run(agent, "Hello")).to_state().to_json()
    state["original_input"] = [Escaped({TAG: "ref", "s": 1})]
    message = {"role": "user", "content": "Hello"}
    run = recorded(
        {"type": "message_output_item", "raw": message},
        status="interrupted",
        state=state,
    )
    found = await sdk.run_state(run, agent)
    assert found.to_json()["original_input"] == [message]


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ({}, "is completed and holds no state"),
        (
            {"state": {"$schemaVersion": "99.0"}},
            r"refuses the state of run .* \(schema 99.0\)",
        ),
        ({"state": {}}, r"\(schema unknown\)"),
    ],
)
async def test_states_that_cannot_be_used(end, message):
    """No state, or one of another SDK: the error says what to do."""
    with pytest.raises(GapError, match=message) as caught:
        await sdk.run_state(recorded(**end), DESK)
    assert "replay" in str(caught.value)
