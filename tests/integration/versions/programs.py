"""Small programs on the Agents SDK, each a run or a few, that every supported version can run.

A program gets a `Stage`, which gives it models and keeps how its runs ended. Recorded, the models are
those of a scripted provider; replayed, the same program runs under a tape. What a version of the
SDK lacks is imported inside the program that is about it, which is then skipped with the reason.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from agents import (
    Agent,
    GuardrailFunctionOutput,
    RunConfig,
    Runner,
    SQLiteSession,
    ToolGuardrailFunctionOutput,
    function_tool,
    handoff,
    input_guardrail,
    tool_input_guardrail,
    tool_output_guardrail,
)
from agents.extensions import handoff_filters
from pydantic import BaseModel

from itemtrace.errors import ReplayError
from itemtrace.replay.approvals import keep_usage
from itemtrace.testing import items as make
from itemtrace.testing.demo import run_demo
from itemtrace.testing.demo_script import script as demo_script
from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.provider import FakeProvider, Step


@dataclass
class Stage:
    """Where a program runs.

    Attributes:
        fake: The provider behind its models.
        streamed: Whether its runs are streamed.
        ended: The result of each root run, or what it raised.
    """

    fake: FakeProvider
    streamed: bool
    ended: list[Any] = field(default_factory=list)

    def agent(self, name, *tools, **more):
        """Returns an agent whose model has its name."""
        model = self.fake.responses_model(name.lower())
        return Agent(name=name, model=model, tools=list(tools), **more)

    async def run(self, agent, given, **more):
        """Runs an agent to its end, whichever that is."""
        self.ended.append(await self._end(agent, given, more))
        return self.ended[-1]

    async def _end(self, agent, given, more):
        try:
            if not self.streamed:
                return await Runner.run(agent, given, **more)
            result = Runner.run_streamed(agent, given, **more)
            async for _ in result.stream_events():
                pass
        except ReplayError:
            raise
        except Exception as error:  # noqa: BLE001 - how it ended is what is compared
            return error
        return result


PROGRAMS: dict[str, tuple[Any, Any]] = {}
"""Name -> the answers of its models, and the program."""


def program(script):
    """Registers a program with the answers of its models."""

    def register(function):
        PROGRAMS[function.__name__] = (script, function)
        return function

    return register


# --- the demo -----------------------------------------------------------------------------


@program(demo_script())
async def demo(stage):
    """Handoff, parallel tools, a picture, an agent as a tool, approvals, a resumed run, a typed answer."""
    stage.ended += await run_demo(streamed=stage.streamed, fake=stage.fake)


# --- tools ----------------------------------------------------------------------------------


@function_tool(failure_error_function=None)
async def open_lock(gate: int) -> str:
    """Opens a gate, or raises."""
    if gate == 2:
        msg = f"gate {gate} is stuck"
        raise LookupError(msg)
    return f"gate {gate} is open"


@program(
    {"keeper": [[function_call("open_lock", f"call_{n}", gate=n) for n in (1, 2)]]}
)
async def tool_that_raises(stage):
    """One of two parallel tools ends the run."""
    await stage.run(stage.agent("Keeper", open_lock), "Open both.")


@program({"keeper": [[function_call("close_lock", "call_1", gate=1)]]})
async def unknown_tool(stage):
    """The model asks for a tool that there is not; the SDK keeps nothing of that response."""
    await stage.run(stage.agent("Keeper", open_lock), "Close it.")


@program(
    {
        "keeper": [
            [function_call("open_lock", "call_1", gate=1)],
            Step([reasoning("rs_1", "gAAAA-half")], ends="incomplete", error="filter"),
        ]
    }
)
async def unfinished_response(stage):
    """A response that is cut short: an answer on older SDKs when not streamed, else an error."""
    await stage.run(stage.agent("Keeper", open_lock), "Open it.", max_turns=3)


@program(
    {"keeper": [[function_call("open_lock", f"call_{n}", gate=1)] for n in (1, 2)]}
)
async def max_turns(stage):
    """A run that takes too many turns."""
    await stage.run(stage.agent("Keeper", open_lock), "Open it.", max_turns=2)


class Tide(BaseModel):
    """How high the water stands."""

    height: float
    harbours: list[str]


@function_tool
async def measure(harbour: str) -> Tide:
    """Measures; the first harbour takes longest."""
    await asyncio.sleep(0.02 if harbour == "Wyk" else 0)
    return Tide(height=3.0, harbours=[harbour])


@program(
    {
        "pilot": [
            [
                reasoning("rs_1", "gAAAA-think"),
                function_call("measure", "call_1", harbour="Wyk"),
                function_call("measure", "call_2", harbour="Husum"),
            ],
            [message('{"height":3,"harbours":["Wyk","Hüsum"]}')],
        ]
    }
)
async def typed_answer(stage):
    """Typed tool results that come in reverse order, and a typed answer."""
    pilot = stage.agent("Pilot", measure, output_type=Tide)
    await stage.run(pilot, [{"role": "user", "content": "How high?"}])


@program(
    {
        "pilot": [
            [function_call("measure", "call_1", harbour="Wyk")],
            [message("Three metres.")],
        ]
    }
)
async def chat_completions(stage):
    """The Chat Completions API, whose items have placeholder ids."""
    model = stage.fake.chat_model("pilot")
    await stage.run(Agent(name="Pilot", model=model, tools=[measure]), "How high?")


@program(
    {
        "m": [
            [
                reasoning("rs_1", "gAAAA-think", "Think."),
                make.web_search_call("ws_1", "tides"),
                make.file_search_call("fs_1", "charts"),
                make.code_interpreter_call("ci_1", "1 + 1", "2"),
                make.image_generation_call("ig_1", "iVBORw0KGgo="),
                make.mcp_list_tools("mcpl_1", "harbour", "tide"),
                make.mcp_call("mcp_1", "harbour", "tide", "high"),
                make.compaction("cmp_1", "gAAAA-compact"),
                message("All."),
            ]
        ]
    }
)
async def hosted_items(stage):
    """What the provider's own tools leave in a response."""
    await stage.run(stage.agent("M"), "Go.")


