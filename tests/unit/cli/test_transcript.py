"""Transcripts: everything a run held, in order, and nothing a terminal would obey."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.cli.conftest import Story, answer, call, found_of, message, render

from itemtrace.cli.safe import UNSAFE
from itemtrace.cli.views import shown
from itemtrace.cli.views.frame import Gutter, Plain
from itemtrace.cli.views.markdown import SafeMarkdown
from itemtrace.cli.views.scene import Wanted
from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG, Escaped


EVERYTHING = Wanted()
EVIL = "\x1b[31m[bold]x[/bold]\x1b]8;;http://e.example\x07 \u202e"


def text(*stories, wanted=EVERYTHING, without=(), width=100, **options):
    """The transcript of runs as plain text."""
    options = {"markdown": False, **options}
    view = shown.transcript_view(found_of(*stories, without=without), wanted, **options)
    return render(view.parts(), width)


def lines(*stories, **options):
    """The lines below the head."""
    return text(*stories, **options).split("\n\n", 1)[1].split("\n")


def test_a_whole_run():
    """Messages, reasoning, a tool with its result, a handoff, tokens: as one reads them."""
    story = Story()
    story.responds(
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Think."}], "encrypted_content": "x" * 300},
        call("look", "c1", '{"a": 1}'),
        types=["reasoning_item", "tool_call_item"],
    )  # fmt: skip
    story.item("tool_call_output_item", answer("c1", "found"), tool={"name": "look", "start": 0, "end": 20_000})  # fmt: skip
    story.responds(
        call("transfer_to_b", "c2", '{"why": "x"}'), types=["handoff_call_item"]
    )
    story.item("handoff_output_item", answer("c2", "ok"), extra={"source_agent": "Desk", "target_agent": "B"})  # fmt: skip
    story.responds(message("Done."), types=["message_output_item"], agent="B")
    story.close(final={"text": story.items[-1]})
    assert text(story).split("\n")[:5] == [
        "Shop  exact: nothing is missing",
        "source    a store",
        "trace     0af7651916cd43dd8448eb211c80319c",
        "group     g-1",
        'metadata  {"k": "v"}',
    ]
    assert lines(story) == [
        "━━ Desk  00000000000000a1  completed · 250 ms · 6 items · 30 → 15 tokens",
        "input",
        "│ Hello",
        "",
        "Desk  m-1 · call 0 · 0.5 ms · 10 → 5 tokens",
        "│ thought · 300 B encrypted",
        "│ Think.",
        '│ ✓ look {"a": 1}  20 ms',
        "│   found",
        "",
        "Desk  m-1 · call 1 · 0.5 ms · 10 → 5 tokens",
        "│ → hands over to B",
        '│   {"why": "x"}',
        "",
        "B  m-1 · call 2 · 0.5 ms · 10 → 5 tokens",
        "│ Done.",
        "",
        "agent  model  calls  input  cached  output  reasoning  total",
        "Desk   m-1        2     20       4      10          2     30",
        "B      m-1        1     10       2       5          1     15",
        "total             3     30       6      15          3     45",
    ]


def test_nothing_is_interpreted():
    """Escape sequences and markup of a trace are shown, wherever they come from."""
    story = Story(agent=EVIL, given=EVIL, trace={"id": EVIL, "name": EVIL, "group": EVIL, "metadata": {EVIL: EVIL}})  # fmt: skip
    story.responds(
        message(EVIL), call(EVIL, EVIL, EVIL), {"type": EVIL, EVIL: EVIL},
        types=["message_output_item", "tool_call_item", EVIL],
        model=EVIL,
    )  # fmt: skip
    story.item("tool_call_output_item", answer(EVIL, EVIL))
    guardrails = {"input": [{"name": EVIL, "output_info": EVIL, "tripwire": True}]}
    story.close("failed", error={"type": EVIL, "message": EVIL}, guardrails=guardrails)
    for markdown in (True, False):
        found = text(story, markdown=markdown, full=True)
        assert UNSAFE.search(found.replace("\n", "")) is None
        assert "\\x1b[31m[bold]x[/bold]" in found


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=20) | st.sampled_from(["function_call", "message", EVIL]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["type", "text", "content", "summary", "output", "call_id", "arguments", "name", "tools", "image_url", "annotations", "encrypted_content", "role", "results"]) | st.text(max_size=4), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip
TYPES = [
    "message_output_item", "reasoning_item", "tool_call_item", "tool_call_output_item", "handoff_call_item",
    "handoff_output_item", "tool_approval_item", "mcp_list_tools_item", "compaction_item", "a_new_item", "",
]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(TYPES), odd), max_size=5), odd, st.booleans())
def test_any_shape_is_shown(items, given, full):
    """However odd the items of a trace are, every view shows them, safely."""
    story = Story(given=given)
    for kind, raw in items:
        story.item(kind, raw)
    story.responds(*(raw for _, raw in items), types=[kind for kind, _ in items])
    found = found_of(story.close(final={"value": given, "type": "x.Y"}))
    views = (
        shown.transcript_view(found, EVERYTHING, full=full, markdown=not full),
        shown.item_view(found, EVERYTHING),
        shown.call_view(found, 0) if found.runs[0].model_calls else None,
    )
    for view in filter(None, views):
        assert UNSAFE.search(render(view.parts()).replace("\n", "")) is None
        assert all(canonical.dumps(value) for value in view.json())


def test_long_content_is_folded():
    """Long results are cut with what is left out counted; --full has all of it."""
    story = Story()
    story.responds(call("t", "c"), types=["tool_call_item"])
    story.item("tool_call_output_item", answer("c", "word " * 5_000))
    story.close()
    short, full = text(story), text(story, full=True)
    assert "… 24 kB more (--full shows all)" in short
    assert (len(short) < 3_000, full.count("word")) == (True, 5_000)


def test_gaps_stand_where_they_are():
    """A lost record is told in its place, and the head counts the gaps."""
    story = Story()
    story.responds(message("One"), types=["message_output_item"])
    story.responds(message("Two"), types=["message_output_item"])
    story.close()
    records = story.records
    lost = next(r.seq for r in records if '"Two"' in r.body)
    story.records = [record for record in records if record.seq != lost]
    found = text(story)
    assert "1 gap" in found.split("\n")[0]
    body = found.split("\n")
    gap = f"✗ missing: {found_of(story).ledger.gaps[0].message}"
    assert body.index("│ One") < body.index(gap)


def test_unsealed_run():
    """A run without an end is shown as far as it got, and said to have none."""
    story = Story()
    story.responds(message("Half"), types=["message_output_item"])
    found = text(story)
    assert ("│ Half" in found, "no end was recorded" in found, "✗ unsealed" in found) == (True, True, True)  # fmt: skip


def test_failed_calls_and_runs():
    """Errors of attempts, of a call without items, of a tool and of the run are there."""
    story = Story()
    story.responds(call("t", "c"), types=["tool_call_item"], attempts=[{"type": "RateLimit", "message": "slow"}])  # fmt: skip
    story.add("tool", call="c", name="t", status="failed", error={"type": "ValueError", "message": "bad"})  # fmt: skip
    story.add("tool", call="other", name="u", status="cancelled", arguments="{}")
    story.add("call", n=1, agent="Desk", error={"type": "Timeout", "message": "30 s"})
    story.close("failed", error={"type": "Boom", "message": "it broke"})
    found = lines(story)
    for line in (
        "│ tried again after RateLimit: slow",
        "│ ✗ t  failed",
        "│   ValueError: bad",
        "│ ✗ Timeout: 30 s",
        "u: cancelled  {}",
        "✗ Boom: it broke",
    ):
        assert line in found


def test_call_that_did_not_end():
    """A model call without an answer and without an error says so."""
    story = Story()
    story.add("call", n=0, agent="Desk", model="m-1")
    assert "│ ✗ the call did not end" in lines(story.close("cancelled"))


def test_approvals():
    """What waits, and what was decided, stands with the call."""
    story = Story()
    story.responds(call("pay", "c"), types=["tool_call_item"])
    story.item("tool_approval_item", call("pay", "c"))
    story.item("tool_approval_item", call("lone", "d", '{"x": 1}'))
    waiting = story.items[-2:]
    story.close("interrupted", interruptions=waiting)
    found = lines(story)
    assert "│ ◌ pay  pending" in found
    assert found.count("│   waits for approval") == 2
    assert '│ ◌ lone {"x": 1}' in found
    assert "waits for a decision on pay (c), lone (d)" in found


def resumed(decisions, outputs, *, earlier=True) -> tuple[Story, ...]:
    """A run that waited, and the one that goes on with it."""
    first = Story()
    first.responds(message("Before"), call("pay", "c"), call("burn", "d"), types=["message_output_item", "tool_call_item", "tool_call_item"])  # fmt: skip
    first.close("interrupted")
    then = Story("00000000000000a2", given=None, resumed={"run": first.run_id, "decisions": decisions})  # fmt: skip
    then.responds(message("Before"), call("pay", "c"), call("burn", "d"), types=["message_output_item", "tool_call_item", "tool_call_item"], recalled=True)  # fmt: skip
    for call_id, output in outputs:
        then.item("tool_call_output_item", answer(call_id, output))
    then.responds(message("After"), types=["message_output_item"])
    then.close()
    return (first, then) if earlier else (then,)


DECISIONS = [
    {"call": "c", "tool": "pay", "decision": "approved", "principal": "Ann"},
    {"call": "d", "tool": "burn", "decision": "rejected", "message": "No fire"},
]


def test_a_resumed_run_does_not_repeat_itself():
    """Only what is new is shown: the decisions, their results, and what came then."""
    found = lines(*resumed(DECISIONS, [("c", "paid"), ("d", "No fire")]))
    place = found.index("goes on with run 00000000000000a1")
    assert found[place + 1 : place + 14] == [
        "… 1 item of the part before, run 00000000000000a1",
        "",
        "Desk",
        "│ ✓ pay",
        "│   approved by Ann",
        "│   paid",
        "│ ⊘ burn  rejected",
        "│   rejected",
        "│   No fire",
        "",
        "Desk  m-1 · call 1 · 0.5 ms · 10 → 5 tokens",
        "│ After",
        "",
    ]


def test_a_rejection_that_told_something_else():
    """The message of a rejection is shown where the output does not have it."""
    found = lines(*resumed(DECISIONS, [("d", "changed")]))
    assert "│   rejected: No fire" in found


def test_a_resumed_run_alone():
    """Without the earlier part, what is known of it from the state is shown."""
    found = lines(*resumed(DECISIONS, [], earlier=False))
    assert ("│ Before" in found, "│ After" in found) == (True, True)


def test_only_earlier_items():
    """A resumed run in which nothing new happened says what it leaves out."""
    first, then = resumed([], [])
    then.records = [r for r in then.records if "After" not in r.body]
    assert "… 3 items of the part before, run 00000000000000a1" in lines(first, then)


def nested_in(parent, call_id, run_id, **more):
    """A run that a tool of another one started."""
    child = Story(run_id, agent="Helper", given="sub", parent={"run": parent, "call": call_id, "n": 0}, **more)  # fmt: skip
    child.responds(message("inner"), types=["message_output_item"])
    return child


def test_nested_runs():
    """A nested run stands under the call that started it, a step to the right."""
    story = Story()
    story.responds(call("ask", "c"), types=["tool_call_item"])
    story.item("tool_call_output_item", answer("c", "outer"))
    child = nested_in(story.run_id, "c", "00000000000000b1").close()
    found = lines(story.close(children=[child.run_id]), child)
    start = found.index("│ ✓ ask")
    assert found[start : start + 8] == [
        "│ ✓ ask",
        "│   ↳ Helper  00000000000000b1  completed · 250 ms · 1 item · 10 → 5 tokens",
        "│   input",
        "│   │ sub",
        "│",
        "│   Helper  m-1 · call 0 · 0.5 ms · 10 → 5 tokens",
        "│   │ inner",
        "│   outer",
    ]


def test_runs_that_no_tool_started():
    """A run inside a guardrail is told at the end of the run it belongs to."""
    story = Story().close()
    child = Story("00000000000000b1", parent={"run": story.run_id, "span": "guardrail"}).close()  # fmt: skip
    found = lines(story, child)
    assert "started in a guardrail:" in found


def test_hundreds_of_nested_runs():
    """Nesting has no end in a forged trace; the width does not run out."""
    stories = [Story()]
    for number in range(300):
        stories.append(nested_in(stories[-1].run_id, f"c{number}", f"{number + 2:016x}"))  # fmt: skip
    found = text(*stories, width=80)
    assert found.count("│ inner") == 300


def test_guardrails_and_typed_output():
    """Guardrails say what they found; typed output is shown once."""
    story = Story()
    story.responds(message('{"total": 1}'), types=["message_output_item"])
    guardrails = {
        "input": [{"name": "g", "tripwire": False, "output_info": {"ok": True}}],
        "tool_input": [{"name": "t", "behavior": {"type": "reject_content"}}],
        "output": [{"name": "o", "tripwire": True}],
    }
    story.close(
        final={"value": {"total": 1}, "type": "app.Bill"}, guardrails=guardrails
    )
    found = lines(story)
    for line in (
        '✓ input guardrail g  {"ok": true}',
        "✓ tool input guardrail t reject_content",
        "✗ output guardrail o stopped the run",
        '│ {"total": 1}',
        "final output Bill, the message above",
    ):
        assert line in found


@pytest.mark.parametrize("last", [None, Escaped({TAG: "withheld", "n": 5})])
def test_typed_output_that_no_message_says(last):
    """A typed output of its own is shown whole."""
    story = Story()
    if last is not None:
        story.responds(message(last), types=["message_output_item"])
    story.close(final={"value": [1, 2], "type": "list"})
    found = lines(story)
    place = found.index("final output list")
    assert found[place + 1] == "│ [1, 2]"


def test_input_lists_show_the_last_words():
    """Of a long input the last words are shown and the rest is counted; --full has all."""
    given = [
        {"role": "user", "content": "first"},
        message("answered"),
        {"role": "user", "content": "and now?"},
    ]
    story = Story(given=given).close()
    found = lines(story)
    assert found[1:4] == ["input", "│ … 2 earlier items: 2 message", "│ and now?"]
    whole = lines(story, full=True)
    assert whole[1:6] == ["input", "│ first", "│ assistant", "│ answered", "│ and now?"]


def test_an_input_that_ends_with_something_else():
    """The last item is shown whatever it is."""
    story = Story(given=[{"role": "user", "content": "x"}, answer("c", "out")]).close()
    assert lines(story)[2:5] == ["│ … 1 earlier item: 1 message", "│ function_call_output", '│ {"type": "function_call_output", "call_id": "c", "output": "out"}']  # fmt: skip


def test_instructions():
    """With --full an agent's instructions are there."""
    story = Story()
    story.responds(
        message("x"), types=["message_output_item"], system="Be kind.\nAlways."
    )
    story.close()
    found = lines(story.close(), full=True)
    place = found.index("│ instructions")
    assert found[place + 1 : place + 3] == ["│ Be kind.", "│ Always."]


