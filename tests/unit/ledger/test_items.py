"""Items are plain views; usage adds up; helpers answer questions about both."""

import pytest

from itemtrace.codec.canonical import Placeholder
from itemtrace.errors import GapError
from itemtrace.ledger import Gap, GapCause, Item, RequestUsage, Usage, helpers
from itemtrace.ledger.calls import ModelCall, error_of, parsed
from itemtrace.ledger.entries import MOST_ENTRIES, origins, pairs, seqs
from itemtrace.ledger.items import lost
from itemtrace.ledger.usage import from_body, total


def item(kind="tool_call_item", raw=None, **more):
    """An item of no run."""
    return Item(kind, raw if raw is not None else {}, "Desk", 1, "r", **more)


@pytest.mark.parametrize(
    ("given", "call_id"),
    [
        (item(raw={"call_id": "c", "id": "i"}), "c"),
        (item(raw={"id": "i"}), "i"),
        (item("message_output_item", {"id": "i"}), None),
        (item("mcp_approval_response_item", {"approval_request_id": "a"}), "a"),
        (item(raw={"call_id": 7}), None),
        (item(raw="text"), None),
    ],
)
def test_call_ids(given, call_id):
    """The call's id, or the item's own where a tool has no other."""
    assert given.call_id == call_id


def test_tool_names():
    """The SDK's resolved name first, then the raw item's, the execution's, the hosted tool's own."""
    named = [
        item(raw={"name": "a"}, extra={"_resolved_tool_name": "b"}),
        item(raw={"name": "a"}),
        item(execution={"name": "c"}),
        item(raw={"type": "web_search_call"}),
        item(raw={"type": "message"}),
    ]
    assert [given.tool_name for given in named] == ["b", "a", "c", "web_search", None]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ({"content": "hello"}, "hello"),
        (
            {
                "content": [
                    {"text": "a"},
                    {"refusal": "b"},
                    "x",
                    {"text": 1},
                    {"text": "c"},
                ]
            },
            "ac",
        ),
        ({"output": [{"type": "input_text", "text": "t"}]}, "t"),
        ({"summary": [{"text": "s"}]}, "s"),
        ({"content": Placeholder({"$it": "withheld"})}, ""),
    ],
)
def test_text(raw, text):
    """What a person would read; nothing is invented for what is withheld."""
    assert item(raw=raw).text == text


def test_arguments_and_outputs():
    """Whatever the family calls them."""
    given = [
        item(raw={"arguments": "{}"}),
        item(raw={"input": "x"}),
        item(raw={"action": {"type": "click"}}),
        item(),
        item(raw={"output": "o"}),
    ]
    assert [i.arguments for i in given[:4]] == ["{}", "x", {"type": "click"}, None]
    assert (
        given[4].output,
        item(raw={"output": "o"}, extra={"output": None}).output,
    ) == ("o", None)


def test_input_items():
    """Server-set keys are left out as the SDK does; approvals are no input; the lost stays lost."""
    shell = {
        "type": "shell_call_output",
        "status": "done",
        "output": [{"created_by": "x"}],
        "created_by": "y",
    }
    assert item("tool_call_output_item", shell).to_input_item() == {
        "type": "shell_call_output",
        "output": [{}],
    }
    assert item("tool_call_output_item", shell, class_name="Shell").to_input_item() == {
        "type": "shell_call_output", "status": "done", "output": [{}],
    }  # fmt: skip
    with pytest.raises(GapError, match="item 1 is a pending approval"):
        item("tool_approval_item").to_input_item()
    assert lost(3, "r").to_input_item() == {"$it": "missing", "s": 3}
    assert item(raw="text").to_input_item() == "text"


def test_raw_types():
    """The raw type; a role alone makes a message."""
    kinds = [
        {"type": "x"},
        {"role": "user"},
        Placeholder({"$it": "withheld", "role": 1}),
        7,
    ]
    assert [item(raw=raw).raw_type for raw in kinds] == ["x", "message", "", ""]


def test_usage_adds_up():
    """Numbers, details and requests are summed; what is no number counts as 0."""
    one = from_body(
        [1, 2, 3, 5, {"cached_tokens": 1, "x": "odd"}, {"reasoning_tokens": 2}],
        [[2, 3]],
    )
    assert one == Usage(
        1,
        2,
        3,
        5,
        {"cached_tokens": 1, "x": "odd"},
        {"reasoning_tokens": 2},
        (RequestUsage(2, 3),),
    )
    assert total([one, one, Usage()]) == Usage(
        2, 4, 6, 10, {"cached_tokens": 2, "x": 0}, {"reasoning_tokens": 4},
        (RequestUsage(2, 3), RequestUsage(2, 3)),
    )  # fmt: skip
    assert (one.cached_tokens, one.reasoning_tokens) == (1, 2)
    assert from_body(None) == from_body([None]) == Usage()


def test_gaps_are_readable_and_come_back():
    """A gap tells its run, cause and loss; JSON keeps all of it."""
    gap = Gap(GapCause.CUT, "record 1 has 2 of 3 chunks", "r", 1)
    assert str(gap) == "run r: cut: record 1 has 2 of 3 chunks"
    assert str(Gap(GapCause.MISSING, "run x is missing")) == "missing: run x is missing"
    assert Gap.from_json(gap.to_json()) == gap


def test_ranges_are_bounded():
    """A forged range does not fill memory, and what is no range is left out."""
    assert list(pairs([[0, 2], [1], "x", [-1, 2], [0, MOST_ENTRIES + 1], [3, 0]])) == [
        (0, 2)
    ]
    assert seqs([5, [1, 1_000_000], 7], 4) == [5, 1, 2, 3]
    assert seqs([[1, 2], "x", 9], 9) == [1, 2, 9]
    assert origins({"origin": [["history", 2], ["input"], 7]}) == [("history", 2)]


def test_settings_are_json_text_or_objects():
    """Old and new writers; text that is no JSON gives the default."""
    assert [parsed(value, {}) for value in ('{"a":1}', {"a": 1}, "{", "[1]", None)] == [
        {"a": 1}, {"a": 1}, {}, {}, {},
    ]  # fmt: skip
    assert error_of("text") is None
    assert (ModelCall(0).input, ModelCall(0).duration) == ([], 0.0)


def test_selecting(run):
    """By type, agent and tool; an output counts for the tool of its call."""
    found = helpers.select(run.items, tool="look")
    assert [i.raw_type for i in found] == ["function_call", "function_call_output"]
    assert [
        i.seq
        for i in helpers.select(run.items, type="function_call_output", agent="Desk")
    ] == [4, 5, 10, 11]
    assert [
        len(kind(run.items))
        for kind in (helpers.messages, helpers.tool_calls, helpers.tool_outputs)
    ] == [1, 3, 3]
    assert helpers.text(run.items) == "Wait."


def test_structure(run):
    """Tool usage, the shape of turns and the places of handoffs."""
    assert helpers.tool_usage(run) == {"look": 2, "ask": 1, "pay": 1}
    assert [
        (s.index, s.tools, s.handoff, s.message) for s in helpers.turn_structure(run)
    ] == [
        (1, ("look", "ask"), None, False),
        (2, ("pay",), "Clerk", False),
        (3, (), None, True),
    ]
    assert helpers.handoff_points(run) == [(4, "Desk", "Clerk")]
