"""Raw items as they are sent back to a model: the SDK's rule, held against the SDK."""

import pytest
from agents import Agent
from agents.items import ToolCallOutputItem

from itemtrace.codec.items import as_input_item


def test_most_items_stay_the_same_object():
    """Where nothing changes nothing is copied."""
    raw = {"type": "message", "id": "m", "content": []}
    assert as_input_item(raw) is raw


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        (
            {"type": "message", "created_by": "u", "id": "m"},
            {"type": "message", "id": "m"},
        ),
        ({"type": "reasoning", "status": None}, {"type": "reasoning"}),
        (
            {"type": "reasoning", "status": "completed"},
            {"type": "reasoning", "status": "completed"},
        ),
        (
            {
                "type": "shell_call_output",
                "status": "x",
                "output": [{"stdout": "", "created_by": "u"}, "odd"],
            },
            {
                "type": "shell_call_output",
                "status": "x",
                "output": [{"stdout": ""}, "odd"],
            },
        ),
        (
            {"type": "shell_call_output", "output": "text"},
            {"type": "shell_call_output", "output": "text"},
        ),
    ],
)
def test_what_is_left_out(raw, sent):
    """Server-only keys and null states are not sent."""
    assert as_input_item(raw) == sent


def test_a_local_shell_output_is_sent_as_the_sdk_sends_it():
    """The SDK's own bookkeeping on shell outputs stays here."""
    raw = {
        "type": "shell_call_output",
        "call_id": "c",
        "output": [
            {"stdout": "hi", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
        ],
        "status": "completed",
        "shell_output": [],
        "provider_data": {"x": 1},
    }
    item = ToolCallOutputItem(agent=Agent(name="A"), raw_item=dict(raw), output="hi")
    assert as_input_item(raw, local_output=True) == item.to_input_item()
