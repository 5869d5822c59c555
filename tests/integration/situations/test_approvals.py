"""Approvals: decided in this process, in another one, from a trace, and in nested runs."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from agents import Agent, Runner, RunState, function_tool

import itemtrace
from itemtrace.codec import canonical
from itemtrace.ledger.convert import sdk
from itemtrace.stores import open_store
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider


PAID = []


@function_tool(needs_approval=True)
async def pay(amount: int) -> str:
    """Pays an amount."""
    PAID.append(amount)
    return f"paid {amount}"


@pytest.fixture(autouse=True)
def nothing_paid():
    """Each test starts with nothing paid."""
    PAID.clear()


SCRIPT = {
    "cashier": [
        [
            function_call("pay", "call_yes", amount=5),
            function_call("pay", "call_no", amount=500),
        ],
        [message("Paid five.")],
    ]
}


def cashier(model):
    """The agent of this file."""
    return Agent(name="Cashier", model=model, tools=[pay])


async def plain(agent, given, **more):
    """`Runner.run`."""
    return await Runner.run(agent, given, **more)


async def streamed(agent, given, **more):
    """`Runner.run_streamed`, to its end."""
    result = Runner.run_streamed(agent, given, **more)
    async for _ in result.stream_events():
        pass
    return result


WAYS = pytest.mark.parametrize("way", [plain, streamed])


def decide(state, message=None):
    """Approves small payments and rejects the others."""
    for pending in state.get_interruptions():
        if pending.call_id == "call_no":
            state.reject(pending, rejection_message=message)
        else:
            state.approve(pending)
    return state


@WAYS
async def test_same_process(way, provide, proved, recorded):
    """One execution and one output for the approved call, the words of the rejection for the other."""
    agent = cashier(provide(SCRIPT).responses_model("cashier"))
    paused = await way(agent, "Pay both.")
    resumed = await way(agent, decide(paused.to_state(), "Too much."))
    first, second = proved(paused, resumed)
    assert PAID == [5]
    assert [run.status for run in (first, second)] == ["interrupted", "completed"]
    assert [(c.call_id, c.status, c.output) for c in first.tool_calls] == [
        ("call_yes", "pending", None),
        ("call_no", "pending", None),
    ]
    assert [(a.call_id, a.decision, a.message) for a in second.approvals] == [
        ("call_yes", "approved", None),
        ("call_no", "rejected", "Too much."),
    ]
    assert {c.call_id: (c.status, c.output.output) for c in second.tool_calls} == {
        "call_yes": ("completed", "paid 5"),
        "call_no": ("rejected", "Too much."),
    }
    assert second.resumed == first
    assert first.resumed_by == (second,)
    assert first.trace_id == second.trace_id
    tools = [row for row in recorded.rows() if row.name == "execute_tool pay"]
    executed = [row.attributes.get("itemtrace.tool.executed", True) for row in tools]
    assert executed == [False, False, True]


@WAYS
async def test_undecided_twice(way, provide, proved):
    """A resume without a decision waits again; one call stays one call."""
    agent = cashier(provide(SCRIPT).responses_model("cashier"))
    paused = await way(agent, "Pay both.")
    state = paused.to_state()
    state.approve(state.get_interruptions()[0])
    half = await way(agent, state)
    done = await way(agent, decide(half.to_state()))
    first, second, third = proved(paused, half, done)
    assert [run.status for run in (first, second, third)] == [
        "interrupted",
        "interrupted",
        "completed",
    ]
    assert PAID == [5]
    assert [a.decision for a in second.approvals][:2] == ["approved", "pending"]
    assert third.resumed == second


async def test_nested_approval(provide, proved):
    """An approval in a nested run is asked of the outer one; the resumed inner run is linked."""
    fake = provide(
        {
            "outer": [
                [function_call("ask", "call_1", input="pay")],
                [message("Done.")],
            ],
            "inner": [[function_call("pay", "call_yes", amount=5)], [message("Paid.")]],
        }
    )
    inner = Agent(name="Inner", model=fake.responses_model("inner"), tools=[pay])
    outer = Agent(
        name="Outer",
        model=fake.responses_model("outer"),
        tools=[inner.as_tool("ask", "Asks.")],
    )
    paused = await plain(outer, "Pay.")
    done = await plain(outer, decide(paused.to_state()))
    first, second = proved(paused, done)
    assert PAID == [5]
    assert [run.status for run in first.all_runs()] == ["interrupted"] * 2
    assert [run.status for run in second.all_runs()] == ["completed"] * 2
    assert second.tool_calls[0].runs == second.runs
    assert second.runs[0].resumed == first.runs[0]
    assert second.runs[0].parent_call_id == "call_1"


async def test_state_from_a_trace(provide, proved):
    """A pending approval becomes a state of the SDK again, from the ledger alone, and goes on."""
    agent = cashier(provide(SCRIPT).responses_model("cashier"))
    paused = await plain(agent, "Pay both.")
    (run,) = proved(paused)
    state = await sdk.run_state(run, agent)
    done = await plain(agent, decide(state))
    _, second = proved(paused, done)
    assert PAID == [5]
    assert second.final_output == "Paid five."


async def test_nested_state_from_a_trace(provide, proved):
    """A state with a nested run that waits is whole too, and goes on."""
    fake = provide(
        {
            "outer": [
                [function_call("ask", "call_1", input="pay")],
                [message("Done.")],
            ],
            "inner": [[function_call("pay", "call_yes", amount=5)], [message("Paid.")]],
        }
    )
    inner = Agent(name="Inner", model=fake.responses_model("inner"), tools=[pay])
    outer = Agent(
        name="Outer",
        model=fake.responses_model("outer"),
        tools=[inner.as_tool("ask", "Asks.")],
    )
    paused = await plain(outer, "Pay.")
    (run,) = proved(paused)
    expected = paused.to_state().to_json(context_serializer=lambda _: {})
    assert {key for key in expected if run.state[key] != expected[key]} <= {"context"}
    done = await plain(outer, decide(await sdk.run_state(run, outer)))
    _, second = proved(paused, done)
    assert (PAID, second.final_output) == ([5], "Done.")


async def test_continued_after_its_end(provide, proved):
    """A finished run that goes on through `to_state()` is a run of its own."""
    fake = provide(
        {"cashier": [[message("Hello.", "msg_1")], [message("Yes?", "msg_2")]]}
    )
    agent = cashier(fake.responses_model("cashier"))
    done = await plain(agent, "Hello.")
    again = await plain(agent, done.to_state())
    first, second = proved(done, again)
    assert first.status == second.status == "completed"


CHILD = '''
import asyncio, json, sys
from agents import Agent, Runner, RunState, function_tool, set_trace_processors
import itemtrace

set_trace_processors([])


@function_tool(needs_approval=True)
async def pay(amount: int) -> str:
    """Pays an amount."""
    return f"paid {amount}"


async def main(url, store, state):
    from agents import OpenAIResponsesModel
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="not-a-key", max_retries=0)
    model = OpenAIResponsesModel(model="cashier", openai_client=client)
    agent = Agent(name="Cashier", model=model, tools=[pay])
    itemtrace.install(store=store)
    if state:
        given = await RunState.from_string(agent, state)
        for pending in given.get_interruptions():
            decide = given.reject if pending.call_id == "call_no" else given.approve
            decide(pending)
    else:
        given = "Pay both."
    result = await Runner.run(agent, given)
    itemtrace.uninstall()
    await client.close()
    assert itemtrace.health() == {}, itemtrace.health()
    print(json.dumps([
        result.to_state().to_string() if result.interruptions else "",
        result.to_input_list(),
    ]))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.stdin.read()))
'''


async def test_resumed_in_another_process(tmp_path: Path):
    """Two processes, one trace: the second run is linked to the first by the store they share."""
    script = tmp_path / "child.py"
    script.write_text(CHILD, encoding="utf-8")
    store = tmp_path / "runs.db"
    state, lists = "", []
    async with FakeProvider(SCRIPT) as fake:
        for _ in range(2):
            ran = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-W", "error", script, fake.base_url, store],
                input=state,
                capture_output=True,
                text=True,
                check=False,
            )
            assert ran.returncode == 0, ran.stderr
            state, items = canonical.loads(ran.stdout)
            lists.append(items)
    with open_store(store) as opened:
        ledger = itemtrace.load(opened)
    assert ledger.gaps == ()
    first, second = ledger.runs
    assert [run.status for run in (first, second)] == ["interrupted", "completed"]
    assert [run.to_input_list() for run in (first, second)] == lists
    assert first.trace_id == second.trace_id
    assert second.resumed == first
    assert [call.recalled for call in second.model_calls] == [False, True]


async def test_state_object_is_left_alone(provide, proved):
    """Recording a pause does not change the state that the application saves."""
    agent = cashier(provide(SCRIPT).responses_model("cashier"))
    paused = await plain(agent, "Pay both.")
    proved(paused)
    state = await RunState.from_string(agent, paused.to_state().to_string())
    assert [item.call_id for item in state.get_interruptions()] == [
        "call_yes",
        "call_no",
    ]
