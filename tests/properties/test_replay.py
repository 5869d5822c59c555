"""Random graphs of agents: whatever ran is recorded, rebuilt and replayed to the same end.

A graph is drawn as plain data: agents with tools, handoffs, nested agents, guardrails and approvals,
and for each agent what its model answers. The provider serves it over loopback and is then closed.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    RunConfig,
    Runner,
    function_tool,
    input_guardrail,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import itemtrace
from itemtrace.codec import canonical
from itemtrace.testing import truth
from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder


TOOLS = ("look", "fails", "breaks", "waits", "pay")
DONE: list[str] = []


def make_tools():
    """Tools that answer, fail with a text, end the run, take their time, and need an approval."""

    @function_tool
    async def look(at: int) -> dict[str, Any]:
        """Looks."""
        DONE.append("look")
        return {"seen": at, "text": "é" * at}

    @function_tool
    async def fails(at: int) -> str:
        """Fails."""
        DONE.append("fails")
        raise LookupError(f"nothing at {at}")

    @function_tool(failure_error_function=None)
    async def breaks(at: int) -> str:
        """Ends the run."""
        DONE.append("breaks")
        raise ConnectionError(f"broken at {at}")

    @function_tool
    async def waits(at: int) -> str:
        """Takes its time; a higher number a shorter one."""
        DONE.append("waits")
        await asyncio.sleep((5 - at) / 500)
        return f"waited {at}"

    @function_tool(needs_approval=True)
    async def pay(at: int) -> str:
        """Pays."""
        DONE.append("pay")
        return f"paid {at}"

    return {"look": look, "fails": fails, "breaks": breaks, "waits": waits, "pay": pay}


@dataclass
class Plan:
    """One agent: what its model answers, and whom it knows.

    Attributes:
        answers: For each turn the calls: a tool, or the number of an agent as `ask` or `handoff`.
        guarded: Whether an input guardrail looks at it.
        streams: Whether it is a streamed tool.
    """

    answers: list[list[tuple[str, int]]] = field(default_factory=list)
    guarded: bool = False


def turns(below):
    """What a model answers: calls of tools and of agents that come after it."""
    tool = st.tuples(st.sampled_from(TOOLS), st.integers(0, 5))
    choices = [tool]
    if below:
        choices.append(st.tuples(st.just("ask"), st.sampled_from(below)))
    return st.lists(st.lists(st.one_of(choices), min_size=1, max_size=3), max_size=2)


@st.composite
def graphs(draw):
    """Agents that know only those after them, so that every run ends."""
    count = draw(st.integers(1, 3))
    plans = []
    for number in range(count):
        below = list(range(number + 1, count))
        answers = draw(turns(below))
        if below and draw(st.booleans()):
            answers.append([("handoff", draw(st.sampled_from(below)))])
        plans.append(Plan(answers, guarded=draw(st.booleans())))
    return plans


def script(plans):
    """What the provider answers; each agent's model counts for itself, and begins again when it is through."""
    counts = [0] * len(plans)

    def answer(number):
        def step(body):
            plan = plans[number]
            answered = counts[number]
            counts[number] += 1
            place = answered % (len(plan.answers) + 1)
            if place == len(plan.answers):
                return [message(f"Done {number}.", f"msg_{number}_{answered}")]
            items = [reasoning(f"rs_{number}_{answered}", f"gAAAA{number}{answered}")]
            for place_in, (kind, value) in enumerate(plan.answers[place]):
                call_id = f"call_{number}_{answered}_{place_in}"
                items.append(call_of(kind, value, call_id))
            return items

        return step

    return {f"m{number}": answer(number) for number in range(len(plans))}


def call_of(kind, value, call_id):
    """A call as the model writes it."""
    if kind == "ask":
        return function_call(f"ask_{value}", call_id, input=f"for {value}")
    if kind == "handoff":
        return function_call(f"transfer_to_agent{value}", call_id)
    return function_call(kind, call_id, at=value)


def build(plans, fake):
    """The agents, the last first, since each knows those after it."""
    made = {}

    @input_guardrail
    async def looked_at(context, agent, given):
        """Lets everything through."""
        return GuardrailFunctionOutput({"guards": agent.name}, tripwire_triggered=False)

    for number in reversed(range(len(plans))):
        asked = [
            v for turn in plans[number].answers for kind, v in turn if kind == "ask"
        ]
        told = [
            v for turn in plans[number].answers for kind, v in turn if kind == "handoff"
        ]
        made[number] = Agent(
            name=f"Agent{number}",
            instructions=f"You are {number}.",
            model=fake.responses_model(f"m{number}"),
            tools=[
                *make_tools().values(),
                *(made[v].as_tool(f"ask_{v}", "Asks.") for v in sorted(set(asked))),
            ],
            handoffs=[made[v] for v in sorted(set(told))],
            input_guardrails=[looked_at] if plans[number].guarded else [],
        )
    return made[0]


