"""The other views of a trace: spans as a tree, what a model saw, items as lines, JSON."""

import pytest
from tests.unit.cli.conftest import (
    START,
    Story,
    answer,
    call,
    found_of,
    message,
    render,
)

from itemtrace.cli.views import item_list, model_view, shown, tree
from itemtrace.cli.views.pretty import FOLDED
from itemtrace.cli.views.scene import Wanted
from itemtrace.codec.spans import SpanRow
from itemtrace.errors import ConfigError
from itemtrace.ledger.items import lost
from itemtrace.testing.synthetic import TRACE_ID, ref


def span(span_id, parent_id="", name="s", start=0, end=0, **more):
    """A span of the trace; times in milliseconds after its start."""
    times = {"start_ns": START + start * 10**6, "end_ns": START + end * 10**6}
    return SpanRow(TRACE_ID, span_id, parent_id, name, scope="itemtrace", **times, **more)  # fmt: skip


class TestTree:
    """Spans as a tree."""

    def drawn(self, *rows, width=70):
        """The tree as text."""
        return render(tree.parts(rows), width).split("\n")

    def test_nesting_times_and_bars(self):
        """Children stand under their parent by start, with their time and a bar."""
        rows = [
            span("c", "a", "later", 50, 100, status="ERROR", status_message="bad\x1b"),
            span("a", "", "root", 0, 100),
            span("b", "a", "first", 0, 50),
            span("d", "b", "inner", 10, 10),
        ]
        assert self.drawn(*rows) == [
            "root                                  100 ms ━━━━━━━━━━━━━━━━━━━━━━━━",
            "├─ first                               50 ms ━━━━━━━━━━━━",
            "│  └─ inner                           0.0 ms   ╸",
            "└─ later  ✗ bad\\x1b                    50 ms             ━━━━━━━━━━━━",
            "4 spans, 100 ms",
        ]

    def test_foreign_spans_say_whose_they_are(self):
        """Spans of other services carry the service's name."""
        row = SpanRow(TRACE_ID, "a", name="GET", scope="http", resource={"service.name": "shop"})  # fmt: skip
        assert self.drawn(row, SpanRow(TRACE_ID, "b", name=""))[:2] == [
            "GET  shop",
            "(no name)",
        ]

    def test_circles_and_doubles(self):
        """Each span is there once, whatever its parents say."""
        rows = [span("a", "b"), span("b", "a"), span("c", "c"), span("a", "b")]
        found = [node.row.span_id for node in tree.nodes(rows)]
        assert sorted(found) == ["a", "b", "c"]

    def test_deep_trees(self):
        """A chain of thousands is not indented away."""
        rows = [span(f"{n}", f"{n - 1}" if n else "") for n in range(3_000)]
        drawn = self.drawn(*rows, width=120)
        assert (len(drawn), max(map(len, drawn)) <= 120) == (3_001, True)

    def test_nothing(self):
        """No spans are no tree."""
        assert self.drawn() == ["0 spans,"]

    def test_json(self):
        """For machines each span is an object with its depth."""
        (_, child) = tree.lines([span("a"), span("b", "a", end=500)])
        assert child == {
            "span_id": "b", "parent_id": "a", "depth": 1, "name": "s", "kind": "INTERNAL",
            "scope": "itemtrace", "start": "2025-11-30T10:53:20.000+00:00", "seconds": 0.5,
            "status": "UNSET", "status_message": "",
        }  # fmt: skip


def trimmed():
    """A run whose second call saw less than the history, and something added."""
    story = Story(given="Hello")
    first = story.item("message_output_item", message("One"), call=0)
    hello = {"content": "Hello", "role": "user"}
    story.add("call", n=0, agent="Desk", model="m-1", input={"new": [hello], "list": [[0, 1]], "origin": [["input", 1]]}, response={"output": [first]})  # fmt: skip
    extra = {"role": "system", "content": "Summary"}
    story.add("call", n=1, agent="Desk", system="Be brief.", settings='{"temperature": 0}', tools='[{"name": "look"}, {"type": "web_search"}]', input={"new": [extra, ref(first)], "list": [[1, 2]]}, response={"output": [], "previous": "resp_0"})  # fmt: skip
    return story.close()


