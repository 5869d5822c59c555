"""Guardrails that pass, trip, reject and raise, plain and streamed."""

import asyncio

import pytest
from agents import (
    Agent,
    AgentsException,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    OutputGuardrailTripwireTriggered,
    RunHooks,
    Runner,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrailTripwireTriggered,
    function_tool,
    input_guardrail,
    output_guardrail,
    tool_input_guardrail,
    tool_output_guardrail,
)

from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.provider import Step


async def plain(agent, given, **more):
    """The result of a run, or what it raised."""
    try:
        return await Runner.run(agent, given, **more)
    except (AgentsException, ZeroDivisionError) as error:
        return error


async def streamed(agent, given, **more):
    """The same, streamed."""
    result = Runner.run_streamed(agent, given, **more)
    try:
        async for _ in result.stream_events():
            pass
    except (AgentsException, ZeroDivisionError) as error:
        return error
    return result


WAYS = pytest.mark.parametrize("way", [plain, streamed])


class Answered(RunHooks):
    """Tells when the model has answered."""

    def __init__(self):
        self.event = asyncio.Event()

    async def on_llm_end(self, context, agent, response):
        """It has."""
        self.event.set()


async def at_once():
    """Waits for nothing."""


def guard(until=at_once, **options):
    """An input guardrail that trips on the word wine, when something has happened."""

    async def no_wine(context, agent, given):
        await until()
        return GuardrailFunctionOutput({"read": True}, "wine" in str(given))

    return input_guardrail(name="no_wine", **options)(no_wine)


@output_guardrail
async def short(context, agent, output):
    """Trips on long answers."""
    return GuardrailFunctionOutput({"length": len(output)}, len(output) > 20)


@WAYS
async def test_guardrails_that_pass(way, provide, proved, recorded):
    """What guardrails found is kept, not only whether they tripped."""
    fake = provide({"m": [[message("Water.")]]})
    agent = Agent(
        name="Waiter",
        model=fake.responses_model("m"),
        input_guardrails=[guard()],
        output_guardrails=[short],
    )
    (run,) = proved(await way(agent, "A drink?"))
    (before,), (after,) = run.input_guardrail_results, run.output_guardrail_results
    assert (before.name, before.output_info, before.tripwire) == (
        "no_wine",
        {"read": True},
        False,
    )
    assert (after.output_info, after.agent_output) == ({"length": 6}, "Water.")
    names = [row.name for row in recorded.rows()]
    assert names.count("guardrail no_wine") == 1


@WAYS
@pytest.mark.parametrize("parallel", [True, False])
async def test_input_tripwire(way, parallel, provide, proved):
    """A tripwire fails the run; a response that came meanwhile stays in the ledger."""
    hooks = Answered()
    fake = provide({"m": [[message("A fine red.")]]})
    agent = Agent(
        name="Waiter",
        model=fake.responses_model("m"),
        input_guardrails=[
            guard(hooks.event.wait if parallel else at_once, run_in_parallel=parallel)
        ],
    )
    error = await way(agent, "wine!", hooks=hooks)
    assert isinstance(error, InputGuardrailTripwireTriggered)
    (run,) = proved(error)
    assert run.status == "failed"
    assert len(run.model_calls) == (1 if parallel else 0)
    if parallel:
        assert run.model_calls[0].response.items[0].text == "A fine red."


async def test_input_tripwire_during_the_call(provide, proved):
    """A tripwire that ends the model call while it works leaves a call without answer."""
    fake = provide({"m": [Step([message("A fine red.")], delay=30.0)]})

    async def asked():
        while not fake.requests:  # noqa: ASYNC110 - the server is in other threads
            await asyncio.sleep(0.01)

    agent = Agent(
        name="Waiter",
        model=fake.responses_model("m"),
        input_guardrails=[guard(asked)],
    )
    error = await plain(agent, "wine!")
    assert isinstance(error, InputGuardrailTripwireTriggered)
    await asyncio.sleep(0.05)
    (run,) = proved(error)
    assert [call.response for call in run.model_calls] == [None]


@WAYS
async def test_output_tripwire(way, provide, proved):
    """An answer that trips its guardrail is kept as the response that it was."""
    text = "A very long answer about wine."
    fake = provide({"m": [[reasoning("rs_1", "gAAAA-x"), message(text)]]})
    agent = Agent(
        name="Waiter", model=fake.responses_model("m"), output_guardrails=[short]
    )
    error = await way(agent, "A drink?")
    assert isinstance(error, OutputGuardrailTripwireTriggered)
    (run,) = proved(error)
    assert run.model_calls[0].response.items[1].text == text
    assert run.status == "failed"