@program({"m": [[make.custom_tool_call("shout", "call_c", "ahoy")], [message("AHOY")]]})
async def custom_tool(stage):
    """A tool that takes free text."""
    from agents import CustomTool

    async def shout(_context, text):
        return text.upper()

    tool = CustomTool(name="shout", description="Shouts.", on_invoke_tool=shout)
    await stage.run(stage.agent("M", tool), "Shout.")


@program({"m": [[make.shell_call("call_s", "ls")], [message("One file.")]]})
async def local_shell(stage):
    """A shell tool with an executor of the application."""
    from agents import ShellTool

    async def execute(request):
        return "\n".join(request.data.action.commands) + ": a.txt"

    await stage.run(stage.agent("M", ShellTool(executor=execute)), "List.")


@program({"pilot": [[function_call("tide", "call_1", at="noon")], [message("High.")]]})
async def mcp_server(stage):
    """A tool of an MCP server."""
    from harbour import Harbour

    await stage.run(stage.agent("Pilot", mcp_servers=[Harbour()]), "Tide?")


# --- guardrails -----------------------------------------------------------------------------


@tool_input_guardrail
def only_tables(data):
    """Rejects table 0."""
    if '"table":0' in data.context.tool_arguments:
        return ToolGuardrailFunctionOutput.reject_content("no such table", {"table": 0})
    return ToolGuardrailFunctionOutput.allow({"checked": True})


@tool_output_guardrail
def no_names(data):
    """Replaces a name."""
    if "Eva" in str(data.output):
        return ToolGuardrailFunctionOutput.reject_content("somebody", {"names": 1})
    return ToolGuardrailFunctionOutput.allow()


@function_tool(tool_input_guardrails=[only_tables], tool_output_guardrails=[no_names])
async def who_sits(table: int) -> str:
    """Says who sits at a table."""
    return {1: "Eva", 2: "two strangers"}[table]


@input_guardrail(run_in_parallel=False)
async def polite(_context, _agent, text):
    """Wants to be asked nicely."""
    return GuardrailFunctionOutput(
        {"asked": str(text)[:9]}, tripwire_triggered="please" not in str(text)
    )


@program(
    {
        "waiter": [
            [function_call("who_sits", f"call_{n}", table=n) for n in (0, 1, 2)],
            [message("Somebody.")],
        ]
    }
)
async def guardrails(stage):
    """Rejected arguments, a replaced output; then an input that trips."""
    waiter = stage.agent("Waiter", who_sits, input_guardrails=[polite])
    await stage.run(waiter, "Who is there, please?")
    await stage.run(waiter, "Who?")


# --- agents ---------------------------------------------------------------------------------

