"""SDK items and usage as the bodies of records."""

from types import SimpleNamespace

import pytest
from agents import Agent, Usage, handoff
from agents.items import MessageOutputItem, ToolApprovalItem, ToolCallOutputItem
from agents.usage import RequestUsage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseFunctionWebSearch,
    ResponseOutputMessage,
)
from openai.types.responses.response_usage import (
    InputTokensDetails,
    OutputTokensDetails,
)

from itemtrace.capture import items


CALL = ResponseFunctionToolCall(
    type="function_call", call_id="c", name="f", arguments="{}"
)
MESSAGE = ResponseOutputMessage(
    id="m", type="message", role="assistant", status="completed", content=[]
)


def test_dump_leaves_unset_fields_out():
    """As the SDK dumps what it sends; mappings and foreign objects stay themselves."""
    assert items.dump(CALL) == {
        "type": "function_call",
        "call_id": "c",
        "name": "f",
        "arguments": "{}",
    }
    raw = {"type": "x"}
    assert items.dump(raw) is raw
    assert items.dump(3) == 3


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (CALL, None),
        (MESSAGE, None),
        ({"type": "function_call_output"}, None),
        ({"type": "hologram"}, None),
        ({"type": "message"}, "dict"),
        (SimpleNamespace(type="message"), "SimpleNamespace"),
        (SimpleNamespace(type="tool_search_output"), "SimpleNamespace"),
        (SimpleNamespace(), "SimpleNamespace"),
    ],
)
def test_class_is_told_where_it_is_unusual(raw, name):
    """A reader expects the class of the `openai` package, and mappings for outputs."""
    assert items.class_name(raw) == name


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (CALL, "tool_call_item"),
        ({"type": "function_call", "name": "transfer_to_b"}, "handoff_call_item"),
        (MESSAGE, "message_output_item"),
        (ResponseOutputMessage.model_construct(type="hologram"), "message_output_item"),
        (
            ResponseFunctionWebSearch.model_construct(type="web_search_call"),
            "tool_call_item",
        ),
        ({"type": "reasoning"}, "reasoning_item"),
        ({}, "tool_call_item"),
    ],
)
def test_usual_type(raw, kind):
    """The SDK's choice for plain items."""
    assert items.usual_type(raw, frozenset({"transfer_to_b"})) == kind


def test_handoff_names():
    """Of agents and of handoffs with a name of their own."""
    b = Agent(name="B b")
    agent = Agent(name="A", handoffs=[b, handoff(b, tool_name_override="go")])
    assert items.handoff_names(agent) == {"transfer_to_b_b", "go"}
    assert items.handoff_names(object()) == frozenset()


def test_extra_has_what_is_set():
    """Names that the raw item has are not repeated."""
    agent = Agent(name="A")
    assert items.extras_of(MessageOutputItem(agent=agent, raw_item=MESSAGE)) == {}
    assert items.extras_of(
        ToolApprovalItem(agent=agent, raw_item=CALL, tool_name="f")
    ) == {"tool_lookup_key": ("bare", "f")}
    assert (
        items.extras_of(ToolApprovalItem(agent=agent, raw_item=CALL, tool_name="g"))[
            "tool_name"
        ]
        == "g"
    )


def test_an_output_is_kept_only_where_it_differs():
    """A text that the raw item has is enough."""
    raw = {"type": "function_call_output", "output": "text"}
    assert not items.differs("text", raw)
    assert items.differs("other", raw)
    assert items.differs(3, raw)
    assert (
        items.extras_of(
            ToolCallOutputItem(agent=Agent(name="A"), raw_item=raw, output=3)
        )
        == {}
    )


def test_usage():
    """Counts and details, and each request's where the SDK keeps them."""
    details = (
        InputTokensDetails(cached_tokens=1, cache_write_tokens=0),
        OutputTokensDetails(reasoning_tokens=2),
    )
    entry = RequestUsage(5, 6, 11, *details)
    whole = Usage(1, 5, details[0], 6, details[1], 11, [entry])
    counts = [
        5,
        6,
        11,
        {"cached_tokens": 1, "cache_write_tokens": 0},
        {"reasoning_tokens": 2},
    ]
    assert items.usage(whole) == [1, *counts]
    assert items.entries(whole) == [counts]
    assert items.usage(None) is None
    assert items.entries(None) == []
    bare = SimpleNamespace(
        input_tokens=1,
        output_tokens=2,
        total_tokens=3,
        input_tokens_details=None,
        output_tokens_details={"a": 1},
    )
    assert items.usage(bare) == [None, 1, 2, 3, None, {"a": 1}]
