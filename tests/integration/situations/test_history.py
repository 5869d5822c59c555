"""Histories: sessions, groups, what the server keeps, filters before the model."""

import pytest
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool
from agents.run import ModelInputData
from openai import BadRequestError

from itemtrace.testing.items import function_call, message


@function_tool
async def next_boat(to: str) -> str:
    """Finds the next boat."""
    return f"09:00 {to}"


async def drain(result):
    """Consumes a stream and returns its result."""
    async for _ in result.stream_events():
        pass
    return result


async def plain(agent, given, **more):
    """`Runner.run`."""
    return await Runner.run(agent, given, **more)


async def streamed(agent, given, **more):
    """`Runner.run_streamed`, to its end."""
    return await drain(Runner.run_streamed(agent, given, **more))


WAYS = pytest.mark.parametrize("way", [plain, streamed])


def guide(fake, **more):
    """The agent of this file."""
    return Agent(
        name="Guide", model=fake.responses_model("m"), tools=[next_boat], **more
    )


@pytest.fixture
def session():
    """A session in memory."""
    made = SQLiteSession("trip-7")
    yield made
    made.close()


# --- sessions -----------------------------------------------------------------------


@WAYS
async def test_group_and_session(way, provide, proved, recorded, session):
    """The same words twice in one conversation are two turns; no item is there twice."""
    fake = provide({"m": [[message("Ahoy", "msg_1")], [message("Ahoy", "msg_2")]]})
    config = RunConfig(group_id="trip-7")
    results = [
        await way(guide(fake), "Ahoy?", session=session, run_config=config)
        for _ in range(2)
    ]
    runs = proved(*results)
    assert [run.group for run in runs] == ["trip-7", "trip-7"]
    assert [run.options["session"] for run in runs] == ["trip-7", "trip-7"]
    assert [[item.raw["id"] for item in run.new_items] for run in runs] == [
        ["msg_1"],
        ["msg_2"],
    ]
    assert [run.given_input for run in runs] == ["Ahoy?", "Ahoy?"]
    first, second = (run.model_calls[0] for run in runs)
    assert first.origin == (("input", 1),)
    assert second.origin == (("history", 2), ("input", 1))
    assert second.input == fake.requests[1]["input"]
    assert {row.attributes["gen_ai.conversation.id"] for row in recorded.rows()} == {
        "trip-7"
    }


@WAYS
async def test_session_callback(way, provide, proved, session):
    """What a session callback drops and adds is told from history and from the caller's input."""
    note = {"role": "developer", "content": "Be brief."}

    def last_and_note(history, new):
        return [history[-1], note, *new]

    fake = provide({"m": [[message("At nine.", "msg_1")], [message("Yes.", "msg_2")]]})
    first = await way(guide(fake), "When?", session=session)
    config = RunConfig(session_input_callback=last_and_note)
    given = [{"role": "user", "content": "Surely?"}]
    second = await way(guide(fake), given, session=session, run_config=config)
    _, run = proved(first, second)
    (call,) = run.model_calls
    assert call.origin == (("history", 1), ("added", 1), ("input", 1))
    assert [item["content"] for item in call.input[1:]] == ["Be brief.", "Surely?"]
    assert call.input == fake.requests[1]["input"]


@WAYS
async def test_session_that_lost_a_call(way, provide, proved, session):
    """The ledger has the call that a damaged session lacks; nothing is repaired in silence."""
    fake = provide(
        {
            "m": [
                [function_call("next_boat", "call_1", to="Amrum")],
                [message("At nine.")],
                [message("You're welcome.")],
            ]
        }
    )
    first = await way(guide(fake), "To Amrum?", session=session)
    damaged = [
        item
        for item in await session.get_items()
        if item.get("type") != "function_call"
    ]
    await session.clear_session()
    await session.add_items(damaged)
    with pytest.raises(BadRequestError) as raised:
        await way(guide(fake), "Thanks.", session=session)
    runs = proved(first, raised.value)
    assert runs[0].tool_calls[0].call.raw["call_id"] == "call_1"
    (refused,) = runs[1].model_calls
    sent = [item.get("type", item.get("role")) for item in refused.input]
    assert "function_call" not in sent
    assert "function_call_output" in sent
    assert "has no call" in runs[1].error.message


