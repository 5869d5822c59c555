"""What is served, what is refused, and what is real: each mode of a replay."""

import asyncio
import contextlib
import socket
import threading
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    input_guardrail,
)
from agents.run import AgentRunner

import itemtrace
from itemtrace.errors import (
    ConfigError,
    NetworkBlocked,
    NotOnTape,
    ReplayDivergence,
    ReplayGap,
    TapeUnused,
)
from itemtrace.testing import truth
from itemtrace.testing.items import function_call, message


DONE: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_done():
    """Each test starts with nothing done."""
    DONE.clear()


@function_tool
async def count(start: int) -> int:
    """Counts on."""
    DONE.append(start)
    return start + 1


SCRIPT = {
    "m": [
        [function_call("count", "call_1", start=1)],
        [function_call("count", "call_2", start=2)],
        [message("Three.")],
    ]
}


def counter(fake, **more):
    """The agent of this file."""
    return Agent(
        name="Counter",
        model=fake.responses_model("m"),
        **{"tools": [count], "instructions": "Count.", **more},
    )


@pytest.fixture
async def three(provide, recorded):
    """The agent, its provider, and the ledger of one run of it; the recording has ended."""
    fake = provide({**SCRIPT, "m": SCRIPT["m"] * 3})
    agent = counter(fake)
    await Runner.run(agent, "Go.")
    itemtrace.uninstall()
    DONE.clear()
    return agent, fake, recorded.ledger()


# --- what is served ---------------------------------------------------------------------


async def test_nothing_is_sent_and_nothing_is_done(three):
    """A replay sends no request, calls no tool, and says that all was as recorded."""
    agent, fake, ledger = three
    sent = len(fake.requests)
    with itemtrace.replay(ledger) as tape:
        result = await Runner.run(agent, ledger.runs[0].input)
    assert truth.differences(ledger.runs[0], result) == []
    assert (len(fake.requests), DONE) == (sent, [])
    assert tape.report.clean
    assert (
        str(tape.report)
        == "1 runs (1 exact); 3 model calls (3 exact); 2 tool calls (2 exact)"
    )
    tape.assert_complete()


async def test_a_run_alone(three):
    """A single run is played like the ledger that it is in."""
    agent, _, ledger = three
    with itemtrace.replay(ledger.runs[0]) as tape:
        await Runner.run(agent, "Go.")
    assert tape.report.clean


def test_run_sync(provide, recorded):
    """`run_sync` is played too."""
    agent = counter(provide(SCRIPT))
    Runner.run_sync(agent, "Go.")
    itemtrace.uninstall()
    with itemtrace.replay(recorded.ledger()) as tape:
        result = Runner.run_sync(agent, "Go.")
    assert result.final_output == "Three."
    assert tape.report.clean


async def test_everything_is_put_back(three):
    """After the last tape the SDK and the socket module are what they were, also under `install`."""
    _agent, _, ledger = three
    before = (
        dict(vars(AgentRunner)),
        dict(vars(Agent.__mro__[1])),
        dict(vars(socket.socket)),
    )
    with itemtrace.replay(ledger), itemtrace.replay(ledger):
        assert vars(AgentRunner)["run"] is not before[0]["run"]
    assert dict(vars(AgentRunner)) == before[0]
    assert dict(vars(Agent.__mro__[1])) == before[1]
    assert dict(vars(socket.socket)) == before[2]


async def test_two_tapes_at_once(three):
    """A tape belongs to its context: two tasks play two tapes."""
    agent, _, ledger = three

    async def play():
        with itemtrace.replay(ledger) as tape:
            await asyncio.sleep(0)
            await Runner.run(agent, "Go.")
            return tape.report.clean

    assert await asyncio.gather(play(), play()) == [True, True]


