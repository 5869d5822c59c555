"""What the fake provider refuses."""

import pytest

from itemtrace.testing import items, rules


CALL = items.function_call("find", "call_1")
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "7"}
USER = {"role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([USER, CALL, OUTPUT], []),
        ([CALL], ["function_call call_1 has no output"]),
        ([OUTPUT], ["function_call_output call_1 has no call"]),
        ([CALL, CALL, OUTPUT], ["function_call call_1 is there twice"]),
        ([items.reasoning("rs_1", "gAAAA"), items.message("Hi")], []),
        (
            [items.reasoning("rs_1", "gAAAA"), USER],
            ["reasoning rs_1 lacks its following item"],
        ),
        (
            [items.reasoning("rs_1"), items.message("Hi")],
            ["reasoning rs_1 was not stored and has no encrypted content"],
        ),
        (
            [items.message("Hi", rules.PLACEHOLDER_ID)],
            ["message has the placeholder id __fake_id__"],
        ),
    ],
)
def test_inputs(given, expected):
    """An input list is refused for the reason that the real API gives."""
    assert rules.refusals({"input": given}) == expected


def test_text_is_fine():
    """An input that is a string has nothing to pair."""
    assert rules.refusals({"input": "Hello"}) == []


def test_server_knows_the_other_half():
    """With a conversation on the server an output may come alone."""
    body = {"input": [OUTPUT], "previous_response_id": "resp_1"}
    assert rules.refusals(body) == []


def test_stored_reasoning_is_found():
    """A reasoning item that the server kept needs no content."""
    body = {"input": [items.reasoning("rs_1"), items.message("Hi")]}
    assert rules.refusals(body, {"rs_1"}) == []


def assistant(*call_ids):
    """An assistant message with tool calls."""
    return {"role": "assistant", "tool_calls": [{"id": each} for each in call_ids]}


def tool(call_id):
    """A tool message."""
    return {"role": "tool", "tool_call_id": call_id, "content": "7"}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, assistant("a", "b"), tool("b"), tool("a"), USER], []),
        ([assistant("a"), USER], ["tool call a has no tool message"]),
        ([assistant("a")], ["tool call a has no tool message"]),
        ([tool("a")], ["tool message a follows no such call"]),
    ],
)
def test_chat_messages(messages, expected):
    """Tool messages follow their calls, one for each."""
    assert rules.chat_refusals({"messages": messages}) == expected
