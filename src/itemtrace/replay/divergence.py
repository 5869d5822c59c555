"""The errors of a replay, as the SDK lets them pass.

The SDK wraps what a tool raises into an error of its own, unless it is one of the SDK's. These are
both, so they reach the caller as they are.
"""

from __future__ import annotations

from typing import Any

from agents.exceptions import AgentsException

from itemtrace.errors import NetworkBlocked, NotOnTape, ReplayDivergence, ReplayGap
from itemtrace.ledger.parts import mapping
from itemtrace.replay import differences


class Divergence(ReplayDivergence, AgentsException):
    """A `ReplayDivergence` that passes through the SDK."""


class Missing(NotOnTape, AgentsException):
    """A `NotOnTape` that passes through the SDK."""


class Gap(ReplayGap, AgentsException):
    """A `ReplayGap` that passes through the SDK."""


class Blocked(NetworkBlocked, AgentsException):
    """A `NetworkBlocked` that passes through the SDK."""


def divergence(
    place: str, what: str, expected: Any, got: Any, cause: str, *, where: str = ""
) -> Divergence:
    """Returns a divergence with a readable difference.

    Args:
        place: Where, such as `R0#2`.
        what: What differs.
        expected: What was recorded.
        got: What the code did.
        cause: What most likely made the difference.
        where: More about the place, for people.
    """
    diff = differences.diff(expected, got)
    at = f" ({where})" if where else ""
    text = f"{place}{at}: {what} is not as recorded\n{diff}\nlikely: {cause}"
    return Divergence(
        text, place=place, what=what, expected=expected, got=got, diff=diff, cause=cause
    )


def missing(place: str, what: str, got: Any, cause: str) -> Missing:
    """Returns the error for something that was not recorded."""
    text = (
        f"{place}: {what} is not on the tape, so it was stopped before it had an effect\n"
        f"likely: {cause}"
    )
    return Missing(text, place=place, what=what, got=got, cause=cause)


def gap(place: str, what: str, reason: str) -> Gap:
    """Returns the error for something that the tape cannot give."""
    return Gap(f"{place}: {what} cannot be served: {reason}", place=place)


def input_differs(
    place: str, expected: list[Any], got: list[Any], first: int, where: str
) -> Divergence:
    """Returns the divergence of a model call's input, from the first entry that differs."""
    what = f"the model's input, from item {first} on ({len(expected)} recorded, {len(got)} now),"
    return divergence(
        place,
        what,
        expected[first:],
        got[first:],
        _cause(expected, got, first),
        where=where,
    )


def _cause(expected: list[Any], got: list[Any], first: int) -> str:
    old = mapping(expected[first]) if first < len(expected) else {}
    new = mapping(got[first]) if first < len(got) else {}
    if not old or not new:
        more = "less" if not new else "more"
        return f"a filter, a session or a handoff gives the model {more} than it did"
    kind = str(old.get("type", ""))
    if kind.endswith("_output"):
        return "a tool that ran gave another value, or a guardrail or output filter changed it"
    if old.get("role") in ("user", "developer", "system"):
        return (
            "the run was given another input, or a filter writes something that changes"
        )
    return "an input filter, a handoff filter or the history is not what it was"
