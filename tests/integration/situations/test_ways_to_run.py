"""The same run, every way that the SDK offers: APIs, streams, models, retries."""

import pytest
from agents import (
    Agent,
    ModelRetrySettings,
    ModelSettings,
    Runner,
    function_tool,
    retry_policies,
)
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.testing import ScriptedModel, assistant_message
from agents.testing import function_call as scripted_call
from agents.usage import Usage

from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.provider import Step


@function_tool
async def tide(harbour: str) -> str:
    """Says how high the water stands."""
    return f"{harbour}: 3.2 m"


SCRIPT = {
    "pilot": [
        [function_call("tide", "call_1", harbour="Wyk")],
        [message("Three metres.")],
    ]
}


def pilot(model, **more):
    """The agent of this file."""
    return Agent(
        name="Pilot", instructions="Read the tide.", model=model, tools=[tide], **more
    )


async def drain(result):
    """Consumes a stream and returns its result."""
    async for _ in result.stream_events():
        pass
    return result


async def run_plain(agent, given):
    """`Runner.run`."""
    return await Runner.run(agent, given)


async def run_streamed(agent, given):
    """`Runner.run_streamed`, to its end."""
    return await drain(Runner.run_streamed(agent, given))


WAYS = pytest.mark.parametrize("way", [run_plain, run_streamed])
APIS = pytest.mark.parametrize("api", ["responses_model", "chat_model"])


@WAYS
@APIS
async def test_every_api(way, api, provide, proved):
    """A tool call and an answer are exact on both APIs, whole and streamed."""
    fake = provide(SCRIPT)
    result = await way(pilot(getattr(fake, api)("pilot")), "How high?")
    (run,) = proved(result)
    assert (run.status, run.streamed) == ("completed", way is run_streamed)
    assert [call.system for call in run.model_calls] == ["Read the tide."] * 2
    assert [call.model for call in run.model_calls] == ["pilot"] * 2
    expected = "responses" if api == "responses_model" else "chat_completions"
    assert {call.api for call in run.model_calls} == {expected}
    assert [(c.call_id, c.status) for c in run.tool_calls] == [("call_1", "completed")]


@APIS
def test_run_sync(api, provide, proved):
    """`run_sync` is recorded like `run`."""
    fake = provide(SCRIPT)
    proved(Runner.run_sync(pilot(getattr(fake, api)("pilot")), "How high?"))


class Parrot(Model):
    """A model of a user's own: it opens no span, and has no ids."""

    async def get_response(self, *args, **kwargs):
        """Answers with how much it was sent."""
        given = args[1] if len(args) > 1 else kwargs["input"]
        output = [assistant_message(f"{len(given)} items")]
        return ModelResponse(output=output, usage=Usage(requests=1), response_id=None)

    async def stream_response(self, *args, **kwargs):
        """Never streams."""
        raise NotImplementedError
        yield


async def test_model_without_span(proved, recorded):
    """A model that opens no span still gets a span for its call."""
    (run,) = proved(await Runner.run(pilot(Parrot()), "Hello"), conform=False)
    (call,) = run.model_calls
    assert call.api is None
    assert call.input == [{"content": "Hello", "role": "user"}]
    assert [row.name for row in recorded.rows() if row.name == "chat"] == ["chat"]


@WAYS
async def test_scripted_model(way, proved):
    """The SDK's own scripted model is recorded, plain and streamed."""
    model = ScriptedModel(
        [
            [scripted_call("tide", {"harbour": "Husum"}, call_id="call_1")],
            [assistant_message("Low.")],
        ]
    )
    (run,) = proved(await way(pilot(model), "How high?"), conform=False)
    assert [len(call.input) for call in run.model_calls] == [1, 3]


@WAYS
async def test_retried_model(way, provide, proved, recorded):
    """A call that the SDK retries is one call with its failed attempts."""
    fake = provide({"pilot": [Step(status=503, error="busy"), *SCRIPT["pilot"]]})
    retry = ModelRetrySettings(max_retries=2, policy=retry_policies.http_status([503]))
    agent = pilot(
        fake.responses_model("pilot"), model_settings=ModelSettings(retry=retry)
    )
    (run,) = proved(await way(agent, "How high?"))
    assert [len(call.attempts) for call in run.model_calls] == [1, 0]
    assert run.model_calls[0].response.usage.requests == 2
    failed = [row for row in recorded.rows() if row.status == "ERROR"]
    assert [row.name for row in failed] == ["chat pilot"]


@WAYS
async def test_dynamic_instructions(way, provide, proved):
    """Instructions that a function makes are those that each call saw."""
    seen = []

    def instructions(context, agent):
        seen.append(f"Turn {len(seen)} of {agent.name}. " + "Mind the sandbank. " * 20)
        return seen[-1]

    fake = provide(SCRIPT)
    agent = Agent(
        name="Pilot",
        instructions=instructions,
        model=fake.responses_model("pilot"),
        tools=[tide],
    )
    (run,) = proved(await way(agent, "How high?"))
    assert [call.system for call in run.model_calls] == seen
    assert len(seen) == 2


async def test_settings_and_tools(provide, proved):
    """A model call tells the settings that were set and the schemas of the agent's tools."""
    fake = provide(SCRIPT)
    agent = pilot(
        fake.responses_model("pilot"), model_settings=ModelSettings(temperature=0.25)
    )
    (run,) = proved(await Runner.run(agent, "How high?"))
    first = run.model_calls[0]
    assert first.settings["temperature"] == 0.25
    assert [schema["name"] for schema in first.tools] == ["tide"]
    assert first.tools[0]["parameters"] == tide.params_json_schema


async def test_input_list(provide, proved):
    """An input list stays a list, with odd but legal entries as they are."""
    given = [
        {"role": "user", "content": "How high?"},
        {"role": "assistant", "content": "Where?"},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "Wyk, 日本語 \u2028 here"}],
            "type": "message",
        },
    ]
    fake = provide(SCRIPT)
    (run,) = proved(await Runner.run(pilot(fake.responses_model("pilot")), given))
    assert run.input == given
    assert run.model_calls[0].input == given


async def test_reasoning_before_call(provide, proved):
    """Reasoning stays in front of the call that it led to."""
    fake = provide(
        {
            "pilot": [
                [
                    reasoning("rs_1", "gAAAA-one", "Check the tide."),
                    function_call("tide", "call_1", harbour="Wyk"),
                ],
                [message("Three metres.")],
            ]
        }
    )
    (run,) = proved(await Runner.run(pilot(fake.responses_model("pilot")), "How high?"))
    assert [item.raw_type for item in run.new_items] == [
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
    ]
