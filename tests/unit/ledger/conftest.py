"""Runs that the tests of the ledger look at."""

import pytest

from itemtrace.codec.canonical import TAG, Escaped
from itemtrace.rebuild import rebuild
from itemtrace.testing.synthetic import RunWriter, ref, rows_of


ROOT, CHILD, RESUMED = "00000000000000a1", "00000000000000b2", "00000000000000c3"
STARTED = 10**18


def function_call(call_id, name="look", arguments="{}"):
    """A raw function call."""
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def function_output(call_id, output="done"):
    """A raw output of a function call."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def said(text):
    """A raw message."""
    return {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }


def write_root():
    """A run with a tool, an agent as a tool, a handoff, an ignored handoff and a pending approval."""
    run = RunWriter(ROOT)
    run.add(
        "begin", version="0.1", sdk="0.24.0", capture="full", started=STARTED, agent="Desk", streamed=True,
        trace={"id": "trace_1", "name": "Orders", "group": "g", "metadata": {"a": 1}},
        input=[{"role": "user", "content": "Hello"}], options={"max_turns": 7},
    )  # fmt: skip
    items = [
        run.add(
            "item",
            type="tool_call_item",
            agent="Desk",
            at=5,
            call=0,
            raw=function_call("c1"),
        ),
        run.add(
            "item",
            type="tool_call_item",
            agent="Desk",
            call=0,
            raw=function_call("c2", "ask"),
        ),
    ]
    run.add(
        "call", n=0, agent="Desk", turn=1, start=1, end=4, model="m1", api="responses", system="Be kind.",
        settings='{"temperature":0.5}', tools='[{"name":"look"}]',
        input={"new": [{"role": "user", "content": "Hello"}], "list": [[0, 1]], "origin": [["input", 1]]},
        response={"id": "r1", "usage": [1, 10, 2, 12, {"cached_tokens": 4}, {"reasoning_tokens": 1}], "output": items},
        attempts=[{"type": "APIError", "message": "again"}],
    )  # fmt: skip
    items += [
        run.add("item", agent="Desk", raw=function_output("c1"), tool={"ran": [10, 20]}),
        run.add(
            "item", type="tool_call_output_item", agent="Desk", raw=function_output("c2"),
            extra={"output": Escaped({TAG: "tuple", "v": [1]})},
            tool={"ran": [10, 30], "error": {"type": "E", "message": "x"}},
        ),
    ]  # fmt: skip
    more = [
        run.add(
            "item",
            type="handoff_call_item",
            agent="Desk",
            call=1,
            raw=function_call("h1", "to_clerk"),
        ),
        run.add(
            "item",
            type="handoff_call_item",
            agent="Desk",
            call=1,
            raw=function_call("h2", "to_boss"),
        ),
        run.add(
            "item",
            type="tool_call_item",
            agent="Desk",
            call=1,
            raw=function_call("c3", "pay"),
        ),
    ]
    run.add(
        "call", n=1, agent="Desk", start=31, end=40, model="m1",
        input={"new": [ref(items[0]), items[1], items[2], ref(items[3], drop=["type"])], "list": [[0, 5]]},
        response={"id": "r2", "usage": [1, 20, 3, 23, {"cached_tokens": 5}, {"reasoning_tokens": 0}], "output": more},
    )  # fmt: skip
    more += [
        run.add(
            "item", type="handoff_output_item", agent="Desk", raw=function_output("h1"),
            extra={"source_agent": "Desk", "target_agent": "Clerk"},
        ),
        run.add("item", type="tool_call_output_item", agent="Desk", raw=function_output("h2", "ignored")),
    ]  # fmt: skip
    message = run.add(
        "item", type="message_output_item", agent="Clerk", call=2, raw=said("Wait.")
    )
    run.add(
        "call", n=2, agent="Clerk", start=41, end=50, model="m2", input={"list": [[0, 1]]},
        response={"id": "r3", "model": "m2-x", "usage": [1, 1, 1, 2, {}, {}], "output": [message]},
    )  # fmt: skip
    approval = run.add(
        "item", type="tool_approval_item", agent="Desk", raw=function_call("c3", "pay")
    )
    run.add("tool", call="c3", name="pay", agent="Desk", status="pending")
    run.add(
        "tool",
        call="late",
        name="look",
        agent="Desk",
        arguments="{}",
        start=1,
        end=2,
        status="cancelled",
    )
    run.add(
        "end", status="interrupted", end=60, items=[[items[0], 2], items[2], items[3], *more, message, approval],
        fix={str(items[2]): {"type": "tool_call_output_item", "agent": "Desk"}},
        final={"text": message}, last_agent="Clerk", interruptions=[approval], children=[CHILD],
        tools={"look": {"call": {"description": "Looks."}, "output": {"title": "Look"}}},
        guardrails={
            "input": [{"name": "polite", "tripwire": False, "output_info": {"score": 1}}],
            "output": [{"name": "short", "agent": "Clerk", "tripwire": True}],
            "tool_input": [{"name": "safe", "behavior": {"type": "allow"}}],
            "tool_output": [],
        },
        usage=[4, 131, 16, 147, {"cached_tokens": 9}, {"reasoning_tokens": 1}], entries=[[10, 2, 12, {}, {}]],
        lists={"normalized": [{"role": "user", "content": "short"}, ref(message)]},
        error={"type": "UserError", "message": "why", "data": {"a": 1}},
    )  # fmt: skip
    run.seal()
    return run.records


def write_child():
    """The run that the tool `ask` of the first one started."""
    run = RunWriter(CHILD)
    run.add(
        "begin", started=STARTED + 15_000, agent="Helper", input="q",
        parent={"run": ROOT, "call": "c2", "n": 0}, trace={"id": "trace_1"},
    )  # fmt: skip
    answer = run.add("item", type="message_output_item", raw=said("a"), call=0)
    run.add(
        "call", n=0, agent="Helper", start=1, end=2, model="m3", input={"new": [{"role": "user", "content": "q"}]},
        response={"id": "r9", "usage": [1, 100, 10, 110, {}, {}], "output": [answer]},
    )  # fmt: skip
    run.add(
        "end",
        status="completed",
        end=3,
        items=[answer],
        final={"value": {"a": 1}, "type": "app.Answer"},
    )
    run.seal()
    return run.records


def write_resumed():
    """The run that resumes the first one: one call approved, one rejected."""
    run = RunWriter(RESUMED)
    run.add(
        "begin", started=STARTED + 10**9, agent="Desk", input="Hello", after=ROOT,
        resumed={
            "run": ROOT,
            "decisions": [
                {"call": "c3", "tool": "pay", "decision": "rejected", "message": "no", "principal": "ann"},
                {"call": "c4", "tool": "pay", "decision": "approved"},
            ],
        },
    )  # fmt: skip
    asked = run.add(
        "item", type="tool_call_item", agent="Desk", raw=function_call("c3", "pay")
    )
    run.add(
        "call",
        n=0,
        recalled=True,
        response={"id": "r2", "usage": [1, 20, 3, 23, {}, {}], "output": [asked]},
    )
    refused = run.add(
        "item",
        type="tool_call_output_item",
        agent="Desk",
        raw=function_output("c3", "no"),
    )
    run.add(
        "end",
        status="completed",
        end=1,
        items=[asked, refused],
        responses=[0],
        usage=[0, 0, 0, 0, {}, {}],
    )
    run.seal()
    return run.records


@pytest.fixture
def ledger():
    """The three runs in one ledger."""
    return rebuild(rows_of([*write_resumed(), *write_child(), *write_root()]))


@pytest.fixture
def run(ledger):
    """The first run."""
    return ledger.runs[0]
