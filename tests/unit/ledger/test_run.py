"""A run has the surface of the SDK's result, and what the result forgets."""

import pytest

from itemtrace.codec import canonical
from itemtrace.codec.record import make
from itemtrace.errors import CodecError, TraceNotFound
from itemtrace.ledger import (
    AgentToolInvocation,
    Approval,
    ErrorInfo,
    GuardrailResult,
    Ledger,
    RequestUsage,
    Usage,
)  # fmt: skip
from itemtrace.ledger.model import build
from itemtrace.rebuild import rebuild
from itemtrace.testing.synthetic import RunWriter, ref, rows_of


ROOT, CHILD, RESUMED = "00000000000000a1", "00000000000000b2", "00000000000000c3"
STARTED = 10**18


def test_ledger_of_three_runs(ledger):
    """Roots by start, nested runs below, every run once, nothing missing."""
    assert [run.run_id for run in ledger.runs] == [ROOT, RESUMED]
    assert [run.run_id for run in ledger.all_runs()] == [ROOT, CHILD, RESUMED]
    assert (ledger.gaps, ledger.exact, ledger.self_check()) == ((), True, [])
    assert repr(ledger) == "<Ledger of 3 runs, 0 gaps>"
    assert ledger != "ledger"
    with pytest.raises(
        TraceNotFound, match="no run 'x' in this ledger; it has 00000000000000a1, "
    ):
        ledger.run("x")
    with pytest.raises(TraceNotFound, match="it has none"):
        Ledger().run("x")


def test_what_the_run_was(run):
    """Names, ids, times and options."""
    assert (run.agent, run.trace_id, run.workflow, run.group, run.metadata) == (
        "Desk", "trace_1", "Orders", "g", {"a": 1},
    )  # fmt: skip
    assert (run.versions, run.capture, run.options, run.streamed) == (
        ("0.1", "0.24.0"), "full", {"max_turns": 7}, True,
    )  # fmt: skip
    assert (run.started_ns, run.ended_ns, run.status, run.sealed) == (
        STARTED, STARTED + 60_000, "interrupted", True,
    )  # fmt: skip
    assert run.error == ErrorInfo("UserError", "why", {"a": 1})
    assert (
        repr(run) == "<Run 00000000000000a1 of 'Desk': interrupted, 11 items, 0 gaps>"
    )
    assert run != "run"


def test_items_as_the_end_has_them(run):
    """Types of the end's corrections, fields that a tool's items share, own fields kept."""
    assert [
        (item.type, item.agent, dict(item.extra)) for item in run.new_items[:4]
    ] == [
        ("tool_call_item", "Desk", {"description": "Looks."}),
        ("tool_call_item", "Desk", {}),
        ("tool_call_output_item", "Desk", {"title": "Look"}),
        ("tool_call_output_item", "Desk", {"output": (1,)}),
    ]
    assert run.new_items[0].at_ns == STARTED + 5_000
    assert run.new_items[2].at_ns == STARTED + 20_000
    assert run.items == run.new_items
    assert run.item_at(0) is None
    assert run.item_at("1") is None


def test_result_fields(run):
    """Input, output, last agent and ids."""
    assert run.input == run.given_input == [{"role": "user", "content": "Hello"}]
    assert (run.final_output, run.final_output_type, run.last_agent) == (
        "Wait.",
        "str",
        "Clerk",
    )
    assert run.last_response_id == "r3"
    assert [response.response_id for response in run.raw_responses] == [
        "r1",
        "r2",
        "r3",
    ]
    assert run.raw_responses[2].output == [run.new_items[9].raw]
    assert run.raw_responses[2].to_input_items() == [run.new_items[9].raw]


def test_guardrail_results(run):
    """The four lists; an output guardrail saw the final output."""
    assert run.input_guardrail_results == (
        GuardrailResult("polite", tripwire=False, output_info={"score": 1}),
    )
    assert run.output_guardrail_results == (
        GuardrailResult("short", "Clerk", tripwire=True, agent_output="Wait."),
    )
    assert run.tool_input_guardrail_results == (
        GuardrailResult("safe", behavior={"type": "allow"}),
    )
    assert run.tool_output_guardrail_results == ()


