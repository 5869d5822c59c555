"""Final outputs: typed, refused, made by tools or handlers; policies that change what is sent."""

from dataclasses import dataclass
from typing import Any

import pytest
from agents import (
    Agent,
    AgentsException,
    ModelBehaviorError,
    RunConfig,
    Runner,
    ToolsToFinalOutputResult,
    function_tool,
)
from pydantic import BaseModel, Field

from itemtrace.testing.items import function_call, message, reasoning, refusal


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


class Leg(BaseModel):
    """A part of a course."""

    to: str
    miles: float = Field(alias="nm")


class Course(BaseModel):
    """A typed answer, nested, with an alias."""

    legs: list[Leg]
    note: str | None = None


@dataclass
class Depth:
    """A typed answer of another kind."""

    metres: float


@WAYS
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Course, '{"legs":[{"to":"Wyk","nm":4.0}]}'),
        (Depth, '{"response":{"metres": 3.20}}'),
        (list[int], '{"response":[1,2,3]}'),
    ],
)
async def test_typed(way, kind, text, provide, proved):
    """A typed answer is there as its fields, and as the text that the model wrote."""
    fake = provide({"m": [[message(text)]]})
    agent = Agent(name="Pilot", model=fake.responses_model("m"), output_type=kind)
    result = await way(agent, "Where to?")
    (run,) = proved(result)
    assert run.new_items[0].text == text
    assert run.final_output_type not in (None, "str")


@WAYS
async def test_not_of_its_type(way, provide, proved):
    """An answer that is not of its type fails the run; the answer is kept."""
    fake = provide({"m": [[message('{"legs": 3}')]]})
    agent = Agent(name="Pilot", model=fake.responses_model("m"), output_type=Course)
    with pytest.raises(ModelBehaviorError) as raised:
        await way(agent, "Where to?")
    (run,) = proved(raised.value)
    assert run.model_calls[0].response.items[0].text == '{"legs": 3}'


@WAYS
async def test_refusal(way, provide, proved):
    """A model that declines is a message with a refusal in it, however the SDK takes it."""
    fake = provide({"m": [[refusal("I won't.")]]})
    agent = Agent(name="Pilot", model=fake.responses_model("m"))
    try:
        ended = await way(agent, "Where to?")
    except AgentsException as error:
        ended = error
    (run,) = proved(ended)
    (item,) = run.model_calls[0].response.items
    assert item.raw["content"] == [{"type": "refusal", "refusal": "I won't."}]


@WAYS
async def test_empty_answer(way, provide, proved):
    """A response without any item, and a text without any character."""
    fake = provide({"m": [[reasoning("rs_1", "gAAAA-x"), message("")]]})
    agent = Agent(name="Pilot", model=fake.responses_model("m"))
    (run,) = proved(await way(agent, "Where to?"))
    assert run.final_output == ""
    assert run.final_output_type == "str"


@function_tool
async def sound() -> dict[str, float]:
    """Sounds the depth."""
    return {"metres": 3.2}


@WAYS
async def test_tool_as_answer(way, provide, proved):
    """A tool's value that ends the run is the final output, as the object that it is."""

    @function_tool
    async def plot() -> Course:
        """Plots a course."""
        return Course(legs=[Leg(to="Wyk", nm=4.0)])

    def pick(context, results):
        return ToolsToFinalOutputResult(
            is_final_output=True, final_output=results[0].output
        )

    fake = provide({"m": [[function_call("plot", "call_1")]]})
    agent = Agent(
        name="Pilot",
        model=fake.responses_model("m"),
        tools=[plot],
        tool_use_behavior=pick,
        output_type=Course,
    )
    (run,) = proved(await way(agent, "Where to?"))
    assert run.final_output == {"legs": [{"to": "Wyk", "miles": 4.0}]}
    assert run.final_output_type.endswith("Course")


@WAYS
async def test_unknown_tool_answered(way, provide, proved):
    """A tool that is not there, answered with an error text, is a call with an output."""
    fake = provide({"m": [[function_call("fly", "call_1")], [message("I can't.")]]})
    agent = Agent(name="Pilot", model=fake.responses_model("m"), tools=[sound])
    config = RunConfig(tool_not_found_behavior="return_error_to_model")
    (run,) = proved(await way(agent, "Fly.", run_config=config))
    (call,) = run.tool_calls
    assert (call.name, call.output.output) == (
        "fly",
        fake.requests[1]["input"][-1]["output"],
    )


@WAYS
async def test_reasoning_ids_left_out(way, provide, proved):
    """A policy that leaves reasoning ids out changes what is sent, not what happened."""
    fake = provide(
        {
            "m": [
                [reasoning("rs_1", "gAAAA-x"), function_call("sound", "call_1")],
                [message("Three.")],
            ]
        },
        strict=False,
    )
    agent = Agent(name="Pilot", model=fake.responses_model("m"), tools=[sound])
    config = RunConfig(reasoning_item_id_policy="omit")
    (run,) = proved(await way(agent, "How deep?", run_config=config))
    assert run.new_items[0].raw["id"] == "rs_1"
    assert run.model_calls[1].input == fake.requests[1]["input"]
    assert "id" not in run.model_calls[1].input[1]


@pytest.mark.parametrize("length", [121, 1_000])
async def test_long_input(length, provide, proved, recorded):
    """Long histories evict nothing: every span stays below OpenTelemetry's 128 attributes."""
    given: list[Any] = [
        {"role": ("user", "assistant")[n % 2], "content": f"message {n}"}
        for n in range(length)
    ]
    fake = provide({"m": [[function_call("sound", "call_1")], [message("Three.")]]})
    agent = Agent(name="Pilot", model=fake.responses_model("m"), tools=[sound])
    (run,) = proved(await Runner.run(agent, given))
    assert run.input == given
    assert max(len(row.attributes) for row in recorded.rows()) < 128
    (first, _) = (row for row in recorded.rows() if row.name == "chat m")
    assert first.attributes["gen_ai.usage.output_tokens"] > 0
