"""Runs that somebody stops: cancelled results and tasks, consumers that break off, flushes."""

import asyncio
from typing import Any

import pytest
from agents import Agent, Runner, flush_traces, function_tool

import itemtrace
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import Step


AT_WORK: list[asyncio.Event] = []


@pytest.fixture(autouse=True)
def nobody_at_work():
    """Each test starts with an idle tool."""
    AT_WORK[:] = [asyncio.Event()]


@function_tool
async def wait_for_ferry() -> str:
    """Waits for the ferry."""
    AT_WORK[0].set()
    await asyncio.sleep(30)
    return "it came"


async def arrived(fake):
    """Waits until the model was asked."""
    while not fake.requests:  # noqa: ASYNC110 - the server is in other threads
        await asyncio.sleep(0.01)


@function_tool
async def ring() -> str:
    """Rings."""
    return "rang"


def porter(fake, *tools):
    """The agent of this file."""
    return Agent(
        name="Porter",
        model=fake.responses_model("m"),
        tools=list(tools) or [wait_for_ferry],
    )


async def cancel_at(moment, result):
    """Consumes a stream and cancels its run at a moment."""
    async for event in result.stream_events():
        if event.type == "raw_response_event":
            if moment == "raw_event" and event.data.type == "response.output_item.done":
                result.cancel()
        elif event.type == "run_item_stream_event" and event.name == "tool_called":
            if moment == "at_work":
                await AT_WORK[0].wait()
            if moment in ("tool_called", "at_work"):
                result.cancel()
    await asyncio.sleep(0.05)  # the cancelled tasks end


@pytest.mark.parametrize(
    ("moment", "calls", "tool"),
    [
        ("raw_event", [None], []),
        ("tool_called", ["call_1"], ["pending"]),
        ("at_work", ["call_1"], ["cancelled"]),
    ],
)
async def test_cancelled_stream(moment, calls, tool, provide, proved, recorded):
    """What was captured of the call is kept as pending; nothing is made up; the run is cancelled."""
    pause = 0.5 if moment == "raw_event" else 0
    fake = provide(
        {"m": [Step([function_call("wait_for_ferry", "call_1")], pause=pause)]}
    )
    result = Runner.run_streamed(porter(fake), "Is it here?")
    await cancel_at(moment, result)
    (run,) = proved(result)
    assert run.status == "cancelled"
    answered = [
        call.response.items[0].call_id if call.response else None
        for call in run.model_calls
    ]
    assert answered == calls
    assert [call.status for call in run.tool_calls] == tool
    assert [call.output for call in run.tool_calls] == [None] * len(tool)
    assert run.new_items == ()
    assert all(row.end_ns for row in recorded.rows())


async def test_cancel_after_turn(provide, proved):
    """`cancel(mode="after_turn")` ends the run with the whole turn."""
    fake = provide({"m": [[function_call("ring", "call_1")], [message("Rang.")]]})
    result = Runner.run_streamed(porter(fake, ring), "Ring.")
    async for event in result.stream_events():
        if event.type == "run_item_stream_event" and event.name == "tool_called":
            result.cancel(mode="after_turn")
    (run,) = proved(result)
    assert run.status == "cancelled"
    assert [item.type for item in run.new_items] == [
        "tool_call_item",
        "tool_call_output_item",
    ]


@pytest.mark.parametrize(
    ("at", "calls", "tool"),
    [("model", [None], []), ("tool", ["call_1"], ["cancelled"])],
)
async def test_cancelled_task(at, calls, tool, provide, proved, recorded):
    """A cancelled task is a cancelled run: what had ended is kept, what had not is open."""
    delay = 30 if at == "model" else 0
    fake = provide(
        {"m": [Step([function_call("wait_for_ferry", "call_1")], delay=delay)]}
    )
    task = asyncio.create_task(Runner.run(porter(fake), "Is it here?"))
    await (arrived(fake) if at == "model" else AT_WORK[0].wait())
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as raised:
        await task
    (run,) = proved(raised.value)
    assert run.status == "cancelled"
    answered = [
        call.response.items[0].call_id if call.response else None
        for call in run.model_calls
    ]
    assert answered == calls
    assert [call.status for call in run.tool_calls] == tool
    stopped = "chat m" if at == "model" else "execute_tool wait_for_ferry"
    assert [
        (row.name, row.attributes["error.type"])
        for row in recorded.rows()
        if row.status == "ERROR"
    ] == [(stopped, "asyncio.exceptions.CancelledError")]


async def test_consumer_breaks_off(provide, proved):
    """A consumer that leaves its loop stops nothing: the run ends by itself and is whole."""
    fake = provide({"m": [[function_call("ring", "call_1")], [message("Rang.")]]})
    result = Runner.run_streamed(porter(fake, ring), "Ring.")
    events: Any = result.stream_events()
    async for event in events:
        if event.type == "run_item_stream_event":
            break
    await events.aclose()
    task = result.run_loop_task
    assert task
    await task
    await asyncio.sleep(0.05)
    (run,) = proved(result)
    assert (run.status, run.final_output) == ("completed", "Rang.")


@pytest.mark.parametrize("flush", [flush_traces, itemtrace.flush])
async def test_flush_inside_a_tool(flush, provide, proved, recorded):
    """A flush in the middle sends what has ended and ends nothing."""
    seen = []

    @function_tool
    async def send_now() -> str:
        """Flushes."""
        flush()
        seen.append([row.name for row in recorded.rows()])
        return "sent"

    fake = provide({"m": [[function_call("send_now", "call_1")], [message("Sent.")]]})
    (run,) = proved(await Runner.run(porter(fake, send_now), "Send it."))
    assert run.status == "completed"
    assert "invoke_agent Porter" not in seen[0]
    assert seen[0][0] == "run_start"