def test_input_lists(run):
    """The plain list leaves approvals out; a list of its own is taken where the end has one."""
    plain = run.to_input_list()
    assert plain == [
        {"role": "user", "content": "Hello"},
        *(i.raw for i in run.new_items[:-1]),
    ]
    assert run.to_input_list(mode="normalized") == [
        {"role": "user", "content": "short"},
        plain[-1],
    ]


def test_model_calls(run):
    """What each model was sent and answered, exactly."""
    first, second, third = run.model_calls
    assert (first.system, first.settings, first.tools) == (
        "Be kind.",
        {"temperature": 0.5},
        [{"name": "look"}],
    )
    assert (first.origin, first.attempts) == (
        (("input", 1),),
        (ErrorInfo("APIError", "again"),),
    )
    assert (first.start_ns, first.end_ns, first.duration) == (
        STARTED + 1_000,
        STARTED + 4_000,
        3e-6,
    )
    assert first.input == [{"role": "user", "content": "Hello"}]
    output = run.new_items[3].raw
    assert second.input == [
        *run.to_input_list()[:4],
        {key: value for key, value in output.items() if key != "type"},
    ]
    assert third.input == first.input
    assert (
        third.response.model,
        third.settings,
        third.response.usage.total_tokens,
    ) == ("m2-x", {}, 2)


def test_tool_calls(run):
    """Calls in the model's order with outputs, errors and nested runs; then executions without a call."""
    found = [
        (c.call_id, c.name, c.status, c.output is not None) for c in run.tool_calls
    ]
    assert found == [
        ("c1", "look", "completed", True),
        ("c2", "ask", "failed", True),
        ("c3", "pay", "pending", False),
        ("late", "look", "cancelled", False),
    ]
    first, second, third, late = run.tool_calls
    assert (first.start_ns, first.end_ns, first.duration) == (
        STARTED + 10_000,
        STARTED + 20_000,
        1e-5,
    )
    assert (second.error, [child.run_id for child in second.runs]) == (
        ErrorInfo("E", "x"),
        [CHILD],
    )
    assert (third.duration, third.arguments, late.arguments) == (0.0, "{}", "{}")


def test_hosted_calls_have_their_output_inside():
    """A hosted call is complete by itself."""
    writer = RunWriter(ROOT)
    writer.add(
        "item", type="tool_call_item", raw={"type": "web_search_call", "id": "ws_1"}
    )
    (call,) = rebuild(rows_of(writer.records)).runs[0].tool_calls
    assert (call.name, call.hosted, call.status, call.call_id) == (
        "web_search",
        True,
        "completed",
        "ws_1",
    )


def test_handoffs(run):
    """Who handed over to whom; an ignored handoff has no target."""
    taken, ignored = run.handoffs
    assert (taken.source, taken.target, taken.tool_name, taken.output.raw["output"]) == (
        "Desk", "Clerk", "to_clerk", "done",
    )  # fmt: skip
    assert (ignored.target, ignored.output.type) == (None, "tool_call_output_item")


def test_approvals(ledger, run):
    """Pending ones of the first run, decisions of the one that resumes it."""
    resumed = ledger.run(RESUMED)
    assert run.approvals == (
        Approval("c3", "pay", "pending", item=run.interruptions[0]),
    )
    assert resumed.approvals == (
        Approval("c3", "pay", "rejected", "no", "ann"),
        Approval("c4", "pay", "approved"),
    )
    assert [call.status for call in resumed.tool_calls] == ["rejected"]
    assert (resumed.resumed, run.resumed_by, run.resumed) == (run, (resumed,), None)