async def once(agent, given, *, streamed):
    """Runs it; returns the result or what it raised."""
    config = RunConfig(workflow_name="Property", group_id="g")
    try:
        if not streamed:
            return await Runner.run(agent, given, run_config=config, max_turns=6)
        result = Runner.run_streamed(agent, given, run_config=config, max_turns=6)
        async for _ in result.stream_events():
            pass
    except Exception as error:  # noqa: BLE001 - how it ends is what is compared
        return error
    return result


def decided(result):
    """Approves every other call."""
    state = result.to_state()
    for place, item in enumerate(state.get_interruptions()):
        if place % 2:
            state.reject(item, rejection_message=f"no {place}")
        else:
            state.approve(item)
    return state


async def story(agent, streamed, decide=decided):
    """Runs to the end, through at most three interruptions."""
    ends = [await once(agent, "Go.", streamed=streamed)]
    while len(ends) < 4 and getattr(ends[-1], "interruptions", ()):
        ends.append(await once(agent, decide(ends[-1]), streamed=streamed))
    return ends


def state_of(result):
    """The SDK's own state as text, but for what is random."""
    if isinstance(result, BaseException):
        return str(result)
    return canonical.dumps(known(result.to_state().to_json()))


def known(value):
    """A value without what is random in each run: the trace, also of nested runs, and the cache key."""
    if isinstance(value, dict):
        left = ("trace", "generated_prompt_cache_key")
        return {key: known(child) for key, child in value.items() if key not in left}
    if isinstance(value, list):
        return [known(child) for child in value]
    return value


def shape(rows):
    """The spans and whose children they are, in the order in which they ended."""
    names = {row.span_id: row.name for row in rows}
    return [(row.name, names.get(row.parent_id)) for row in rows]


async def recorded(plans, streamed):
    """Runs a graph while it is recorded; returns the agent, the spans and how it ended."""
    with SpanRecorder() as recorder:
        itemtrace.install(tracer_provider=recorder.provider)
        try:
            async with FakeProvider(script(plans)) as fake:
                agent = build(plans, fake)
                ends = await story(agent, streamed)
        finally:
            itemtrace.uninstall()
        return agent, recorder, ends


@pytest.mark.usefixtures("sdk_processors")
@given(graphs(), st.booleans(), st.booleans())
@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_replay_ends_as_the_run_did(plans, streamed, replayed_streamed):
    """Items, typed outputs, responses, usage, both input lists and the state are those of the run."""
    asyncio.run(_replayed(plans, streamed, replayed_streamed=replayed_streamed))


async def _replayed(plans, streamed, *, replayed_streamed):
    agent, recorder, ends = await recorded(plans, streamed)
    ledger = recorder.ledger()
    assert ledger.exact, ledger.gaps
    DONE.clear()
    with itemtrace.replay(ledger) as tape:
        again = await story(agent, replayed_streamed, decide=tape.decide)
    assert DONE == []
    found = [
        str(difference)
        for run, result in zip(ledger.runs, again, strict=True)
        for difference in truth.differences(run, result)
    ]
    assert found == []
    assert tape.report.clean, [*tape.report.entries, *tape.report.unused]
    assert [state_of(result) for result in again] == [
        state_of(result) for result in ends
    ]


@pytest.mark.usefixtures("sdk_processors")
@given(graphs(), st.booleans())
@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_replay_has_the_same_trace(plans, streamed):
    """A replay that is recorded has the spans of the run, in its order, and no difference of content."""
    asyncio.run(_recorded_again(plans, streamed))


async def _recorded_again(plans, streamed):
    agent, recorder, _ = await recorded(plans, streamed)
    with SpanRecorder() as second:
        itemtrace.install(tracer_provider=second.provider)
        try:
            with itemtrace.replay(recorder.ledger()) as tape:
                await story(agent, streamed, decide=tape.decide)
        finally:
            itemtrace.uninstall()
        again = second.ledger()
    assert again.exact, again.gaps
    assert itemtrace.diff(recorder.ledger(), again).first is None
    assert sorted(shape(second.rows()), key=str) == sorted(
        shape(recorder.rows()), key=str
    )