@pytest.mark.parametrize(
    ("wanted", "present", "absent"),
    [
        (Wanted(agent="B"), ["│ Other"], ["│ Hi", "input"]),
        (Wanted(tool="look"), ["│ ✓ look", "│   seen"], ["│ Hi", "│ Other"]),
        (Wanted(type="message"), ["│ Hi", "│ Other"], ["│ ✓ look"]),
        (Wanted(type="function_call"), ["│ ✓ look"], ["│ Hi"]),
        (Wanted(agent="Helper"), ["│   │ inner"], ["│ Hi", "│ ✓ look"]),
    ],
)
def test_filters(wanted, present, absent):
    """Only the wanted items are shown, in nested runs too."""
    story = Story()
    story.responds(message("Hi"), call("look", "c"), types=["message_output_item", "tool_call_item"])  # fmt: skip
    story.item("tool_call_output_item", answer("c", "seen"))
    story.agent = "B"
    story.responds(message("Other"), types=["message_output_item"])
    child = nested_in(story.run_id, "c", "00000000000000b1").close()
    found = lines(story.close(children=[child.run_id]), child, wanted=wanted)
    if wanted.agent == "Helper":
        present = [line.removeprefix("│   ") for line in present]
    assert [line for line in present if line not in found] == []
    assert [line for line in absent if line in found] == []


