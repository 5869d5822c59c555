"""Hooks of the user's own, and tools of an MCP server in this process."""

import pytest
from agents import Agent, Runner, function_tool
from agents.lifecycle import AgentHooksBase, RunHooksBase
from agents.mcp import MCPServer
from mcp.types import CallToolResult, TextContent, Tool

import itemtrace
from itemtrace.testing.items import function_call, message


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


def logging_hooks(base, log):
    """Hooks that note how each of them is called."""

    def noted(name):
        async def hook(self, *args, **kwargs):
            log.append((name, len(args), sorted(kwargs)))

        return hook

    names = [name for name in vars(base) if name.startswith("on_")]
    return type("Logging", (base,), {name: noted(name) for name in names})()


@function_tool
async def peel() -> str:
    """Peels."""
    return "peeled"


def script():
    """A tool call and a handoff."""
    return {
        "a": [
            [function_call("peel", "call_1")],
            [function_call("transfer_to_b", "call_2")],
        ],
        "b": [[message("Done.")]],
    }


def kitchen(fake, **more):
    """Two agents."""
    b = Agent(name="B", model=fake.responses_model("b"))
    return Agent(
        name="A", model=fake.responses_model("a"), tools=[peel], handoffs=[b], **more
    )


@WAYS
async def test_hooks_are_called_the_same(way, provide, proved, recorded):
    """A user's run and agent hooks get the very calls that they get without itemtrace."""
    with_us, without, agents_with, agents_without = [], [], [], []
    fake = provide(script())
    result = await way(
        kitchen(fake, hooks=logging_hooks(AgentHooksBase, agents_with)),
        "Go.",
        hooks=logging_hooks(RunHooksBase, with_us),
    )
    (run,) = proved(result)
    itemtrace.uninstall()
    again = provide(script())
    await way(
        kitchen(again, hooks=logging_hooks(AgentHooksBase, agents_without)),
        "Go.",
        hooks=logging_hooks(RunHooksBase, without),
    )
    assert with_us == without
    assert agents_with == agents_without
    assert {name for name, *_ in with_us} >= {
        "on_llm_start",
        "on_tool_end",
        "on_handoff",
    }
    assert run.last_agent == "B"


@WAYS
async def test_context_of_the_application(way, provide, proved):
    """The application's context object is handed through and is in no record."""

    class Basket:
        """Cannot be copied, compared or shown."""

        __slots__ = ("fruit",)

        def __repr__(self):
            raise AssertionError

    seen = []

    basket = Basket()

    def instructions(context, agent):
        seen.append(context.context is basket)
        return "Fill it."

    fake = provide({"m": [[message("Full.")]]})
    agent = Agent(name="C", instructions=instructions, model=fake.responses_model("m"))
    proved(await way(agent, "Go.", context=basket))
    assert seen == [True]


class Harbour(MCPServer):
    """An MCP server in this process."""

    def __init__(self, **more):
        super().__init__(**more)
        self.calls = []

    @property
    def name(self):
        """Its name."""
        return "harbour"

    async def connect(self):
        """Nothing to do."""

    async def cleanup(self):
        """Nothing to do."""

    async def list_tools(self, run_context=None, agent=None):
        """One tool."""
        schema = {"type": "object", "properties": {"at": {"type": "string"}}}
        return [Tool(name="tide", description="Says the tide.", input_schema=schema)]

    async def call_tool(self, tool_name, arguments, meta=None):
        """Answers, or fails."""
        self.calls.append((tool_name, arguments))
        if (arguments or {}).get("at") == "noon":
            return CallToolResult(content=[TextContent(type="text", text="high")])
        return CallToolResult(
            content=[TextContent(type="text", text="no such time")], is_error=True
        )

    async def list_prompts(self):
        """None."""
        raise NotImplementedError

    async def get_prompt(self, name, arguments=None):
        """None."""
        raise NotImplementedError


@WAYS
async def test_mcp_server(way, provide, proved, recorded):
    """A local MCP server's tools are tool calls that name their server; the listing is a span."""
    fake = provide(
        {
            "m": [
                [
                    function_call("tide", "call_1", at="noon"),
                    function_call("tide", "call_2", at="never"),
                ],
                [message("High.")],
            ]
        }
    )
    server = Harbour()
    agent = Agent(name="Pilot", model=fake.responses_model("m"), mcp_servers=[server])
    (run,) = proved(await way(agent, "Tide?"))
    assert len(server.calls) == 2
    assert [call.name for call in run.tool_calls] == ["tide", "tide"]
    origins = {
        item.extra["tool_origin"]["mcp_server_name"] for item in run.new_items[:4]
    }
    assert origins == {"harbour"}
    rows = recorded.rows()
    assert {row.name for row in rows} >= {"tools/list", "execute_tool tide"}
    tools = [row for row in rows if row.name == "execute_tool tide"]
    assert {row.attributes["itemtrace.mcp.server"] for row in tools} == {"harbour"}


@WAYS
async def test_mcp_approval(way, provide, proved):
    """A local MCP tool that must be approved waits and goes on like any other."""
    fake = provide(
        {"m": [[function_call("tide", "call_1", at="noon")], [message("High.")]]}
    )
    server = Harbour(require_approval="always")
    agent = Agent(name="Pilot", model=fake.responses_model("m"), mcp_servers=[server])
    paused = await way(agent, "Tide?")
    state = paused.to_state()
    state.approve(state.get_interruptions()[0])
    done = await way(agent, state)
    first, second = proved(paused, done)
    assert (first.status, second.status) == ("interrupted", "completed")
    assert second.resumed == first
    assert server.calls == [("tide", {"at": "noon"})]