async def test_everywhere(three):
    """A tape for the whole process is seen in threads that know nothing of it."""
    agent, _, ledger = three
    found = []

    def elsewhere():
        found.append(asyncio.run(Runner.run(agent, "Go.")).final_output)

    with itemtrace.replay(ledger, everywhere=True) as tape:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        await asyncio.to_thread(thread.join)
    assert found == ["Three."]
    assert tape.report.clean


async def test_concurrent_runs_find_their_own(provide, recorded):
    """Runs that start in another order than recorded are found by their input."""
    fake = provide(
        {"m": lambda body: [message(f"You said {body['input'][0]['content']}.")]}
    )
    agent = Agent(name="Echo", model=fake.responses_model("m"))
    words = ["one", "two", "three"]
    await asyncio.gather(*(Runner.run(agent, word) for word in words))
    itemtrace.uninstall()
    with itemtrace.replay(recorded.ledger()) as tape:
        results = await asyncio.gather(*(Runner.run(agent, w) for w in reversed(words)))
    assert [r.final_output for r in results] == [
        "You said three.",
        "You said two.",
        "You said one.",
    ]
    assert tape.report.clean


async def test_sessions_are_left_alone(provide, recorded):
    """The recorded history is served, and the real session is neither read nor written."""
    fake = provide({"m": [[message("One.", "msg_1")], [message("Two.", "msg_2")]]})
    agent = Agent(name="Echo", model=fake.responses_model("m"))
    session = SQLiteSession("s")
    await Runner.run(agent, "a", session=session)
    await Runner.run(agent, "b", session=session)
    itemtrace.uninstall()
    other = SQLiteSession("other")
    await other.add_items([{"role": "user", "content": "something else"}])
    ledger = recorded.ledger()
    with itemtrace.replay(ledger) as tape:
        await Runner.run(agent, "a", session=other)
        result = await Runner.run(agent, "b")
    assert result.final_output == "Two."
    assert tape.report.clean
    assert await other.get_items() == [{"role": "user", "content": "something else"}]
    session.close()
    other.close()


# --- what is refused --------------------------------------------------------------------


async def test_another_input(three):
    """Another input is a divergence that says where, what and why, before anything is done."""
    agent, _, ledger = three
    with itemtrace.replay(ledger) as tape, pytest.raises(ReplayDivergence) as raised:
        await Runner.run(agent, "Stop.")
    error = raised.value
    assert (error.place, error.expected, error.got) == (
        "R0#0",
        [{"content": "Go.", "role": "user"}],
        [{"content": "Stop.", "role": "user"}],
    )
    assert str(error) == (
        "R0#0 (turn 1, agent Counter): the model's input, from item 0 on (1 recorded, 1 now), "
        "is not as recorded\n--- recorded\n+++ now\n@@ -1,5 +1,5 @@\n [\n   {\n"
        '-    content: "Go."\n+    content: "Stop."\n     role: "user"\n   }\n'
        "likely: the run was given another input, or a filter writes something that changes"
    )
    assert [entry.status for entry in tape.report.entries] == ["exact", "diverged"]
    assert DONE == []


async def test_other_instructions(three):
    """Changed instructions are a divergence of their own."""
    agent, _, ledger = three
    agent.instructions = "Count down."
    with itemtrace.replay(ledger), pytest.raises(ReplayDivergence) as raised:
        await Runner.run(agent, "Go.")
    assert raised.value.what == "the instructions"


@pytest.mark.parametrize("verify", ["log", "off"])
async def test_differences_that_are_let_through(three, verify):
    """`log` goes on and notes what differs, `off` does not look."""
    agent, _, ledger = three
    agent.instructions = "Count down."
    with itemtrace.replay(ledger, verify=verify) as tape:
        result = await Runner.run(agent, "Stop.")
    assert result.final_output == "Three."
    noted = [
        (found.place, found.what.split(",")[0]) for found in tape.report.divergences
    ]
    every = ("the model's input", "the instructions")
    expected = [(f"R0#{n}", what) for n in range(3) for what in every]
    assert noted == (expected if verify == "log" else [])
    assert len(tape.report.diverged) == (3 if verify == "log" else 0)


