"""Many runs at once: in one loop, in threads, and what is left of them."""

import asyncio
import gc
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import pytest
from agents import Agent, RunConfig, Runner, function_tool, trace
from agents.testing import ScriptedModel, assistant_message
from opentelemetry import trace as otel

import itemtrace
from itemtrace.capture.frame import Frame
from itemtrace.capture.recording import Recording
from itemtrace.capture.tree import ENDED_TRACES
from itemtrace.codec import canonical
from itemtrace.install import Installation
from itemtrace.testing import truth
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider, Step


@function_tool
async def fetch(number: int) -> str:
    """Fetches a parcel, inside a span of its own."""
    with otel.get_tracer("shop").start_as_current_span(f"shelf {number}"):
        await asyncio.sleep(0.001 * (number % 7))
    return f"parcel {number}"


def numbered(body):
    """Answers a request about a number: first a call, then a message."""
    asked = next(item for item in body["input"] if item.get("role") == "user")
    number = int(asked["content"])
    if len(body["input"]) == 1:
        return [function_call("fetch", f"call_{number}", number=number)]
    return [message(f"Here is {number}.", f"msg_{number}")]


async def one(agent, number, *, streamed=False):
    """One run about a number."""
    config = RunConfig(group_id=f"customer {number}")
    if not streamed:
        return await Runner.run(agent, str(number), run_config=config)
    result = Runner.run_streamed(agent, str(number), run_config=config)
    async for _ in result.stream_events():
        await asyncio.sleep(0)
    return result


def check_each(recorded, results):
    """Every run is exact, in a trace of its own, and has its own parcel only."""
    by_trace = defaultdict(list)
    for row in recorded.rows():
        by_trace[row.trace_id].append(row)
    assert len(by_trace) == len(results)
    for rows in by_trace.values():
        ledger = itemtrace.rebuild(rows)
        assert ledger.gaps == ()
        (run,) = ledger.runs
        number = int(run.given_input)
        assert run.group == f"customer {number}"
        assert truth.differences(run, results[number]) == []
        (call,) = run.tool_calls
        assert call.output
        assert call.output.output == f"parcel {number}"
        shelves = [row for row in rows if row.name.startswith("shelf")]
        assert [row.name for row in shelves] == [f"shelf {number}"]
        (tool,) = (row for row in rows if row.span_id == shelves[0].parent_id)
        assert tool.name == "execute_tool fetch"
        assert tool.attributes["gen_ai.tool.call.id"] == f"call_{number}"
    assert itemtrace.health() == {}


@pytest.fixture
def shop(recorded, monkeypatch):
    """Makes the recorder's provider the global one, as an application would."""
    monkeypatch.setattr(otel, "get_tracer", recorded.provider.get_tracer)
    return recorded


@pytest.mark.parametrize("streamed", [False, True])
async def test_twenty_runs(streamed, provide, shop):
    """Twenty runs of one agent at once keep their spans in their own traces."""
    fake = provide({"m": numbered})
    agent = Agent(name="Shop", model=fake.responses_model("m"), tools=[fetch])
    runs = (one(agent, number, streamed=streamed) for number in range(20))
    check_each(shop, dict(enumerate(await asyncio.gather(*runs))))


def test_eight_threads(shop):
    """Eight threads with a loop each, one agent for all."""

    def in_thread(number):
        async def run():
            async with FakeProvider({"m": numbered}) as fake:
                agent = Agent(
                    name="Shop", model=fake.responses_model("m"), tools=[fetch]
                )
                return await one(agent, number)

        return asyncio.run(run())

    with ThreadPoolExecutor(8) as pool:
        results = dict(enumerate(pool.map(in_thread, range(8))))
    check_each(shop, results)


async def test_a_thousand_runs(recorded):
    """A thousand runs at once in one loop are a thousand exact ledgers."""

    async def run(number):
        model = ScriptedModel([[assistant_message(f"Number {number}.")]])
        return await Runner.run(Agent(name="Clerk", model=model), f"{number}?")

    results = await asyncio.gather(*(run(number) for number in range(1_000)))
    ledger = recorded.ledger()
    assert ledger.gaps == ()
    expected = {f"{n}?": f"Number {n}." for n in range(1_000)}
    assert {run.input: run.final_output for run in ledger.runs} == expected
    assert {result.final_output for result in results} == set(expected.values())
    assert len({row.trace_id for row in recorded.rows()}) == 1_000
    assert itemtrace.health() == {}


def installation():
    """The installation that the fixture made."""
    found = itemtrace.install()
    assert isinstance(found, Installation)
    return found


async def test_nothing_is_left_behind(provide, recorded):
    """After 120 runs of every kind of end nothing of them is alive and nothing is open."""

    def answer(body):
        if "fail" in canonical.dumps(body["input"]):
            return [function_call("nowhere", "call_1")]
        slow = "slow" in canonical.dumps(body["input"])
        return Step([message("Done.")], delay=30.0 if slow else 0.0)

    fake = provide({"m": answer})
    agent = Agent(name="Shop", model=fake.responses_model("m"), tools=[fetch])

    async def ended(number):
        kind = number % 4
        if kind == 0:
            await Runner.run(agent, "ok")
        elif kind == 1:
            result = Runner.run_streamed(agent, "ok")
            async for _ in result.stream_events():
                pass
        elif kind == 2:
            with pytest.raises(Exception, match="nowhere"):
                await Runner.run(agent, "fail")
        else:
            task = asyncio.create_task(Runner.run(agent, "slow"))
            asked = len(fake.requests)
            while len(fake.requests) == asked:  # noqa: ASYNC110 - the server is in other threads
                await asyncio.sleep(0.005)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    for number in range(120):
        await ended(number)
    await asyncio.sleep(0.05)
    assert installation()._processor.tree.open_count() == 0
    gc.collect()
    alive = gc.get_objects()
    frames = [each for each in alive if isinstance(each, Frame)]
    recordings = [each for each in alive if isinstance(each, Recording)]
    assert len(frames) + len(recordings) <= 4  # the latest, held by this task's context
    assert [frame for frame in frames if frame.recorded or frame.sources] == []
    assert [each for each in recordings if each.given.agent is not None] == []
    assert all(span.end_time for span in recorded.spans())
    assert itemtrace.health() == {}


async def test_ended_traces_are_bounded(recorded):
    """What is remembered of ended traces has a limit."""
    opened = installation()._processor.tree
    for number in range(ENDED_TRACES + 10):
        with trace(f"empty {number}"):
            pass
    assert len(opened._ended) == ENDED_TRACES
    assert opened.open_count() == 0