def test_nested_run(ledger, run):
    """A nested run knows the call that started it."""
    child = ledger.run(CHILD)
    assert (child.nested, run.nested, child.parent, run.parent) == (
        True,
        False,
        run,
        None,
    )
    assert child.agent_tool_invocation == AgentToolInvocation("ask", "c2", "{}")
    assert run.agent_tool_invocation is None
    assert (child.final_output, child.final_output_type, child.new_items[0].agent) == (
        {"a": 1}, "app.Answer", "Helper",
    )  # fmt: skip
    assert child.to_input_list()[0] == {"content": "q", "role": "user"}


def test_usage(ledger, run):
    """The context's usage, and where it came from; a recalled response counts for its own run."""
    assert run.usage == Usage(
        4,
        131,
        16,
        147,
        {"cached_tokens": 9},
        {"reasoning_tokens": 1},
        (RequestUsage(10, 2, 12),),
    )
    assert ledger.run(CHILD).usage.total_tokens == 110
    totals = {
        key: {name: usage.total_tokens for name, usage in run.usage_by(key).items()}
        for key in ("agent", "model", "tool", "turn")
    }
    assert totals == {
        "agent": {"Desk": 35, "Clerk": 2, "Helper": 110},
        "model": {"m1": 35, "m2": 2, "m3": 110},
        "tool": {"ask": 110},
        "turn": {"1": 122, "2": 23, "3": 2},
    }
    assert ledger.run(RESUMED).usage_by("agent") == {}
    with pytest.raises(ValueError, match="usage by 'day' is not known"):
        run.usage_by("day")


def test_turns(run):
    """A turn is a model call and what its answer called."""
    shapes = [
        (
            turn.index,
            turn.agent,
            len(turn.calls),
            [c.name for c in turn.tool_calls],
            len(turn.items),
        )
        for turn in run.turns
    ]
    assert shapes == [
        (1, "Desk", 1, ["look", "ask"], 4),
        (2, "Desk", 1, ["pay"], 3),
        (3, "Clerk", 1, [], 1),
    ]
    assert (run.turns[0].usage.total_tokens, run.turns[0].start_ns) == (
        12,
        STARTED + 1_000,
    )


# --- damage -----------------------------------------------------------------------


def test_run_without_an_end():
    """What was exported is there: answered items, outputs of known calls, usage; nothing else."""
    writer = RunWriter(ROOT)
    writer.add("begin", started=1, agent="Desk", input="Hi")
    call = writer.add("item", raw={"type": "function_call", "call_id": "c1"}, call=0)
    writer.add(
        "call",
        n=0,
        agent="Desk",
        response={"usage": [1, 2, 3, 5, {}, {}], "output": [call]},
    )
    writer.add("item", raw={"type": "function_call_output", "call_id": "c1"})
    writer.add("item", raw={"type": "function_call_output", "call_id": "other"})
    run = rebuild(rows_of(writer.records)).runs[0]
    assert [item.seq for item in run.new_items] == [1, 3]
    assert (run.status, run.usage.total_tokens, run.last_agent, run.final_output) == (
        "unsealed",
        5,
        "Desk",
        None,
    )
    assert run.ended_ns == 0


def test_run_without_a_begin():
    """The start is not invented; the agent is known from the first call."""
    writer = RunWriter(ROOT)
    writer.add("begin", started=1)
    writer.add("call", n=0, agent="Desk", start=5)
    writer.add(
        "end",
        status="completed",
        final={"text": 1},
        responses=[0, 3],
        interruptions=[0],
    )
    writer.seal()
    run = rebuild(rows_of(writer.records[1:])).runs[0]
    assert (run.started_ns, run.agent, run.input, run.to_input_list()) == (
        0,
        "Desk",
        None,
        [],
    )
    assert run.model_calls[0].start_ns == 0
    assert run.final_output == {"$it": "missing", "s": 1}
    assert [item.lost for item in run.interruptions] == [True]
    assert [response.output for response in run.raw_responses] == [[], []]
    assert run.new_items == ()