HANDOVER = {
    "desk": [
        [function_call("measure", "call_1", harbour="Wyk")],
        [
            reasoning("rs_1", "gAAAA-think"),
            function_call("transfer_to_till", "call_2"),
        ],
    ],
    "till": [[message("Four euros.")]],
}


@program(HANDOVER)
async def handoff_filter(stage):
    """A handoff whose filter hides the tools from the next agent."""
    till = handoff(stage.agent("Till"), input_filter=handoff_filters.remove_all_tools)
    await stage.run(stage.agent("Desk", measure, handoffs=[till]), "What do I owe?")


@program(HANDOVER)
async def nested_history(stage):
    """A handoff that folds the history into one message."""
    desk = stage.agent("Desk", measure, handoffs=[stage.agent("Till")])
    config = RunConfig(nest_handoff_history=True)
    await stage.run(desk, "What do I owe?", run_config=config)


@program(
    {
        "chief": [
            [
                function_call("ask_cook", "call_cook", input="Fish?"),
                function_call("ask_baker", "call_baker", input="Bread?"),
            ],
            [message("Both.")],
        ],
        "cook": [Step([message("Plaice.", "msg_2")], delay=0.1)],
        "baker": [
            [function_call("open_lock", "call_cook", gate=1)],
            [message("Rye.", "msg_3")],
        ],
    }
)
async def agents_as_tools(stage):
    """Two agents as tools at once, which end in reverse order and share a call id."""
    cook = stage.agent("Cook").as_tool("ask_cook", "Asks the cook.")
    baker = stage.agent("Baker", open_lock).as_tool("ask_baker", "Asks the baker.")
    await stage.run(stage.agent("Chief", cook, baker), "Lunch?")


@function_tool(needs_approval=True)
async def pay(amount: int) -> str:
    """Pays an amount."""
    return f"paid {amount}"


@program(
    {
        "outer": [[function_call("ask", "call_1", input="pay")], [message("Done.")]],
        "inner": [
            [function_call("pay", "call_yes", amount=5)],
            [message("Paid.", "msg_2")],
        ],
    }
)
async def nested_approval(stage):
    """A nested run waits for a person, and goes on in a second run."""
    ask = stage.agent("Inner", pay).as_tool("ask", "Asks.")
    outer = stage.agent("Outer", ask)
    paused = await stage.run(outer, "Pay.")
    state = paused.to_state()
    keep_usage(paused)
    state.approve(state.get_interruptions()[0])
    await stage.run(outer, state)


# --- history --------------------------------------------------------------------------------


@program({"guide": [[message("At nine.", "msg_1")], [message("Yes.", "msg_2")]]})
async def session(stage):
    """Two runs over one session; a callback changes what the second model call sees."""
    note = {"role": "developer", "content": "Be brief."}
    config = RunConfig(
        session_input_callback=lambda history, new: [history[-1], note, *new],
        group_id="trip-7",
    )
    memory = SQLiteSession("trip-7")
    guide = stage.agent("Guide")
    await stage.run(guide, "When?", session=memory)
    given = [{"role": "user", "content": "Surely?"}]
    await stage.run(guide, given, session=memory, run_config=config)
    memory.close()


@program(
    {
        "guide": [
            [function_call("measure", "call_1", harbour="Wyk")],
            [message("Three.")],
        ]
    }
)
async def server_managed(stage):
    """The provider keeps the history; a call sends only what is new."""
    guide = stage.agent("Guide", measure)
    await stage.run(guide, "How high?", auto_previous_response_id=True)


@program(
    {
        "pilot": [
            Step(status=503, error="busy"),
            [function_call("measure", "call_1", harbour="Wyk")],
            [message("Three.")],
        ]
    }
)
async def retries(stage):
    """A model call that the SDK makes again after an error."""
    from agents import ModelRetrySettings, ModelSettings, retry_policies

    again = ModelRetrySettings(max_retries=2, policy=retry_policies.http_status([503]))
    settings = ModelSettings(retry=again)
    await stage.run(stage.agent("Pilot", measure, model_settings=settings), "High?")


@program({})
async def scripted_model(stage):
    """The SDK's own scripted model, which makes no span."""
    from agents.testing import ScriptedModel, assistant_message

    model = ScriptedModel([[assistant_message("Ahoy.")]])
    await stage.run(Agent(name="Scripted", model=model), "Ahoy?")
