"""Runs inside runs: agents as tools, runs that a plain tool starts, several deep."""

import asyncio

import pytest
from agents import Agent, RunConfig, Runner, function_tool

from itemtrace.testing import truth
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import Step


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


def agent(fake, name, *tools, **more):
    """An agent whose model has its name."""
    model = fake.responses_model(name.lower())
    return Agent(name=name, model=model, tools=list(tools), **more)


@WAYS
async def test_parallel_agents_as_tools(way, provide, proved):
    """Two agents as tools that finish in reverse order keep their own runs and answers."""
    fake = provide(
        {
            "chief": [
                [
                    function_call("ask_cook", "call_cook", input="Fish?"),
                    function_call("ask_baker", "call_baker", input="Bread?"),
                ],
                [message("Both.")],
            ],
            "cook": [Step([message("Plaice.")], delay=0.15)],
            "baker": [[function_call("oven", "call_cook")], [message("Rye.")]],
        }
    )

    @function_tool
    async def oven() -> str:
        """Looks into the oven."""
        return "hot"

    cook = agent(fake, "Cook").as_tool("ask_cook", "Asks the cook.")
    baker = agent(fake, "Baker", oven).as_tool("ask_baker", "Asks the baker.")
    result = await way(agent(fake, "Chief", cook, baker), "Lunch?")
    (run,) = proved(result)
    assert [(c.call_id, c.runs[0].agent) for c in run.tool_calls] == [
        ("call_cook", "Cook"),
        ("call_baker", "Baker"),
    ]
    nested = {child.agent: child for child in run.runs}
    assert nested["Cook"].final_output == "Plaice."
    assert [c.call_id for c in nested["Baker"].tool_calls] == ["call_cook"]
    assert nested["Baker"].agent_tool_invocation.tool_call_id == "call_baker"
    assert nested["Baker"].agent_tool_invocation.tool_arguments == '{"input":"Bread?"}'
    assert run.usage.requests == 5


@WAYS
async def test_run_inside_a_tool(way, provide, proved):
    """Runs that a plain tool starts hang under its call, counted where there are several."""
    inner_results = []
    fake = provide(
        {
            "outer": [[function_call("twice", "call_1")], [message("Twice.")]],
            "inner": [[message("one")], [message("two")]],
        }
    )
    inner = agent(fake, "Inner")

    @function_tool
    async def twice() -> str:
        """Asks the inner agent twice."""
        first = await way(inner, "first")
        inner_results.extend([first, await way(inner, "second")])
        return "+".join(each.final_output for each in inner_results)

    (run,) = proved(await way(agent(fake, "Outer", twice), "Go."))
    (call,) = run.tool_calls
    assert call.output.output == "one+two"
    assert [child.final_output for child in call.runs] == ["one", "two"]
    assert [child.begin["parent"]["n"] for child in call.runs] == [0, 1]
    for child, expected in zip(call.runs, inner_results, strict=True):
        found = truth.differences(child, expected)
        assert [each for each in found if each.name != "agent_tool_invocation"] == []


@WAYS
async def test_three_deep(way, provide, proved):
    """A run in a run in a run."""
    fake = provide(
        {
            "a": [[function_call("b", "call_1", input="b?")], [message("a")]],
            "b": [[function_call("c", "call_1", input="c?")], [message("b")]],
            "c": [[message("c")]],
        }
    )
    c = agent(fake, "C").as_tool("c", "Asks C.")
    b = agent(fake, "B", c).as_tool("b", "Asks B.")
    (run,) = proved(await way(agent(fake, "A", b), "a?"))
    assert [child.agent for child in run.all_runs()] == ["A", "B", "C"]
    (deep,) = run.runs[0].runs
    assert deep.input == "c?"
    assert (
        run.runs[0].usage.requests == 4
    )  # the SDK's context is shared, A's call is in it
    usage = run.usage_by("agent")
    assert {name: each.requests for name, each in usage.items()} == {
        "A": 2,
        "B": 2,
        "C": 1,
    }


async def test_nested_run_fails(provide, proved):
    """A nested run that fails is a failed run under a call that was answered."""
    fake = provide(
        {
            "outer": [[function_call("ask", "call_1", input="?")], [message("Pity.")]],
            "inner": [Step(status=500, error="the kettle broke")],
        }
    )
    inner = agent(fake, "Inner").as_tool("ask", "Asks.")
    (run,) = proved(await plain(agent(fake, "Outer", inner), "Go."))
    (child,) = run.runs
    assert (child.status, run.status) == ("failed", "completed")
    assert "the kettle broke" in child.error.message
    assert run.tool_calls[0].output.output == fake.requests[-1]["input"][-1]["output"]


async def test_streamed_inside_plain(provide, proved):
    """An agent as a tool that streams (`on_stream`) is a nested streamed run."""
    events = []
    fake = provide(
        {
            "outer": [[function_call("ask", "call_1", input="?")], [message("Yes.")]],
            "inner": [[message("maybe")]],
        }
    )
    inner = agent(fake, "Inner").as_tool("ask", "Asks.", on_stream=events.append)
    (run,) = proved(await plain(agent(fake, "Outer", inner), "Go."))
    assert events
    assert (run.streamed, run.runs[0].streamed) == (False, True)
    assert run.runs[0].final_output == "maybe"


async def test_run_in_a_background_task(provide, proved):
    """A run in a task that a tool starts, and that outlives the run, is still its child."""
    tasks = []
    fake = provide(
        {
            "outer": [[function_call("delegate", "call_1")], [message("Started.")]],
            "inner": [Step([message("late")], delay=0.8)],
        }
    )
    inner = agent(fake, "Inner")

    @function_tool
    async def delegate() -> str:
        """Starts a run and does not wait."""
        tasks.append(asyncio.create_task(Runner.run(inner, "Take your time.")))
        return "started"

    result = await plain(agent(fake, "Outer", delegate), "Go.")
    late = await tasks[0]
    ledger_runs = proved(result)
    (run,) = ledger_runs
    (child,) = run.runs
    assert child.final_output == late.final_output == "late"
    assert child.ended_ns > run.ended_ns


async def test_nested_run_with_a_config_of_its_own(provide, proved):
    """A nested run with its own run config keeps its own group and workflow out of the parent's."""
    fake = provide(
        {
            "outer": [[function_call("ask", "call_1", input="?")], [message("Yes.")]],
            "inner": [[message("maybe")]],
        }
    )
    config = RunConfig(workflow_name="Inner work", group_id="inner")
    inner = agent(fake, "Inner").as_tool("ask", "Asks.", run_config=config)
    outer = RunConfig(workflow_name="Outer work", group_id="outer")
    (run,) = proved(await plain(agent(fake, "Outer", inner), "Go.", run_config=outer))
    assert (run.workflow, run.group) == ("Outer work", "outer")
    assert run.runs[0].parent_call_id == "call_1"
