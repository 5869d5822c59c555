"""Runs that fail: HTTP errors, too many turns, unknown tools, cut and incomplete responses."""

from typing import Any

import pytest
from agents import (
    Agent,
    AgentsException,
    MaxTurnsExceeded,
    ModelBehaviorError,
    RunHooks,
    Runner,
    function_tool,
)
from openai import APIStatusError, BadRequestError, OpenAIError

import itemtrace
from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.provider import Step


@function_tool
async def dig(depth: int) -> str:
    """Digs."""
    return f"{depth} m of sand"


def digger(fake, model="m", **more):
    """The agent of this file."""
    return Agent(name="Digger", model=fake.responses_model(model), tools=[dig], **more)


async def plain(agent, given="Dig.", **more):
    """Runs it and returns the result, or what was raised."""
    try:
        return await Runner.run(agent, given, **more)
    except (AgentsException, OpenAIError) as error:
        return error


async def streamed(agent, given="Dig.", **more):
    """The same, streamed; returns the result even where it raised, and what it raised."""
    result = Runner.run_streamed(agent, given, **more)
    try:
        async for _ in result.stream_events():
            pass
    except (AgentsException, OpenAIError) as error:
        return error
    return result


WAYS = pytest.mark.parametrize("way", [plain, streamed])
TURN = [function_call("dig", "call_1", depth=1)]


@WAYS
async def test_http_error_in_turn_2(way, provide, proved, recorded):
    """An HTTP error loses turn 1 in the SDK's exception; the ledger has it, and the error."""
    fake = provide({"m": [TURN, Step(status=500, error="the drill broke")]})
    error = await way(digger(fake))
    assert isinstance(error, APIStatusError)
    (run,) = proved(error)
    assert run.status == "failed"
    assert "the drill broke" in run.error.message
    first, second = run.model_calls
    assert [item.raw["call_id"] for item in first.response.items] == ["call_1"]
    assert second.response is None
    assert second.error.data["error"] or second.error.message
    assert len(second.input) == 3
    (call,) = run.tool_calls
    assert (call.status, call.output.output) == ("completed", "1 m of sand")
    names = {row.name for row in recorded.rows() if row.status == "ERROR"}
    assert "chat m" in names


@WAYS
async def test_http_error_in_turn_1(way, provide, proved):
    """A refused first call is a call without answer, not an empty answer."""
    fake = provide({"m": [Step(status=400, error="no such model")]})
    error = await way(digger(fake))
    assert isinstance(error, BadRequestError)
    (run,) = proved(error)
    assert [call.response for call in run.model_calls] == [None]
    assert run.items == ()


@WAYS
async def test_max_turns(way, provide, proved):
    """Too many turns end the run with all that was done."""
    script = [[function_call("dig", f"call_{n}", depth=n)] for n in range(3)]
    fake = provide({"m": script})
    error = await way(digger(fake), max_turns=2)
    assert isinstance(error, MaxTurnsExceeded)
    (run,) = proved(error)
    assert (run.status, len(run.new_items), len(run.model_calls)) == ("failed", 4, 2)
    assert run.options["max_turns"] == 2


@WAYS
@pytest.mark.parametrize("in_history", [True, False])
async def test_max_turns_with_handler(way, in_history, provide, proved):
    """A handler that answers for the run makes it complete, with or without an item of its own."""
    script = [[function_call("dig", f"call_{n}", depth=n)] for n in range(2)]
    fake = provide({"m": script})

    def give_up(failed):
        output = f"gave up after {len(failed.run_data.new_items)}"
        return {"final_output": output, "include_in_history": in_history}

    result = await way(digger(fake), max_turns=1, error_handlers={"max_turns": give_up})
    (run,) = proved(result)
    assert (run.status, run.final_output) == ("completed", "gave up after 2")
    assert len(run.new_items) == (3 if in_history else 2)


@WAYS
async def test_unknown_tool(way, provide, proved):
    """A call of a tool that is not there fails the run; the response with it is kept."""
    fake = provide({"m": [[function_call("fly", "call_1")]]})
    error = await way(digger(fake))
    assert isinstance(error, ModelBehaviorError)
    (run,) = proved(error)
    (call,) = run.model_calls
    assert call.response.output[0]["name"] == "fly"
    assert run.status == "failed"


@pytest.mark.parametrize("ends", ["incomplete", "failed"])
@WAYS
async def test_unfinished_response(way, ends, provide, proved):
    """A response that the SDK refuses is a failed call, never an answer."""
    cut = Step([reasoning("rs_1", "gAAAA-half")], ends=ends, error="content_filter")
    fake = provide({"m": [cut]})
    error = await way(digger(fake))
    assert isinstance(error, Exception)
    (run,) = proved(error)
    assert run.status == "failed"
    assert [call.response for call in run.model_calls] == [None]


async def test_stream_that_breaks(provide, proved):
    """A stream that hangs up before its last event is a failed run with an open call."""
    fake = provide({"m": [Step([message("Half a")], ends="cut")]})
    error = await streamed(digger(fake))
    assert isinstance(error, Exception)
    (run,) = proved(error)
    assert run.status == "failed"
    assert [call.response for call in run.model_calls] == [None]


async def test_hook_of_a_user_raises(provide, proved):
    """An exception of the user's own hook ends the run as it would without itemtrace."""

    class Strict(RunHooks):
        async def on_tool_start(self, context, agent, tool):
            """Lets nobody dig."""
            raise PermissionError(tool.name)

    fake = provide({"m": [TURN]})
    error = await plain(digger(fake), hooks=Strict())
    assert str(error) == "Error running tool dig: dig"
    (run,) = proved(error)
    assert [call.call_id for call in run.tool_calls] == ["call_1"]


async def test_bad_arguments(provide, proved):
    """Arguments that are no JSON are kept as the model wrote them."""
    broken = function_call("dig", "call_1") | {"arguments": '{"depth": 1'}
    fake = provide({"m": [[broken], [message("I mistyped.")]]})
    result = await plain(digger(fake))
    (run,) = proved(result)
    assert run.tool_calls[0].arguments == '{"depth": 1'
    assert run.tool_calls[0].status == "failed"


async def test_wrong_hooks_are_the_sdks_to_refuse(provide, recorded):
    """Hooks of a wrong kind are refused by the SDK, in its own words."""
    fake = provide({"m": [TURN]})
    hooks: Any = object()
    with pytest.raises(TypeError) as ours:
        await Runner.run(digger(fake), "Dig.", hooks=hooks)
    itemtrace.uninstall()
    with pytest.raises(TypeError) as theirs:
        await Runner.run(digger(fake), "Dig.", hooks=hooks)
    assert str(ours.value) == str(theirs.value)
