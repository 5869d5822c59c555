"""The edges of a replay: real streams, renamed agents, what is redacted, what somebody else swallowed."""

import asyncio
import contextlib
from typing import Any

import pytest
from agents import (
    Agent,
    ApplyPatchTool,
    ComputerTool,
    GuardrailFunctionOutput,
    HandoffInputData,
    HostedMCPTool,
    RunConfig,
    RunHooks,
    Runner,
    ToolGuardrailFunctionOutput,
    function_tool,
    handoff,
    input_guardrail,
    output_guardrail,
    tool_input_guardrail,
)
from openai import RateLimitError
from tests.integration.replay.conftest import ended
from tests.integration.replay.test_native_tools import DONE as SHOTS
from tests.integration.replay.test_native_tools import Screen
from tests.integration.situations.test_hooks_and_servers import Harbour

import itemtrace
from itemtrace.errors import NotOnTape, ReplayDivergence, ReplayError, ReplayGap
from itemtrace.replay import frame
from itemtrace.replay.frame import FRAME
from itemtrace.testing import truth
from itemtrace.testing.items import (
    apply_patch_call,
    function_call,
    mcp_approval_request,
    message,
)
from itemtrace.testing.provider import Step


DONE: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_done():
    """Each test starts with nothing done."""
    DONE.clear()
    SHOTS.clear()


@function_tool
async def count(start: int) -> int:
    """Counts on."""
    DONE.append(start)
    return start + 1


TURNS = [[function_call("count", "call_1", start=1)], [message("Two.")]]


def counter(fake, **more):
    """The agent of this file."""
    fields = {"name": "Counter", "tools": [count], **more}
    return Agent(model=fake.responses_model("m"), **fields)


@pytest.fixture
def taped(provide, recorded):
    """Records a run of an agent and returns its ledger; nothing is recorded any more."""

    async def record(agent, given="Go.", **more):
        await ended(agent, given, **more)
        itemtrace.uninstall()
        DONE.clear()
        return recorded.ledger()

    return record


# --- real models and tools -----------------------------------------------------------


async def test_a_stream_forks(provide, taped):
    """A streamed run goes on with the stream of the real model."""
    fake = provide({"m": [*TURNS, [message("Deux.", "msg_2")]]})
    agent = counter(fake)
    ledger = await taped(agent)
    with itemtrace.replay(ledger, until="R0#1") as tape:
        result = await ended(agent, "Go.", streamed=True)
    assert (result.final_output, DONE) == ("Deux.", [])
    assert len(tape.report.live) == 1


async def test_the_models_of_the_configuration(provide, taped):
    """A real call goes where the caller's configuration says: a name for a provider, or a model."""
    fake = provide(
        {
            "m": TURNS,
            "named": [[message("By name.", "msg_2")]],
            "given": [[message("Given.", "msg_3")]],
        }
    )
    agent = counter(fake)
    ledger = await taped(agent)
    by_name: Any = {"model": "named", "model_provider": fake.models()}
    with itemtrace.replay(ledger, until=1):
        assert (
            await Runner.run(agent, "Go.", run_config=by_name)
        ).final_output == "By name."
    given = RunConfig(model=fake.responses_model("given"))
    with itemtrace.replay(ledger, until=1):
        assert (
            await Runner.run(agent, "Go.", run_config=given)
        ).final_output == "Given."
    agent.model = None
    with itemtrace.replay(ledger, until=1), pytest.raises(Exception, match="default"):
        await Runner.run(
            agent, "Go.", run_config=RunConfig(model_provider=fake.models())
        )