def test_inputs_after_a_lost_call_are_not_guessed():
    """Without one call's new entries no later place in the table is known."""
    writer = RunWriter(ROOT)
    writer.add("begin", started=1)
    for n in range(3):
        writer.add(
            "call",
            n=n,
            input={"new": [{"role": "user", "content": str(n)}], "list": [[0, n + 1]]},
        )
    run = rebuild(rows_of([*writer.records[:2], writer.records[3]])).runs[0]
    assert run.model_calls[1].input == [
        {"role": "user", "content": "0"},
        {"$it": "missing", "entry": 1},
        {"$it": "missing", "entry": 2},
    ]


def test_lost_targets_leave_placeholders():
    """Entries and texts whose target is lost are placeholders, of other runs too."""
    writer = RunWriter(ROOT)
    blob = writer.blob("long")
    item = writer.add("item", raw={"type": "message", "role": "user", "content": blob})
    writer.add(
        "end",
        status="completed",
        items=[item],
        input=[ref(item), ref(4), ref(0, r=CHILD)],
    )
    run = rebuild(rows_of(writer.records[1:])).runs[0]
    assert run.input == [
        {
            "type": "message",
            "role": "user",
            "content": {"$it": "missing", "d": blob["d"]},
        },
        {"$it": "missing", "s": 4},
        {"$it": "missing", "s": 0, "r": CHILD},
    ]
    assert rebuild(rows_of(writer.records)).runs[0].input[0]["content"] == "long"


def test_withheld_final_text():
    """The text of a withheld message is its placeholder."""
    mark = canonical.Escaped({"$it": "withheld", "n": 1, "d": "x"})
    writer = RunWriter(ROOT)
    content = [{"type": "output_text", "text": mark}]
    item = writer.add("item", type="message_output_item", raw={"content": content})
    writer.add("end", status="completed", items=[item], final={"text": item})
    assert rebuild(rows_of(writer.records)).runs[0].final_output == {
        "$it": "withheld",
        "n": 1,
        "d": "x",
    }


def test_replaced_items():
    """A record that replaces another one hides it, unless the result has the first."""
    writer = RunWriter(ROOT)
    first = writer.add("item", type="message_output_item", raw={"a": 1})
    second = writer.add(
        "item", type="message_output_item", raw={"a": 2}, replaces=first
    )
    assert [i.seq for i in rebuild(rows_of(writer.records)).runs[0].items] == [second]
    writer.add("end", status="completed", items=[first])
    assert [i.seq for i in rebuild(rows_of(writer.records)).runs[0].items] == [
        first,
        second,
    ]


def test_bodies_that_cannot_be_read_are_an_error():
    """A ledger file that somebody edited: the view says which record is bad."""
    for body in ('{"$it":"bytes","v":5}', "[]"):
        run = build({ROOT: [make("item", ROOT, 0, body)]}).runs[0]
        with pytest.raises(CodecError, match="record 0 of run 00000000000000a1"):
            run.bodies("item")


def test_blobs_without_a_text_are_no_blobs():
    """An edited ledger file: what refers to such a record finds nothing."""
    ledger = build(
        {ROOT: [make("blob", ROOT, 0, '{"d":1}'), make("blob", ROOT, 1, '{"d":"x"}')]}
    )
    assert ledger.book.blobs == {}


def test_shared_fields_need_a_named_call():
    """A call without a name or id shares nothing with its tool."""
    writer = RunWriter(ROOT)
    raws = [
        {"type": "function_call", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c"},
    ]
    items = [
        writer.add("item", type="tool_call_item", raw=raws[0]),
        writer.add("item", type="tool_call_output_item", raw=raws[1]),
    ]
    shared = {"call": {"title": "x"}, "output": {"title": "y"}}
    writer.add("end", status="completed", items=items, tools={"look": shared})
    run = rebuild(rows_of(writer.records)).runs[0]
    assert [dict(item.extra) for item in run.new_items] == [{}, {}]


def test_recalled_responses_make_no_turn(ledger):
    """A response of an earlier part of the run belongs to that part's turns."""
    assert ledger.run(RESUMED).turns == ()
