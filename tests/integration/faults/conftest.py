"""Small real runs that together reach most of what is recorded, and a health that starts at zero."""

import asyncio
import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    RunHooks,
    Runner,
    SQLiteSession,
    UserError,
    function_tool,
    input_guardrail,
    set_trace_processors,
    trace,
)
from openai import AsyncOpenAI

import itemtrace
from itemtrace.capture.guard import HEALTH
from itemtrace.testing.truth import Details, differences, item_of_sdk, response_of_sdk


@function_tool
def add(a: int, b: int) -> dict[str, int]:
    """Adds."""
    return {"sum": a + b}


@function_tool(needs_approval=True)
def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


@function_tool(failure_error_function=None)
def broken() -> str:
    """Fails."""
    msg = "no route"
    raise ValueError(msg)


@input_guardrail
def polite(context, agent, given):
    """Lets everything through."""
    return GuardrailFunctionOutput({"polite": True}, tripwire_triggered=False)


class UserHooks(RunHooks):
    """Hooks of the user, which must go on as if we were not there."""

    def __init__(self):
        self.seen = []

    async def on_llm_start(self, context, agent, system_prompt, input_items):
        """Notes the call."""
        self.seen.append(("llm", agent.name, len(input_items)))

    async def on_tool_end(self, context, agent, tool, result):
        """Notes the result."""
        self.seen.append(("tool", tool.name, repr(result)))


def team(client):
    """Returns the agents, by name."""

    def responses(name):
        return OpenAIResponsesModel(model=name, openai_client=client)

    helper = Agent(name="Helper", instructions="Help.", model=responses("helper"))
    back = Agent(name="Back", instructions="Answer.", model=responses("back"))
    front = Agent(
        name="Front",
        instructions="Ask the helper, then hand over. " + "Be careful. " * 20,
        model=responses("front"),
        model_settings=ModelSettings(store=False, temperature=0.5),
        tools=[add, helper.as_tool("ask_helper", "Asks the helper.")],
        handoffs=[back],
        input_guardrails=[polite],
    )
    chat = OpenAIChatCompletionsModel(model="payer", openai_client=client)
    return SimpleNamespace(
        front=front,
        payer=Agent(name="Payer", model=chat, tools=[pay]),
        breaker=Agent(name="Breaker", model=responses("breaker"), tools=[broken]),
        slow=Agent(name="Slow", model=responses("slow"), tools=[add]),
    )


async def handoff(agents):
    """A tool, a nested run and a handoff, over a session with a callback and with user hooks."""
    hooks = UserHooks()
    session = SQLiteSession("s")
    await session.add_items([{"role": "user", "content": "Hello before."}])
    config = RunConfig(
        workflow_name="faults",
        group_id="g",
        trace_metadata={"k": "v"},
        session_input_callback=lambda stored, new: [*stored, *new],
    )
    result = await Runner.run(
        agents.front, "1+2?", session=session, hooks=hooks, run_config=config
    )
    session.close()
    return [result], sorted(hooks.seen)  # a tool and a nested run end in either order


async def streamed(agents):
    """The same, streamed, without a session."""
    result = Runner.run_streamed(agents.front, [{"role": "user", "content": "1+2?"}])
    kinds = [event.type async for event in result.stream_events()]
    return [result], [kind for kind in kinds if kind != "raw_response_event"]


async def approved(agents):
    """A chat model, an approval, and the run resumed in the same trace."""
    with trace("approval"):
        paused = await Runner.run(agents.payer, "Pay 5.")
        state = paused.to_state()
        state.approve(paused.interruptions[0])
        return [paused, await Runner.run(agents.payer, state)], None


async def failed(agents):
    """A tool that raises ends the run."""
    try:
        await Runner.run(agents.breaker, "Go.")
    except UserError as error:
        return [error], str(error)
    return [], "no error"


async def cancelled(agents):
    """A stream that the user stops after the first turn."""
    result = Runner.run_streamed(agents.slow, "Go.")
    async for event in result.stream_events():
        if event.type == "run_item_stream_event" and event.name == "tool_called":
            result.cancel(mode="after_turn")
    return [result], None


STORIES = (handoff, streamed, approved, failed, cancelled)


def said(ends):
    """Returns what a user sees of ended runs, to be compared whole."""
    found = []
    for end in ends:
        details = getattr(end, "run_data", None) or end
        assert isinstance(details, Details)
        found.append(
            {
                "error": str(end) if isinstance(end, BaseException) else None,
                "items": [_item(item) for item in details.new_items],
                "responses": [_response(r) for r in details.raw_responses],
                "final": getattr(details, "final_output", None),
            }
        )
    return found


def _item(item):
    found = item_of_sdk(item)
    return found | {
        name: _numberless(found[name]) for name in ("raw", "sent") if name in found
    }


def _response(response):
    """Returns a response without its ids and counts: the provider numbers what it answers."""
    found = response_of_sdk(response)
    return [_numberless(item) for item in found["output"]]


def _numberless(raw):
    return {key: value for key, value in raw.items() if key != "provider_data"}


def wrong(ledger, ends):
    """Returns what a ledger says wrongly: it claims to be exact and differs from the truth."""
    if not ledger.exact:
        return []
    if len(ledger.runs) != len(ends):
        return [f"{len(ledger.runs)} runs of {len(ends)}"]
    return [
        str(found)[:400]
        for run, end in zip(ledger.runs, ends, strict=True)
        for found in differences(run, end)
    ]


@pytest.fixture(scope="session")
def base_url():
    """Serves the script from a process of its own, which no injected fault can reach."""
    serve = [sys.executable, str(Path(__file__).with_name("provider.py"))]
    with subprocess.Popen(
        serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield process.stdout.readline().decode().strip()
        process.stdin.close()


class Stage:
    """Runs stories on a client of their own event loop."""

    stories = STORIES
    said = staticmethod(said)
    wrong = staticmethod(wrong)
    team = staticmethod(team)

    def __init__(self, base_url):
        self.base_url = base_url

    def client(self):
        """Returns a client for one event loop."""
        return AsyncOpenAI(base_url=self.base_url, api_key="x", max_retries=0)

    async def plain(self, story):
        """Plays a story; returns how its runs ended and what else the user saw."""
        async with self.client() as client:
            return await story(team(client))

    def play(self, *stories):
        """Plays stories in a new event loop; returns the ends of each."""

        async def all_of_them():
            async with self.client() as client:
                agents = team(client)
                return [await story(agents) for story in stories]

        return asyncio.run(all_of_them())


@pytest.fixture
def stage(base_url):
    """Plays stories against the served script."""
    return Stage(base_url)


@pytest.fixture(autouse=True)
def clean():
    """Takes the SDK's uploader out, and starts and ends without us and without failures."""
    itemtrace.uninstall()
    set_trace_processors([])
    HEALTH.reset()
    logging.getLogger("openai.agents").setLevel(logging.CRITICAL)
    yield
    itemtrace.uninstall()
    set_trace_processors([])
    HEALTH.reset()