async def test_the_first_of_two_agents_is_real(provide, taped):
    """Calls of the recorded agent are found by their number among its own."""
    fake = provide(
        {
            "a": [
                [function_call("transfer_to_b", "call_1")],
                [function_call("transfer_to_b", "call_2")],
            ],
            "b": [[message("Done.")]],
        }
    )
    b = Agent(name="B", model=fake.responses_model("b"))
    a = Agent(name="A", model=fake.responses_model("a"), handoffs=[b])
    ledger = await taped(a)
    with itemtrace.replay(ledger, live_models=["A"], verify="log") as tape:
        result = await Runner.run(a, "Go.")
    assert result.final_output == "Done."
    assert [str(entry) for entry in tape.report.live] == ["model call R0#0 (A) live"]
    assert "R0#1" in [
        entry.place for entry in (*tape.report.exact, *tape.report.diverged)
    ]


async def test_runs_in_a_tool_that_is_real(provide, taped):
    """A plain tool that starts runs is served by its output, or runs on recorded runs if it is real."""
    fake = provide(
        {
            "m": [[function_call("ask", "call_1")], [message("Done.")]],
            "i": [[message("in")]],
        }
    )
    inner = Agent(name="Inner", model=fake.responses_model("i"))

    @function_tool
    async def ask() -> str:
        """Asks."""
        DONE.append("asked")
        return (await Runner.run(inner, "?")).final_output

    agent = counter(fake, tools=[ask])
    ledger = await taped(agent)
    with itemtrace.replay(ledger) as tape:
        await Runner.run(agent, "Go.")
    assert (DONE, tape.report.clean) == ([], True)
    with itemtrace.replay(ledger, live_tools=True) as tape:
        await Runner.run(agent, "Go.")
    assert (DONE, [e.name for e in tape.report.live]) == (["asked"], ["ask"])
    assert ("run", "R0/call_1") in [(e.kind, e.place) for e in tape.report.exact]


async def test_runs_that_the_tape_has_not_are_real_with_real_models(provide, taped):
    """Where all models are real, runs that were not recorded are too."""
    fake = provide(
        {
            "m": [
                [message("One.")],
                [message("Two.", "msg_2")],
                [message("Three.", "msg_3")],
            ]
        }
    )
    agent = counter(fake)
    ledger = await taped(agent)
    with itemtrace.replay(ledger, live_models=True) as tape:
        await Runner.run(agent, "Go.")
        result = await Runner.run(agent, "Again.")
    assert result.final_output == "Three."
    assert [str(e) for e in tape.report.live][-2:] == [
        "run live (Counter) live",
        "model call live#0 (Counter) live",
    ]


@pytest.mark.parametrize("until", [None, 1])
async def test_mcp_tools(until, provide, taped):
    """A tool that is known from the tape only cannot be called for real; after a fork servers are asked."""
    fake = provide(
        {
            "m": [
                [function_call("tide", "call_1", at="noon")],
                [function_call("tide", "call_2", at="noon")],
                [message("High.")],
                [function_call("tide", "call_3", at="noon")],
                [function_call("tide", "call_4", at="never")],
                [message("Low.", "msg_2")],
            ]
        }
    )
    server = Harbour()
    agent = counter(fake, tools=[], mcp_servers=[server])
    ledger = await taped(agent)
    asked = len(server.calls)
    if until:
        fake.script["m"][4:5] = []  # the fork's first real answer is call_3
        with itemtrace.replay(ledger, until=until):
            result = await Runner.run(agent, "Go.")
        assert (result.final_output, len(server.calls)) == ("Low.", asked + 1)
        return
    with (
        itemtrace.replay(ledger, live_models=True, missing="live"),
        pytest.raises(NotOnTape, match="tide"),
    ):
        await Runner.run(agent, "Go.")
    assert len(server.calls) == asked


# --- divergences ------------------------------------------------------------------------


async def test_a_renamed_agent(provide, taped):
    """A renamed agent is a divergence at its run, and at each of its calls where that is let through."""
    fake = provide({"m": TURNS})
    ledger = await taped(counter(fake))
    renamed = counter(fake, name="Teller")
    with (
        itemtrace.replay(ledger),
        pytest.raises(ReplayDivergence, match="the agent was renamed"),
    ):
        await Runner.run(renamed, "Go.")
    with itemtrace.replay(ledger, verify="log") as tape:
        await Runner.run(renamed, "Go.")
    assert [(d.place, d.what) for d in tape.report.divergences] == [
        ("R0", "the agent"),
        ("R0#0", "the agent"),
        ("R0#1", "the agent"),
    ]