@tool_input_guardrail
def only_tables(data):
    """Rejects other tables than 1 to 9, and raises at table 13."""
    if '"table":13' in data.context.tool_arguments:
        return ToolGuardrailFunctionOutput.raise_exception({"table": 13})
    if '"table":0' in data.context.tool_arguments:
        return ToolGuardrailFunctionOutput.reject_content("no such table", {"table": 0})
    return ToolGuardrailFunctionOutput.allow({"checked": True})


@tool_output_guardrail
def no_names(data):
    """Replaces an output with a name in it, and raises at a curse."""
    if "Satan" in str(data.output):
        return ToolGuardrailFunctionOutput.raise_exception({"curse": True})
    if "Eva" in str(data.output):
        return ToolGuardrailFunctionOutput.reject_content("somebody", {"names": 1})
    return ToolGuardrailFunctionOutput.allow()


GUESTS = {1: "Eva", 2: "two strangers", 6: "Satan"}


@function_tool(tool_input_guardrails=[only_tables], tool_output_guardrails=[no_names])
async def who_sits(table: int) -> str:
    """Says who sits at a table."""
    return GUESTS[table]


@WAYS
async def test_tool_guardrails(way, provide, proved):
    """Rejected arguments, a replaced output and an allowed call, each with its finding."""
    calls = [function_call("who_sits", f"call_{n}", table=n) for n in (0, 1, 2)]
    fake = provide({"m": [calls, [message("Somebody and two strangers.")]]})
    agent = Agent(name="Waiter", model=fake.responses_model("m"), tools=[who_sits])
    (run,) = proved(await way(agent, "Who is there?"))
    outputs = {call.call_id: call.output.raw["output"] for call in run.tool_calls}
    assert outputs == {
        "call_0": "no such table",
        "call_1": "somebody",
        "call_2": "two strangers",
    }
    found = [each.behavior["type"] for each in run.tool_input_guardrail_results]
    assert sorted(found) == ["allow", "allow", "reject_content"]
    infos = [each.output_info for each in run.tool_output_guardrail_results]
    assert {"names": 1} in infos


@WAYS
@pytest.mark.parametrize(
    ("table", "error"),
    [
        (13, ToolInputGuardrailTripwireTriggered),
        (6, ToolOutputGuardrailTripwireTriggered),
    ],
)
async def test_tool_guardrail_raises(way, table, error, provide, proved):
    """A tool guardrail that raises fails the run; the call is there without output."""
    fake = provide({"m": [[function_call("who_sits", "call_1", table=table)]]})
    agent = Agent(name="Waiter", model=fake.responses_model("m"), tools=[who_sits])
    raised = await way(agent, "Who is there?")
    assert isinstance(raised, error)
    (run,) = proved(raised)
    (call,) = run.tool_calls
    assert call.call_id == "call_1"
    assert call.output is None


async def test_guardrail_raises(provide, proved):
    """A guardrail with a fault of its own fails the run as without itemtrace."""

    @input_guardrail
    async def broken(context, agent, given):
        """Divides."""
        return GuardrailFunctionOutput(1 // 0, tripwire_triggered=False)

    fake = provide({"m": [[message("Water.")]]})
    agent = Agent(
        name="Waiter", model=fake.responses_model("m"), input_guardrails=[broken]
    )
    error = await plain(agent, "A drink?")
    assert isinstance(error, ZeroDivisionError)
    (run,) = proved(error)
    assert run.status == "failed"


@WAYS
async def test_run_inside_a_guardrail(way, provide, proved):
    """A run that a guardrail makes is nested, and says where it was started."""
    fake = provide({"m": [[message("Water.")]], "judge": [[message("fine")]]})
    judge = Agent(name="Judge", model=fake.responses_model("judge"))
    verdicts = []

    @input_guardrail
    async def judged(context, agent, given):
        """Asks a judge."""
        verdicts.append(await Runner.run(judge, given))
        return GuardrailFunctionOutput(
            verdicts[0].final_output, tripwire_triggered=False
        )

    agent = Agent(
        name="Waiter", model=fake.responses_model("m"), input_guardrails=[judged]
    )
    (run,) = proved(await way(agent, "A drink?"))
    (nested,) = run.runs
    assert (nested.agent, nested.final_output) == ("Judge", "fine")
    assert nested.parent_call_id is None
    assert nested.begin["parent"]["span"] == "guardrail"
    assert nested.to_input_list() == verdicts[0].to_input_list()
