"""What a stub gives: the recorded output at its turn, the recorded error, or the real thing."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from agents import SpanError
from agents.tracing import get_current_span

from itemtrace.ledger.checks import lacks_content
from itemtrace.replay import differences, failures
from itemtrace.replay.calls import REAL, Asked, Found, Live, called
from itemtrace.replay.divergence import divergence, gap
from itemtrace.replay.frame import CALL, FRAME
from itemtrace.replay.network import allowed


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.ledger import Item, ToolCall


async def served(asked: Asked, live: Live, give: Callable[[Found, Item], Any]) -> Any:
    """Returns what a stub gives for a call.

    Args:
        asked: The call.
        live: Really calls the tool.
        give: Makes the tool's value of the recorded output.
    """
    found = await called(asked)
    if found is REAL:
        with allowed():
            return await _really(asked, live)
    if isinstance(found, Exception):
        return str(found)
    if asked.agent and _runs_again(found):
        return await again(found, partial(_really, asked, live), give)
    for child in found.recorded.children:
        if child.run.parent_call_id == found.call.call_id:
            found.frame.skip(child)
    item = await output(found)
    return give(found, item)


async def _really(asked: Asked, live: Live) -> Any:
    """Calls a tool, so that the runs which it starts are known as its own."""
    frame = FRAME.get()
    token = CALL.set((frame, asked.call_id) if frame and asked.call_id else None)
    try:
        value = live()
        return await value if inspect.isawaitable(value) else value
    finally:
        CALL.reset(token)


def _runs_again(found: Found) -> bool:
    """Whether the call has a nested run that is not replayed yet."""
    call_id = found.call.call_id
    return any(child.run.parent_call_id == call_id for child in found.recorded.children)


async def again(found: Found, live: Live, give: Callable[[Found, Item], Any]) -> Any:
    """Runs an agent that is a tool again, on its recorded calls, and compares what it gives."""
    try:
        value = await live()
    finally:
        await found.turn()
    item = found.output
    tape = found.frame.tape
    if item is None or tape.options.verify == "off" or lacks_content(item.raw):
        return value
    expected = give(found, item)
    if not _alike(expected, value, item):
        cause = "the nested agent, or what its output is made of, is not what it was"
        tape.diverged(
            divergence(found.place, "the tool's output", expected, value, cause)
        )
    return value


def _alike(expected: Any, got: Any, item: Item) -> bool:
    if expected == got or str(expected) == str(got):
        return True
    return item.raw.get("output") == str(got) or differences.same(expected, got)


async def output(found: Found) -> Item:
    """Returns the recorded output when it is its turn, or raises the recorded error."""
    call = found.call
    item = found.output
    if item is None:
        raise await no_output(found)
    if lacks_content(item.raw) or lacks_content(item.output):
        raise found.frame.tape.stop(
            gap(found.place, "this output", "its content was not recorded")
        )
    if item.redacted and found.frame.tape.options.verify == "raise":
        reason = "a redaction changed it; verify='log' serves it as it is"
        raise found.frame.tape.stop(gap(found.place, "this output", reason))
    await found.turn()
    _show_error(call)
    return item


async def no_output(found: Found) -> Exception:
    """Returns what a call without output raises: what it raised, or that it never ended."""
    call = found.call
    if call.error is not None and call.status == "failed":
        await found.turn()
        return _raised(found)
    reason = f"it was {call.status} when this was recorded"
    error = gap(found.place, f"the call of {call.name}", reason)
    await found.frame.cancelled(error)
    return error


def _raised(found: Found) -> Exception:
    error = found.call.error
    assert error is not None  # noqa: S101 - asked for failed calls only
    text = str(error.data.get("error", error.message))
    ended = found.run.error
    for known in (ended.cause, ended) if ended else ():
        if known is not None and known.message == text:
            return failures.rebuilt(known.class_name or known.type, text)
    return failures.rebuilt(None, text)


def _show_error(call: ToolCall) -> None:
    """Marks the span of a tool that failed and told the model so, as the SDK did."""
    error = call.error
    span = get_current_span()
    if error is None or span is None or not error.message:
        return
    span.set_error(SpanError(message=str(error.message), data=dict(error.data) or None))