async def test_more_and_less_input(provide, taped):
    """A filter that adds or drops is told from one that changes."""
    fake = provide({"m": TURNS})
    ledger = await taped(counter(fake))

    def replayed(change):
        def edit(data):
            data.model_data.input = change(data.model_data.input)
            return data.model_data

        return ended_with(ledger, fake, RunConfig(call_model_input_filter=edit))

    more = await replayed(lambda items: [*items, {"role": "user", "content": "!"}])
    assert (
        more.cause
        == "a filter, a session or a handoff gives the model more than it did"
    )
    less = await replayed(lambda items: items[:1])
    assert (
        less.cause
        == "a filter, a session or a handoff gives the model less than it did"
    )
    other = await replayed(
        lambda items: (
            [items[0], {**items[1], "name": "other"}, *items[2:]]
            if len(items) > 1
            else items
        )
    )
    assert (
        other.cause
        == "an input filter, a handoff filter or the history is not what it was"
    )


async def ended_with(ledger, fake, config):
    """What a replay with another configuration raises."""
    with itemtrace.replay(ledger):
        return await ended(counter(fake), "Go.", run_config=config)


async def test_a_model_call_too_many(provide, taped):
    """A run that goes on after its recording ended is stopped."""
    fake = provide(
        {
            "m": [
                [function_call("count", "call_1", start=1)],
                Step(status=500, error="no"),
            ]
        }
    )
    ledger = await taped(counter(fake), max_turns=1)

    with (
        itemtrace.replay(ledger),
        pytest.raises(NotOnTape, match="1 model calls and was then failed"),
    ):
        await Runner.run(counter(fake), "Go.", max_turns=3)


async def test_ids_that_a_real_model_uses_again(provide, taped):
    """A real model's call is found by what it asks, also where its id is one of the recording."""
    fake = provide(
        {
            "m": [
                [
                    function_call("count", "call_1", start=1),
                    function_call("count", "call_2", start=5),
                ],
                [message("Done.")],
                [
                    function_call("count", "call_2", start=1),
                    function_call("count", "call_1", start=5),
                ],
                [message("Done.", "msg_2")],
            ]
        }
    )
    agent = counter(fake)
    ledger = await taped(agent)
    with itemtrace.replay(ledger, live_models=True):
        result = await Runner.run(agent, "Go.")
    outputs = [
        item.output for item in result.new_items if item.type == "tool_call_output_item"
    ]
    assert (outputs, DONE) == ([2, 6], [])


async def test_what_a_tool_swallows_comes_up_again(provide, taped):
    """A divergence under an agent that is a tool, whose errors become text, still ends the run."""
    fake = provide(
        {
            "m": [[function_call("ask", "call_1", input="?")], [message("Done.")]],
            "i": [[message("in")]],
        }
    )
    inner = Agent(name="Inner", model=fake.responses_model("i"), instructions="A.")
    agent = counter(fake, tools=[inner.as_tool("ask", "Asks.")])
    ledger = await taped(agent)
    inner.instructions = "B."
    with itemtrace.replay(ledger), pytest.raises(ReplayDivergence) as raised:
        await Runner.run(agent, "Go.")
    assert raised.value.place == "R0/call_1#0"


async def test_swallowed_to_the_end(provide, taped):
    """Even where the application swallows it after the last model call, the run raises it."""
    fake = provide({"m": [[message("Two.")]]})
    agent = counter(fake)
    ledger = await taped(agent)

    class Nosy(RunHooks):
        async def on_agent_end(self, context, agent, output):
            """Asks somebody who was not asked, and does not care."""
            with contextlib.suppress(NotOnTape):
                await Runner.run(Agent(name="Somebody"), "Who?")

    with itemtrace.replay(ledger), pytest.raises(NotOnTape):
        await Runner.run(agent, "Go.", hooks=Nosy())
    tape = itemtrace.replay(ledger).start()
    result = await ended(agent, "Go.", streamed=True, hooks=Nosy())
    assert result.final_output == "Two."
    tape.eject()
    with pytest.raises(NotOnTape):
        tape.raise_pending()