async def test_one_call_too_many(three):
    """A model call that the recording does not have is stopped whatever `verify` says."""
    agent, fake, ledger = three
    sent = len(fake.requests)
    with itemtrace.replay(ledger, verify="off"):
        await Runner.run(agent, "Go.")
        with pytest.raises(NotOnTape) as raised:
            await Runner.run(agent, "Go.")
    assert raised.value.place == "R1"
    assert len(fake.requests) == sent


async def test_an_approval_that_is_gone(provide, recorded):
    """A tool that waited for an approval and now does not is stopped before it runs."""

    @function_tool(needs_approval=True)
    async def pay() -> str:
        """Pays."""
        DONE.append("paid")
        return "paid"

    fake = provide({"m": [[function_call("pay", "call_1")]]})
    agent = Agent(name="Payer", model=fake.responses_model("m"), tools=[pay])
    await Runner.run(agent, "Pay.")
    itemtrace.uninstall()
    pay.needs_approval = False
    with itemtrace.replay(recorded.ledger()), pytest.raises(NotOnTape):
        await Runner.run(agent, "Pay.")
    assert DONE == []


async def test_a_nested_run_that_is_new(three):
    """A run that the code did not start before is stopped, and nothing swallows that."""
    agent, _, ledger = three

    @input_guardrail
    async def nosy(context, nobody, given):
        """Asks somebody who was not asked."""
        with contextlib.suppress(Exception):
            await Runner.run(Agent(name="Somebody"), "Who?")
        return GuardrailFunctionOutput(None, tripwire_triggered=False)

    agent.input_guardrails = [nosy]
    with itemtrace.replay(ledger), pytest.raises(NotOnTape) as raised:
        await Runner.run(agent, "Go.")
    assert "a run of Somebody" in str(raised.value)


async def test_a_divergence_in_a_stream(three):
    """A streamed run raises the divergence itself, from its events."""
    agent, _, ledger = three
    with itemtrace.replay(ledger):
        result = Runner.run_streamed(agent, "Stop.")
        with pytest.raises(ReplayDivergence):
            async for _ in result.stream_events():
                pass


async def test_unused_calls(three):
    """Calls that were recorded and not asked for are named."""
    _agent, _, ledger = three
    with itemtrace.replay(ledger) as tape:
        pass
    assert [str(entry) for entry in tape.report.unused] == ["run R0 (Counter) unused"]
    with pytest.raises(
        TapeUnused, match=r"1 recorded calls were not asked for:\n  run R0"
    ):
        tape.assert_complete()


@pytest.mark.parametrize("way", ["socket", "asyncio", "lookup"])
async def test_no_network_from_inside_a_run(way, three):
    """Code in a replayed run that opens a connection is stopped; outside of runs it may."""
    agent, fake, ledger = three
    port = int(fake.base_url.split(":")[2].split("/")[0])

    def reach():
        with socket.socket() as plain:
            plain.connect(("127.0.0.1", port))

    @input_guardrail
    async def chatty(context, nobody, given):
        """Opens a connection."""
        if way == "socket":
            reach()
        elif way == "asyncio":
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            await writer.wait_closed()
        else:
            socket.getaddrinfo("itemtrace.example", 443)
        return GuardrailFunctionOutput(None, tripwire_triggered=False)

    agent.input_guardrails = [chatty]
    with itemtrace.replay(ledger) as tape:
        reach()
        with pytest.raises(NetworkBlocked):
            await Runner.run(agent, "Go.")
    assert len(tape.report.network) == 1
    with itemtrace.replay(ledger, network=True) as tape:
        if way != "lookup":
            await Runner.run(agent, "Go.")
    assert tape.report.network == []


