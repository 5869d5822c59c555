"""A step, as the Responses API says it."""

import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from itemtrace.testing import items, wire
from itemtrace.testing.wire import Step


ITEMS = [
    items.message("Hallo"),
    items.refusal("No."),
    items.function_call("find_order", "call_1", order="A-1042"),
    items.custom_tool_call("shout", "call_1", "ahoy"),
    items.reasoning("rs_1", "gAAAA", "first", "second"),
    items.web_search_call("ws_1", "tides"),
    items.file_search_call("fs_1", "tides"),
    items.code_interpreter_call("ci_1", "1 + 1", "2"),
    items.image_generation_call("ig_1", "aGVsbG8="),
    items.mcp_list_tools("mcpl_1", "harbour", "tide"),
    items.mcp_call("mcp_1", "harbour", "tide", "high"),
    items.mcp_approval_request("mcpr_1", "harbour", "open_lock"),
    items.shell_call("call_1", "ls"),
    items.apply_patch_call("call_1", "a.txt", "+b"),
    items.compaction("cmp_1", "gAAAA"),
]
BODY = {"model": "desk", "input": "Hello", "instructions": "Be brief."}


@pytest.mark.parametrize("ends", ["completed", "incomplete", "failed", "cut"])
def test_body_is_a_response(ends):
    """Whatever way a response ends, its body validates as the API's `Response`."""
    answer = wire.response(Step([items.message("Hi")], ends=ends), BODY, "resp_1")
    status = Response.model_validate(answer, strict=True).status
    assert status == ("completed" if ends == "cut" else ends)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["type"])
def test_events_are_valid(item):
    """Every event of every item type validates as one of the API's stream events."""
    adapter = TypeAdapter(ResponseStreamEvent)
    answer = wire.response(Step([item]), BODY, "resp_1")
    events = list(wire.events(answer))
    assert [adapter.validate_python(event).type for event in events] == [
        event["type"] for event in events
    ]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


def test_message_streams_in_parts():
    """A message is opened empty, filled by deltas and closed whole."""
    text = "thirty characters, two deltas!"
    answer = wire.response(Step([items.message(text)]), BODY, "resp_1")
    events = list(wire.events(answer))
    assert [event["type"] for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert events[2]["item"]["content"] == []
    assert "".join(event.get("delta", "") for event in events) == text
    assert events[8]["item"] == items.message(text)
    assert events[9]["response"] == answer


def test_call_streams_its_arguments():
    """The deltas of a function call join to its arguments."""
    call = items.function_call("find", "call_1", text="a" * 60)
    events = list(wire.events(wire.response(Step([call]), BODY, "resp_1")))
    deltas = [e["delta"] for e in events if e["type"].endswith("arguments.delta")]
    assert ("".join(deltas), len(deltas)) == (call["arguments"], 3)


def test_unknown_type_is_sent_whole():
    """An item of a type without events of its own is added and done."""
    item = {"type": "hologram_call", "id": "holo_1", "beam": [1, None]}
    events = list(wire.events(wire.response(Step([item]), BODY, "resp_1")))
    assert [event.get("item") for event in events] == [None, None, item, item, None]


def test_cut_stream_has_no_end():
    """A cut stream lacks nothing but the last event."""
    answer = wire.response(Step([items.message("Hi")]), BODY, "resp_1")
    assert list(wire.events(answer, cut=True)) == list(wire.events(answer))[:-1]


def test_usage_follows_the_text():
    """Made-up usage depends on what was sent and answered alone, and adds up."""
    step = Step([items.reasoning("rs_1", "g" * 400), items.message("Hi")])
    first, second = (wire.usage(step, "a" * 400) for _ in range(2))
    assert first == second
    assert first["input_tokens"] == 100
    assert first["output_tokens_details"]["reasoning_tokens"] > 100
    assert first["total_tokens"] == first["input_tokens"] + first["output_tokens"]


def test_usage_can_be_scripted():
    """A step that names its usage is taken at its word."""
    assert wire.usage(Step(usage=(10, 4, 5, 2)), "anything") == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 15,
    }


def test_endings_say_why():
    """An incomplete response has a reason, a failed one an error."""
    incomplete = wire.response(Step(ends="incomplete"), BODY, "resp_1")
    failed = wire.response(Step(ends="failed", error="overload"), BODY, "resp_2")
    assert incomplete["incomplete_details"] == {"reason": "max_output_tokens"}
    assert failed["error"] == {"code": "server_error", "message": "overload"}