# --- what the server keeps -------------------------------------------------------------


@WAYS
async def test_previous_response_id(way, provide, proved):
    """With a history on the server each call's input is the delta that was sent."""
    fake = provide(
        {
            "m": [
                [function_call("next_boat", "call_1", to="Föhr")],
                [message("At nine.", "msg_1")],
                [message("Pier four.", "msg_2")],
            ]
        }
    )
    first = await way(guide(fake), "To Föhr?", previous_response_id="resp_elsewhere")
    second = await way(
        guide(fake), "Where?", previous_response_id=first.last_response_id
    )
    runs = proved(first, second)
    calls = [call for run in runs for call in run.model_calls]
    assert [call.input for call in calls] == [
        request["input"] for request in fake.requests
    ]
    assert [len(call.input) for call in calls] == [1, 1, 1]
    assert runs[0].options["previous_response_id"] == "resp_elsewhere"
    assert runs[0].starts_elsewhere == "response resp_elsewhere"
    assert runs[1].options["previous_response_id"] == runs[0].last_response_id
    assert [call.response.previous for call in calls] == [
        request["previous_response_id"] for request in fake.requests
    ]


@WAYS
async def test_conversation_id(way, provide, proved):
    """A conversation on the server is named, and its deltas are the inputs."""
    fake = provide(
        {
            "m": [
                [function_call("next_boat", "call_1", to="Sylt")],
                [message("At ten.", "msg_1")],
            ]
        }
    )
    (run,) = proved(await way(guide(fake), "To Sylt?", conversation_id="conv_1"))
    assert run.options["conversation_id"] == "conv_1"
    assert [[item.get("type") for item in c.input] for c in run.model_calls] == [
        [None],
        ["function_call_output"],
    ]


@WAYS
async def test_auto_previous_response_id(way, provide, proved):
    """The SDK chains by itself from the first response on; the items are all there."""
    fake = provide(
        {
            "m": [
                [function_call("next_boat", "call_1", to="Sylt")],
                [message("At ten.", "msg_1")],
            ]
        }
    )
    result = await way(guide(fake), "To Sylt?", auto_previous_response_id=True)
    (run,) = proved(result)
    assert run.options["auto_previous_response_id"] is True
    assert [len(call.input) for call in run.model_calls] == [1, 1]
    assert len(run.new_items) == 3
    assert fake.requests[1]["previous_response_id"] == run.raw_responses[0].response_id


# --- filters --------------------------------------------------------------------------


@WAYS
async def test_model_input_filter(way, provide, proved):
    """What a filter drops, changes and adds is what the model call saw; the items stay whole."""
    hint = {"role": "user", "content": "(low tide at ten)"}
    seen = []

    def edit(data):
        items = list(data.model_data.input)
        if len(items) > 2:
            items = [hint, *items[1:]]
            items[-1] = {**items[-1], "output": "[cut]"}
        seen.append(items)
        return ModelInputData(input=items, instructions=f"Call {len(seen)}")

    fake = provide(
        {
            "m": [
                [function_call("next_boat", "call_1", to="Amrum")],
                [message("At nine.")],
            ]
        }
    )
    config = RunConfig(call_model_input_filter=edit)
    (run,) = proved(await way(guide(fake), "To Amrum?", run_config=config))
    assert [call.input for call in run.model_calls] == seen
    assert [call.input for call in run.model_calls] == [
        request["input"] for request in fake.requests
    ]
    assert [call.system for call in run.model_calls] == ["Call 1", "Call 2"]
    assert run.tool_calls[0].output.output == "09:00 Amrum"


@WAYS
async def test_window_over_the_history(way, provide, proved):
    """A filter that keeps the last items only is exact in every call."""
    calls = [[function_call("next_boat", f"call_{n}", to=str(n))] for n in range(6)]
    fake = provide({"m": [*calls, [message("Enough.")]]}, strict=False)

    def last_three(data):
        data.model_data.input = data.model_data.input[-3:]
        return data.model_data

    config = RunConfig(call_model_input_filter=last_three)
    (run,) = proved(await way(guide(fake), "Go.", run_config=config))
    assert [call.input for call in run.model_calls] == [
        request["input"] for request in fake.requests
    ]