# --- gaps -----------------------------------------------------------------------------------


async def test_redacted_content(provide, recorded):
    """What a redaction changed is refused, or served as it is where differences are let through."""

    def hide(item):
        return {**item, "output": "[hidden]"} if "output" in item else item

    itemtrace.uninstall()
    itemtrace.install(tracer_provider=recorded.provider, redact=[hide])
    fake = provide({"m": TURNS})
    agent = counter(fake)
    await Runner.run(agent, "Go.")
    itemtrace.uninstall()
    ledger = recorded.ledger()
    with (
        itemtrace.replay(ledger),
        pytest.raises(ReplayGap, match="a redaction changed it"),
    ):
        await Runner.run(agent, "Go.")
    with itemtrace.replay(ledger, verify="log"):
        result = await Runner.run(agent, "Go.")
    assert result.new_items[1].output == "[hidden]"


async def test_redacted_response(provide, recorded):
    """So is a response."""

    def hide(item):
        return {**item, "content": []} if item.get("type") == "message" else item

    itemtrace.uninstall()
    itemtrace.install(tracer_provider=recorded.provider, redact=[hide])
    fake = provide({"m": TURNS})
    agent = counter(fake)
    await Runner.run(agent, "Go.")
    itemtrace.uninstall()
    with (
        itemtrace.replay(recorded.ledger()),
        pytest.raises(ReplayGap, match="this response"),
    ):
        await Runner.run(agent, "Go.")


async def test_a_call_that_was_cancelled(provide, recorded, monkeypatch):
    """Where a recorded call never ended, the replay waits for what ended it, and then says so."""
    monkeypatch.setattr(frame, "PATIENCE", 0.01)
    fake = provide({"m": [Step([message("Late.")], delay=30)]})
    agent = counter(fake)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(Runner.run(agent, "Go."), 0.3)
    itemtrace.uninstall()
    with (
        itemtrace.replay(recorded.ledger()),
        pytest.raises(ReplayGap, match="cancelled before it ended"),
    ):
        await Runner.run(agent, "Go.")


async def test_a_tool_that_was_cancelled(provide, recorded, monkeypatch):
    """So does a tool."""
    monkeypatch.setattr(frame, "PATIENCE", 0.01)

    @function_tool
    async def wait() -> str:
        """Waits."""
        await asyncio.sleep(30)
        return "never"

    fake = provide({"m": [[function_call("wait", "call_1")]]})
    agent = counter(fake, tools=[wait])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(Runner.run(agent, "Go."), 0.5)
    itemtrace.uninstall()
    with (
        itemtrace.replay(recorded.ledger()),
        pytest.raises(ReplayGap, match="it was cancelled"),
    ):
        await Runner.run(agent, "Go.")


async def test_order_that_does_not_come(provide, taped):
    """A call that waits for one that does not come goes on after a while, and that is noted."""

    @function_tool
    async def wait(seconds: float) -> str:
        """Waits."""
        await asyncio.sleep(seconds)
        return "waited"

    quick, slow = (function_call("wait", f"call_{s}", seconds=s) for s in (0.0, 0.05))
    fake = provide({"m": [[slow, quick], [message("Done.")]]})
    agent = counter(fake, tools=[wait])
    ledger = await taped(agent)
    tape = itemtrace.replay(ledger)

    class Impatient(RunHooks):
        async def on_tool_start(self, context, agent, tool):
            """Holds the quick call back until the slow one has lost its patience."""
            FRAME.get().turnstile._patience = 0.01
            if context.tool_call_id == "call_0.0":
                await asyncio.sleep(0.1)

    with tape:
        await Runner.run(agent, "Go.", hooks=Impatient())
    assert [line.split(":")[0] for line in tape.report.drift] == ["R0 turn 1 call_0.05"]