def test_other_items():
    """Hosted tools, MCP, lone outputs, ignored handoffs and unknown types are shown."""
    story = Story()
    story.responds(
        {"type": "web_search_call", "id": "ws", "action": {"query": "q"}},
        {"type": "file_search_call", "id": "fs", "results": [{"text": "hit"}]},
        {"type": "image_generation_call", "id": "ig", "result": "QUJD" * 100},
        {"type": "mcp_list_tools", "server_label": "srv", "tools": [{"name": "a"}, {"name": "b"}]},
        {"type": "reasoning", "summary": []},
        call("transfer_to_x", "h"),
        {"type": "brand_new", "x": 1},
        types=["tool_call_item", "tool_call_item", "tool_call_item", "mcp_list_tools_item", "reasoning_item", "handoff_call_item", "new_item"],
    )  # fmt: skip
    story.item("tool_call_output_item", answer("lost", "late"), redacted=True)
    found = lines(story.close())
    for line in (
        '│ ✓ web_search {"query": "q"}  hosted',
        "│ ✓ file_search  hosted",
        '│   [{"text": "hit"}]',
        "│   [image, 300 B]",
        "│ srv offers 2 tools: a, b",
        "│ thought · nothing of it was given",
        "│ → transfer_to_x  not taken",
        "│ new_item  29 B",
        '│   {"type": "brand_new", "x": 1}',
        "│ ⎿ result of lost",
        "│   late",
        "│ a redaction changed this",
    ):
        assert line in found