async def test_what_was_withheld(provide, recorded):
    """A run without content is refused with the reason."""
    fake = provide(SCRIPT)
    config = RunConfig(trace_include_sensitive_data=False)
    await Runner.run(counter(fake), "Go.", run_config=config)
    itemtrace.uninstall()
    with itemtrace.replay(recorded.ledger()), pytest.raises(ReplayGap) as raised:
        await Runner.run(counter(fake), "Go.")
    assert raised.value.place == "R0#0"


async def test_options_that_are_not_known(three):
    """Unknown options and empty ledgers are refused."""
    _, _, ledger = three
    with pytest.raises(ConfigError, match="expected one of raise, log, off"):
        itemtrace.replay(ledger, verify="maybe")
    with pytest.raises(ConfigError, match="no run to replay"):
        itemtrace.replay([])
    tape = itemtrace.replay(ledger)
    with tape, pytest.raises(ConfigError, match="playing already"):
        tape.start()
    tape.eject()


# --- what is real -----------------------------------------------------------------------


async def test_live_tools(three):
    """A recorded model with real tools: called once each, a new output is noted and let through."""
    agent, fake, ledger = three
    sent = len(fake.requests)

    @function_tool(name_override="count")
    async def wrong(start: int) -> int:
        """Counts wrong."""
        DONE.append(start)
        return start + 5

    agent.tools = [wrong]
    with itemtrace.replay(ledger, live_tools=["count"]) as tape:
        result = await Runner.run(agent, "Go.")
    assert DONE == [1, 2]
    assert [
        item.output for item in result.new_items if item.type == "tool_call_output_item"
    ] == [6, 7]
    assert len(fake.requests) == sent
    assert [entry.place for entry in tape.report.live] == [
        "R0 turn 1 call_1",
        "R0 turn 2 call_2",
    ]
    assert tape.report.divergences == []


@pytest.mark.parametrize("missing", ["raise", "error", "live"])
async def test_live_models(missing, provide, recorded):
    """A real model with recorded tools: found by name and arguments though the ids are new."""
    fake = provide(
        {
            "m": [
                [
                    function_call("count", "call_1", start=1),
                    function_call("count", "call_2", start=5),
                ],
                [message("Two and six.")],
                [
                    function_call("count", "call_x", start=5),
                    function_call("count", "call_y", start=1),
                ],
                [function_call("count", "call_z", start=9)],
                [message("Ten.")],
            ]
        }
    )
    agent = counter(fake)
    await Runner.run(agent, "Go.")
    itemtrace.uninstall()
    DONE.clear()
    with itemtrace.replay(recorded.ledger(), live_models=True, missing=missing) as tape:
        if missing == "raise":
            with pytest.raises(NotOnTape, match=r"count\("):
                await Runner.run(agent, "Go.")
            return
        result = await Runner.run(agent, "Go.")
    outputs = [i.output for i in result.new_items if i.type == "tool_call_output_item"]
    assert outputs[:2] == [6, 2]
    assert ([9] if missing == "live" else []) == DONE
    assert (outputs[2] == 10) == (missing == "live")
    assert len(tape.report.exact) == 3


async def test_fork(three):
    """Up to the fork nothing is done; from there on everything is real, with what was changed."""
    agent, fake, ledger = three
    sent = len(fake.requests)
    agent.instructions = "Count, in French."
    fake.script["m"][3:] = [
        [function_call("count", "call_9", start=9)],
        [message("Dix.")],
    ]
    with itemtrace.replay(ledger, until=2) as tape:
        result = await Runner.run(agent, "Go.")
    assert result.final_output == "Dix."
    assert DONE == [9]
    first, second = fake.requests[sent:]
    assert first["instructions"] == "Count, in French."
    assert [item["type"] for item in first["input"][1:]] == [
        "function_call", "function_call_output",
    ] * 2  # fmt: skip
    assert second["input"][-1]["output"] == "10"
    assert [str(entry) for entry in tape.report.live] == [
        "model call R0#2 (Counter) live",
        "tool call R0 call_9 (count) live",
        "model call R0#3 (Counter) live",
    ]
    assert len(tape.report.drift) == 2
    assert tape.report.unused == ()