# --- guardrails from the tape ---------------------------------------------------------------


async def test_every_guardrail_from_the_tape(provide, taped):
    """Guardrails on inputs, outputs and tools answer as recorded and do not run."""

    @input_guardrail
    async def before(context, agent, given):
        DONE.append("before")
        return GuardrailFunctionOutput({"b": 1}, tripwire_triggered=False)

    @output_guardrail
    async def after(context, agent, output):
        DONE.append("after")
        return GuardrailFunctionOutput({"a": 1}, tripwire_triggered=False)

    @tool_input_guardrail
    def first(data):
        DONE.append("first")
        return ToolGuardrailFunctionOutput.allow({"f": 1})

    @function_tool(tool_input_guardrails=[first])
    async def check(start: int) -> int:
        """Counts on."""
        return start + 1

    fake = provide(
        {"m": [[function_call("check", "call_1", start=1)], [message("Two.")]]}
    )
    agent = counter(
        fake, tools=[check], input_guardrails=[before], output_guardrails=[after]
    )
    ledger = await taped(agent)
    with itemtrace.replay(ledger, guardrails="recorded") as tape:
        result = await Runner.run(agent, "Go.")
    assert DONE == []
    assert truth.differences(ledger.runs[0], result) == []
    assert tape.report.clean


# --- all runs of a tape ------------------------------------------------------------------


async def test_again(provide, taped):
    """`tape.again` plays what ended well and what failed; what the program raises itself is told."""
    fake = provide({"m": [[function_call("count", "call_1", start=1)]]})
    agent = counter(fake)
    ledger = await taped(agent, max_turns=1)
    results = await itemtrace.replay(ledger).again(agent)
    assert type(results[0]).__name__ == "MaxTurnsExceeded"

    def broken(context, nobody):
        raise ZeroDivisionError("a bug")

    agent.instructions = broken
    with pytest.raises(
        ReplayError, match="the program raised ZeroDivisionError: a bug"
    ):
        await itemtrace.replay(ledger).again(agent)


async def test_again_stops_after_a_fork(provide, taped, recorded):
    """After a fork there is nothing left to play."""
    fake = provide({"m": [*TURNS, [message("Deux.", "msg_2")]]})
    agent = counter(fake)
    ledger = await taped(agent, streamed=True)
    results = await itemtrace.replay([*ledger.runs, *ledger.runs], until=1).again(agent)
    assert [result.final_output for result in results] == ["Deux."]


# --- what is real after a fork, and what is not ------------------------------------------


def patch_of(path):
    """A call that changes a file."""
    return apply_patch_call(f"call_{path}", path, "@@")


class Files:
    """An editor that notes what it changes."""

    def update_file(self, operation):
        """Noted."""
        DONE.append(operation.path)


async def test_calls_without_an_id_after_a_fork(provide, taped):
    """A tool that is told no call id serves the calls before a fork, and acts after it."""
    fake = provide(
        {
            "m": [
                [patch_of("one")],
                [patch_of("two")],
                [message("Done.")],
                [patch_of("three")],
                [message("Done.", "msg_2")],
            ]
        },
        strict=False,
    )
    agent = counter(fake, tools=[ApplyPatchTool(editor=Files())])
    ledger = await taped(agent)
    with itemtrace.replay(ledger, until=1):
        await Runner.run(agent, "Go.")
    assert DONE == ["three"]