def test_long_arguments_have_lines_of_their_own():
    """Arguments that do not fit beside the name stand under it."""
    story = Story()
    story.responds(
        call("t", "c", '{"text": "' + "y" * 90 + '"}'), types=["tool_call_item"]
    )
    found = lines(story.close())
    assert ("│ ◌ t  pending" in found, "│   {" in found) == (True, True)


def test_captured_from_spans_only():
    """The heading says what was not captured, and that it streamed."""
    story = Story(capture="spans", streamed=True)
    assert "streamed · captured from spans only" in lines(story.close(), width=200)[0]


def test_a_ledger_without_runs():
    """A trace whose runs are all lost still has a head, with the gaps under it."""
    story = Story().close()
    found = found_of(story)
    (run,) = found.runs
    other = shown.Found(found.ledger, (), "s", "")
    assert render(shown.transcript_view(other, EVERYTHING).parts()) == (
        "Trace  exact: nothing is missing\nsource    s\ntrace     -"
    )
    assert run.exact


def test_gaps_of_other_runs_are_counted():
    """Showing one run of a trace, the gaps of the others are not forgotten."""
    whole, half = Story().close(), Story("00000000000000b1")
    found = found_of(whole, half)
    one = shown.Found(found.ledger, found.runs[:1], "s", "t")
    last = render(shown.transcript_view(one, EVERYTHING).parts()).split("\n")[-1]
    assert last.startswith("✗ 1 more gap")