class TestModelView:
    """What a model saw."""

    def test_what_changed(self):
        """Kept, left out and added items are told apart, in order."""
        (run,) = found_of(trimmed()).runs
        found = model_view.seen(run, run.model_calls[1])
        assert [(e.change, e.item.get("role"), e.origin) for e in found.entries] == [
            ("left out", "user", ""),
            ("added", "system", ""),
            ("kept", "assistant", ""),
        ]

    def test_for_people(self):
        """A list like a diff, under what else the model was given."""
        view = shown.call_view(found_of(trimmed(), Story("00000000000000b1").close()), 1)  # fmt: skip
        assert render(view.parts()).split("\n") == [
            "Model call 1  0 → 0 tokens  of Desk, run 00000000000000a1",
            "it saw 2 items; beside the ledger's history: 1 kept, 1 left out, 1 added",
            "the rest was sent by reference: previous_response_id resp_0",
            "tools   look, web_search",
            'settings {"temperature": 0}',
            "instructions",
            "  Be brief.",
            "",
            "- user  left out",
            "    Hello",
            "+ system  added",
            "    Summary",
            "  assistant",
            "    One",
            "",
            "other runs of this trace: 00000000000000b1; name one as TRACE",
        ]

    def test_origin(self):
        """Where a session was used, each item says where it came from."""
        (run,) = found_of(trimmed()).runs
        found = model_view.seen(run, run.model_calls[0])
        assert [(e.change, e.origin) for e in found.entries] == [("kept", "input")]
        assert "  user  input" in render(model_view.parts(found, [], FOLDED)).split("\n")  # fmt: skip

    def test_server_side_conversation(self):
        """Items that stand at the provider are said to be there."""
        story = Story(given=[{"role": "user", "content": "x"}], options={"conversation_id": "conv_1"})  # fmt: skip
        story.responds(message("a"), types=["message_output_item"])
        view = shown.call_view(found_of(story.close()), 0)
        assert "sent by reference: conversation conv_1" in render(view.parts())

    @pytest.mark.parametrize(
        ("item", "says"),
        [
            ({"type": "reasoning", "encrypted_content": "x"}, "(encrypted)"),
            ({"type": "new", "x": 1}, '{"type": "new", "x": 1}'),
            (7, "7"),
        ],
    )
    def test_what_an_item_says(self, item, says):
        """Items without words say what they are."""
        assert model_view.says(item) == says

    def test_json(self):
        """For machines the entries are whole."""
        (found,) = shown.call_view(found_of(trimmed()), 1).json()
        assert (found["model_call"], found["instructions"]) == (1, "Be brief.")
        assert found["entries"][0] == {
            "change": "left out",
            "origin": None,
            "item": {"content": "Hello", "role": "user"},
        }

    def test_no_such_call(self):
        """A number without a call is refused with those that there are."""
        with pytest.raises(ConfigError, match="no model call 7; it has 0, 1"):
            shown.call_view(found_of(trimmed()), 7)
        with pytest.raises(ConfigError, match="the trace has no model call 0; it has none"):  # fmt: skip
            shown.call_view(shown.Found(found_of(trimmed()).ledger, (), "s", "t"), 0)

    def test_recalled_call(self):
        """A call of the part before a resume is to be looked for there."""
        story = Story(resumed={"run": "00000000000000f1"})
        story.responds(message("a"), types=["message_output_item"], recalled=True)
        with pytest.raises(ConfigError, match="see run 00000000000000f1"):
            shown.call_view(found_of(story.close()), 0)


class TestItems:
    """A line for each item."""

    def test_lines(self):
        """Run, number, time, agent, type, size and content."""
        story = Story()
        story.responds(message("Hi\x1b"), call("t", "c", '{"a": 1}'), types=["message_output_item", "tool_call_item"])  # fmt: skip
        story.item("tool_call_output_item", answer("c", "out"))
        story.item("", {"type": "odd"})
        view = shown.item_view(found_of(story.close()), Wanted())
        assert render(view.parts()).split("\n") == [
            "run       seq       at  agent  type               size  content",
            "00000000    1  +0.0 ms  Desk   message_output    125 B  Hi\\x1b",
            '00000000    2  +0.0 ms  Desk   tool_call          81 B  t {"a": 1}',
            "00000000    4  +0.0 ms  Desk   tool_call_output   65 B  c out",
            '00000000    5  +0.0 ms  Desk   odd                15 B  {"type": "odd"}',
        ]

    def test_json(self):
        """For machines each item is an object with its raw form."""
        story = Story()
        story.responds(call("t", "c"), types=["tool_call_item"])
        (found,) = shown.item_view(found_of(story.close()), Wanted(tool="t")).json()
        assert found == {
            "run_id": "00000000000000a1", "seq": 1, "type": "tool_call_item", "agent": "Desk",
            "model_call": 0, "at": "2025-11-30T10:53:20.000+00:00", "call_id": "c", "tool": "t",
            "raw": call("t", "c"),
        }  # fmt: skip


def test_trace_json():
    """A trace as JSON has everything that the transcript shows, nested runs inside."""
    story = Story()
    story.responds(call("ask", "c"), types=["tool_call_item"])
    story.item("tool_call_output_item", answer("c", "x"))
    story.responds(call("transfer_to_b", "h"), types=["handoff_call_item"])
    child = Story("00000000000000b1", parent={"run": story.run_id, "call": "c", "n": 0})
    guardrails = {"input": [{"name": "g", "tripwire": True}]}
    story.close("failed", error={"type": "E", "message": "m"}, children=[child.run_id], guardrails=guardrails)  # fmt: skip
    view = shown.transcript_view(found_of(story, child.close()), Wanted())
    (found,) = view.json()
    (run,) = found["runs"]
    assert (found["exact"], found["gaps"]) == (True, [])
    assert [item["type"] for item in run["items"]] == [
        "tool_call_item",
        "tool_call_output_item",
        "handoff_call_item",
    ]
    assert run["error"] == {"type": "E", "message": "m"}
    assert run["tool_calls"][0]["runs"] == ["00000000000000b1"]
    assert run["handoffs"][0]["tool"] == "transfer_to_b"
    assert run["guardrails"]["input"][0]["tripwire"] is True
    assert run["usage"]["input_tokens"] == 20
    assert [inner["run_id"] for inner in run["runs"]] == ["00000000000000b1"]


def test_lost_items_have_a_line():
    """An item whose content is lost is in the list."""
    assert item_list.preview(lost(3, "00000000000000a1")) == "missing"


def test_a_span_with_two_parents():
    """A span that was reached already is not drawn again."""
    rows = [span("a", "c"), span("b", "a"), span("c", "b"), span("d", "a")]
    assert len(list(tree.nodes(rows))) == 4
