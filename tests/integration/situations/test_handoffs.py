"""Handoffs: plain, with filters, with a nested history, two at once."""

from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, function_tool, handoff
from agents.extensions import handoff_filters
from pydantic import BaseModel

from itemtrace.testing.items import function_call, message, reasoning


@function_tool
async def find_bill(number: int) -> str:
    """Finds a bill."""
    return f"bill {number} is open"


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
SCRIPT = {
    "desk": [
        [
            reasoning("rs_1", "gAAAA-one"),
            function_call("find_bill", "call_1", number=7),
        ],
        [reasoning("rs_2", "gAAAA-two"), function_call("transfer_to_till", "call_2")],
    ],
    "till": [[message("Pay seven.")]],
}


def desk(fake, *handoffs):
    """A desk that hands off, to the till unless others are given."""
    till = Agent(
        name="Till", instructions="Take money.", model=fake.responses_model("till")
    )
    made: list[Any] = [each(till) for each in handoffs] if handoffs else [till]
    return Agent(
        name="Desk",
        instructions="Find bills.",
        model=fake.responses_model("desk"),
        tools=[find_bill],
        handoffs=made,
    )


@WAYS
async def test_handoff(way, provide, proved, recorded):
    """A handoff has its call, its answer, its two agents, and the next agent's own calls."""
    fake = provide(SCRIPT)
    (run,) = proved(await way(desk(fake), "What do I owe?"))
    (found,) = run.handoffs
    assert (found.call_id, found.source, found.target) == ("call_2", "Desk", "Till")
    assert found.tool_name == "transfer_to_till"
    assert [call.agent for call in run.model_calls] == ["Desk", "Desk", "Till"]
    assert [call.system for call in run.model_calls][-1] == "Take money."
    assert (run.agent, run.last_agent) == ("Desk", "Till")
    assert [call.name for call in run.tool_calls] == ["find_bill"]
    assert [call.input for call in run.model_calls] == [
        request["input"] for request in fake.requests
    ]
    names = [row.name for row in recorded.rows()]
    assert names.count("invoke_agent Desk") == names.count("invoke_agent Till") == 1


@WAYS
async def test_nested_history(way, provide, proved):
    """Both views are exact: what happened, and the one message that the second agent was sent."""
    fake = provide(SCRIPT)
    config = RunConfig(nest_handoff_history=True)
    result = await way(desk(fake), "What do I owe?", run_config=config)
    (run,) = proved(result)
    assert run.given_input == "What do I owe?"
    assert run.input != run.given_input
    last = run.model_calls[-1]
    assert last.input == fake.requests[2]["input"]
    assert [item["role"] for item in last.input] == ["assistant"]
    assert [item.raw_type for item in run.new_items] == [
        "reasoning",
        "function_call",
        "function_call_output",
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
    ]
    whole, normalized = run.to_input_list(), run.to_input_list(mode="normalized")
    assert len(normalized) < len(whole)
    assert normalized == result.to_input_list(mode="normalized")


@WAYS
async def test_input_filter(way, provide, proved):
    """An input filter changes what the next agent sees, not what happened."""
    fake = provide(SCRIPT)

    def without_tools(till):
        return handoff(till, input_filter=handoff_filters.remove_all_tools)

    result = await way(desk(fake, without_tools), "What do I owe?")
    (run,) = proved(result)
    assert run.model_calls[-1].input == fake.requests[2]["input"]
    sent = [item.get("type", "user") for item in run.model_calls[-1].input]
    assert "function_call" not in sent
    assert len(run.tool_calls) == 1


@WAYS
async def test_filter_that_rewrites(way, provide, proved):
    """A filter that cuts the history and puts in words of its own is exact too."""
    fake = provide(SCRIPT, strict=False)

    def rewritten(data):
        return data.clone(
            input_history=({"role": "user", "content": "(shortened)"},),
            pre_handoff_items=(),
            new_items=data.new_items[-1:],
        )

    def rewriting(till):
        return handoff(till, input_filter=rewritten)

    result = await way(desk(fake, rewriting), "What do I owe?")
    (run,) = proved(result)
    assert run.given_input == "What do I owe?"
    assert run.model_calls[-1].input == fake.requests[2]["input"]


class Why(BaseModel):
    """The input of a handoff."""

    why: str


@WAYS
async def test_handoff_with_input(way, provide, proved):
    """A handoff with typed input and a name of its own keeps both."""
    seen = []

    async def on_handoff(context, given):
        seen.append(given.why)

    def custom(till):
        return handoff(
            till, tool_name_override="to_till", on_handoff=on_handoff, input_type=Why
        )

    fake = provide(
        {
            "desk": [[function_call("to_till", "call_1", why="cash only")]],
            "till": [[message("Pay.")]],
        }
    )
    (run,) = proved(await way(desk(fake, custom), "Cash?"))
    (found,) = run.handoffs
    assert (found.tool_name, found.target) == ("to_till", "Till")
    assert found.call.arguments == '{"why":"cash only"}'
    assert seen == ["cash only"]


@WAYS
async def test_two_handoffs_at_once(way, provide, proved):
    """Of two handoffs in one response the second is ignored, and answered all the same."""
    fake = provide(
        {
            "desk": [
                [
                    function_call("transfer_to_till", "call_1"),
                    function_call("transfer_to_cellar", "call_2"),
                ]
            ],
            "till": [[message("Pay.")]],
        }
    )
    cellar = Agent(name="Cellar", model=fake.responses_model("cellar"))

    def to_till(till):
        return till

    def to_cellar(_):
        return cellar

    (run,) = proved(await way(desk(fake, to_till, to_cellar), "Where?"))
    first, second = run.handoffs
    assert (first.call_id, first.target) == ("call_1", "Till")
    assert (second.call_id, second.target) == ("call_2", None)
    assert second.output.type == "tool_call_output_item"


@WAYS
async def test_there_and_back(way, provide, proved):
    """Agents that hand to and fro keep their turns in order."""
    fake = provide(
        {
            "a": [[function_call("transfer_to_b", "call_1")], [message("Done.")]],
            "b": [[function_call("transfer_to_a", "call_2")]],
        }
    )
    a = Agent(name="A", model=fake.responses_model("a"))
    b = Agent(name="B", model=fake.responses_model("b"), handoffs=[a])
    a.handoffs = [b]
    (run,) = proved(await way(a, "Go."))
    assert [(each.source, each.target) for each in run.handoffs] == [
        ("A", "B"),
        ("B", "A"),
    ]
    assert [call.agent for call in run.model_calls] == ["A", "B", "A"]