class TestMarkdown:
    """What a model writes as Markdown."""

    def markdown(self, source):
        """The rendered text."""
        return render([SafeMarkdown(source)])

    def test_it_is_rendered(self):
        """Lists and emphasis are laid out."""
        assert self.markdown("- **a**\n- b") == " • a\n • b"

    @pytest.mark.parametrize(
        "source",
        ["<script>x</script>", "&#x202e;", "[//]: # (hidden)", "[a]: http://e.example"],
    )
    def test_nothing_hides(self, source):
        """HTML, entities and definitions stay visible."""
        assert self.markdown(source).strip() == source

    def test_links_show_where_they_go(self):
        """An address is text beside its link, never an escape sequence."""
        found = self.markdown("[safe](http://evil.example)")
        assert found == "safe (http://evil.example)"


def test_gutter_of_very_long_text():
    """Megabytes go out line by line, unwrapped, each with its rule."""
    story = Story()
    story.responds(call("t", "c"), types=["tool_call_item"])
    story.item("tool_call_output_item", answer("c", ("z" * 1_000 + "\n") * 3_000))
    found = text(story.close(), full=True).split("\n")
    assert found.count("│   " + "z" * 1_000) == 3_000
    assert Gutter("x", ()).rules == ()


def test_very_long_text_alone():
    """Long text needs no rule beside it."""
    assert render([Plain("a\n" + "b" * 200)]) == "a\n" + "b" * 200


def test_a_lost_result():
    """A call whose result is lost says so, in the transcript and in the list of items."""
    story = Story()
    story.responds(call("t", "c"), types=["tool_call_item"])
    lost = story.item("message_output_item", message("gone"))
    story.close()
    story.records = [record for record in story.records if record.seq != lost]
    assert "│ ✗ item 3: <missing>" in lines(story)


def test_a_silent_call_before_others():
    """A model call that gave nothing stands before the next one that did."""
    story = Story()
    story.responds(types=[])
    story.responds(message("Then"), types=["message_output_item"])
    found = lines(story.close())
    silent, then = (found.index(f"Desk  m-1 · call {n} · 0.5 ms · 10 → 5 tokens") for n in (0, 1))  # fmt: skip
    assert silent < then < found.index("│ Then")


def test_a_lost_output():
    """A call whose output is lost says so under it."""
    story = Story()
    story.responds(call("t", "c"), types=["tool_call_item"])
    story.item("tool_call_output_item", answer("c", Escaped({TAG: "withheld", "n": 7})))
    found = lines(story.close())
    assert found[found.index("│ ✓ t") + 1] == "│   <withheld, 7 B>"


def test_reasoning_in_the_open():
    """Reasoning that is not encrypted is shown as it is."""
    story = Story()
    raw = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "So."}]}  # fmt: skip
    story.responds(raw, types=["reasoning_item"])
    found = lines(story.close())
    assert found[found.index("│ thought") + 1] == "│ So."


def test_only_what_was_before():
    """A resumed run that ended at once shows that it holds what was before."""
    first, then = resumed([], [])
    end = next(place for place, r in enumerate(then.records) if "After" in r.body)
    del then.records[end:]
    then.items = then.items[:3]
    found = lines(first, then.close())
    assert "… 3 items of the part before, run 00000000000000a1" in found