async def test_one_agent_is_real(provide, recorded):
    """Only the model of one agent is called; the others answer from the tape."""
    fake = provide(
        {
            "outer": [[function_call("ask", "call_1", input="?")], [message("Done.")]],
            "inner": [[message("Old.", "msg_1")], [message("New.", "msg_2")]],
        }
    )
    inner = Agent(name="Inner", model=fake.responses_model("inner"))
    outer = Agent(
        name="Outer",
        model=fake.responses_model("outer"),
        tools=[inner.as_tool("ask", "Asks.")],
    )
    await Runner.run(outer, "Go.")
    itemtrace.uninstall()
    with itemtrace.replay(
        recorded.ledger(), live_models=["Inner"], verify="log"
    ) as tape:
        await Runner.run(outer, "Go.")
    assert [request["model"] for request in fake.requests] == [
        "outer",
        "inner",
        "outer",
        "inner",
    ]
    assert [str(entry) for entry in tape.report.live] == [
        "model call R0/call_1#0 (Inner) live"
    ]
    assert "the tool's output" in {found.what for found in tape.report.divergences}


async def test_resumed_for_real(provide, recorded):
    """A run is driven to its interruption from the tape, and goes on for real after it."""

    @function_tool(needs_approval=True)
    async def pay() -> str:
        """Pays."""
        DONE.append("paid")
        return "paid"

    fake = provide({"m": [[function_call("pay", "call_1")], [message("Paid.")]]})
    agent = Agent(name="Payer", model=fake.responses_model("m"), tools=[pay])
    await Runner.run(agent, "Pay.")
    itemtrace.uninstall()
    with itemtrace.replay(recorded.ledger()):
        paused = await Runner.run(agent, "Pay.")
    state = paused.to_state()
    state.approve(state.get_interruptions()[0])
    result = await Runner.run(agent, state)
    assert (result.final_output, DONE, len(fake.requests)) == ("Paid.", ["paid"], 2)


async def test_no_decision_on_the_tape(provide, recorded):
    """Where nobody decided, the tape says so."""

    @function_tool(needs_approval=True)
    async def pay() -> str:
        """Pays."""
        return "paid"

    fake = provide({"m": [[function_call("pay", "call_1")]]})
    agent = Agent(name="Payer", model=fake.responses_model("m"), tools=[pay])
    await Runner.run(agent, "Pay.")
    itemtrace.uninstall()
    with itemtrace.replay(recorded.ledger()) as tape:
        paused = await Runner.run(agent, "Pay.")
        with pytest.raises(itemtrace.ItemTraceError, match="call_1"):
            tape.decide(paused)


async def test_recorded_guardrails(provide, recorded):
    """Guardrails answer from the tape where that is asked for, and the runs in them are skipped."""
    fake = provide({"m": [[message("Water.")]], "judge": [[message("fine")]]})
    judge = Agent(name="Judge", model=fake.responses_model("judge"))

    @input_guardrail
    async def judged(context, nobody, given):
        """Asks a judge."""
        DONE.append("judged")
        verdict = await Runner.run(judge, given)
        return GuardrailFunctionOutput(verdict.final_output, tripwire_triggered=False)

    agent = Agent(
        name="Waiter", model=fake.responses_model("m"), input_guardrails=[judged]
    )
    await Runner.run(agent, "A drink?")
    itemtrace.uninstall()
    DONE.clear()
    with itemtrace.replay(recorded.ledger(), guardrails="recorded"):
        result = await Runner.run(agent, "A drink?")
    (found,) = result.input_guardrail_results
    assert (found.output.output_info, DONE) == ("fine", [])