async def test_a_computer_stays_as_it_is(provide, taped):
    """A computer cannot become real in the middle; it can be real from the start."""
    call = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "call_cu",
        "status": "completed",
        "pending_safety_checks": [],
        "actions": [{"type": "screenshot"}],
    }
    again = {**call, "id": "cu_2", "call_id": "call_cu_2"}
    fake = provide(
        {"m": [[call], [message("Done.")], [again], [message("Done.", "m_2")]]},
        strict=False,
    )
    agent = counter(fake, tools=[ComputerTool(computer=Screen())])
    ledger = await taped(agent)
    SHOTS.clear()
    with (
        itemtrace.replay(ledger, until=1),
        pytest.raises(NotOnTape, match="name it in live_tools"),
    ):
        await Runner.run(agent, "Go.")
    with itemtrace.replay(ledger, live_tools=["computer_use_preview"]):
        await Runner.run(agent, "Go.")
    assert SHOTS == ["screenshot"]


async def test_an_mcp_approval_that_is_new(provide, taped):
    """An approval that the application gives now and did not give before is stopped; after a fork it is asked."""

    def approve(request):
        DONE.append(request.data.name)
        return {"approve": True}

    config: Any = {
        "type": "mcp",
        "server_label": "h",
        "server_url": "https://mcp.example",
    }
    asked = [mcp_approval_request("mcpr_1", "h", "open_lock")]
    more = [mcp_approval_request("mcpr_2", "h", "close")]
    fake = provide({"m": [asked, more, [message("Done.")]]}, strict=False)
    agent = counter(fake, tools=[HostedMCPTool(tool_config=config)])
    ledger = await taped(agent)
    assert ledger.runs[0].status == "interrupted"
    agent.tools = [HostedMCPTool(tool_config=config, on_approval_request=approve)]
    with itemtrace.replay(ledger), pytest.raises(NotOnTape, match="an MCP approval"):
        await Runner.run(agent, "Go.")
    assert DONE == []
    with itemtrace.replay(ledger, until=0):
        await ended(agent, "Go.")
    assert DONE == ["close"]


async def test_a_policy_is_asked_for_real_calls(provide, taped):
    """Who must approve a call is recorded; for a call that was not recorded the policy is asked."""

    async def policy(context, arguments, call_id):
        DONE.append(call_id)
        return False

    @function_tool(needs_approval=policy)
    async def pay(amount: int) -> str:
        """Pays."""
        return f"paid {amount}"

    def answers(start):
        return [
            [function_call("pay", f"call_{start}", amount=start)],
            [message("Done.", f"m_{start}")],
        ]

    fake = provide({"m": [*answers(1), *answers(2)]})
    agent = counter(fake, tools=[pay])
    ledger = await taped(agent)
    with itemtrace.replay(ledger):
        await Runner.run(agent, "Go.")
    assert DONE == []
    with itemtrace.replay(ledger, until=0):
        await Runner.run(agent, "Go.")
    assert DONE == ["call_2"]


async def test_an_input_that_a_handoff_rewrote(provide, taped):
    """The result's input is taken for what the run was given, by position and by name."""

    def short(data):
        return HandoffInputData("Rewritten.", (), ())

    fake = provide(
        {"a": [[function_call("transfer_to_b", "call_1")]], "b": [[message("Done.")]]}
    )
    b = Agent(name="B", model=fake.responses_model("b"))
    a = Agent(
        name="A",
        model=fake.responses_model("a"),
        handoffs=[handoff(b, input_filter=short)],
    )
    ledger = await taped(a)
    run = ledger.runs[0]
    assert (run.given_input, run.input) == ("Go.", "Rewritten.")
    with itemtrace.replay(ledger) as tape:
        await Runner.run(a, run.input)
    assert tape.report.clean
    with itemtrace.replay(ledger) as tape:
        await Runner.run(starting_agent=a, input=run.input)
    assert tape.report.clean


async def test_a_provider_s_code(provide, taped):
    """An error that is recorded by its provider's code comes back as the class that it had."""
    fake = provide({"m": [Step(status=429, error="slow down")]})
    agent = counter(fake)
    ledger = await taped(agent)
    with itemtrace.replay(ledger), pytest.raises(RateLimitError, match="slow down"):
        await Runner.run(agent, "Go.")
