"""Turns, and the usage of a run by agent, model, tool and turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from itemtrace.ledger.calls import ModelCall
from itemtrace.ledger.usage import Usage, total


if TYPE_CHECKING:
    from itemtrace.ledger.items import Item
    from itemtrace.ledger.run import Run
    from itemtrace.ledger.tools import ToolCall


UsageKey = Literal["agent", "model", "tool", "turn"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: a model call, and the tools that its answer called.

    Attributes:
        index: The SDK's number from 1, or the model call's place where the number is not known.
        agent: Whose turn.
        calls: Its model calls; more than one where the SDK asked again.
        items: The items of the answers and their outputs.
        tool_calls: What the answers called.
    """

    index: int
    agent: str | None
    calls: tuple[ModelCall, ...]
    items: tuple[Item, ...]
    tool_calls: tuple[ToolCall, ...]

    @property
    def usage(self) -> Usage:
        """Tokens of the turn's model calls; nested runs are not among them."""
        return usage_of(self.calls)

    @property
    def start_ns(self) -> int:
        """When the first model call started; 0 when unknown."""
        return self.calls[0].start_ns if self.calls else 0


def turn_of(call: ModelCall) -> int:
    """Returns the number of the turn of a call."""
    return call.n + 1 if call.turn is None else call.turn


def turns(run: Run) -> tuple[Turn, ...]:
    """Returns the turns of a run in order; responses of an earlier part of it make none."""
    grouped: dict[int, list[ModelCall]] = {}
    for call in run.model_calls:
        if not call.recalled:
            grouped.setdefault(turn_of(call), []).append(call)
    found: list[Turn] = []
    for index, calls in grouped.items():
        numbers = {call.n for call in calls}
        tools = tuple(
            call
            for call in run.tool_calls
            if call.call is not None and call.call.call in numbers
        )
        outputs = {call.output.seq for call in tools if call.output is not None}
        items = tuple(
            item for item in run.items if item.call in numbers or item.seq in outputs
        )
        found.append(Turn(index, calls[0].agent, tuple(calls), items, tools))
    return tuple(found)


def usage_of(calls: tuple[ModelCall, ...] | list[ModelCall]) -> Usage:
    """Returns the sum of the usage of calls."""
    return total(call.response.usage for call in calls if call.response is not None)


def usage_by(run: Run, key: UsageKey) -> dict[str, Usage]:
    """Returns usage by agent, model, tool or turn, nested runs included.

    By tool there are only the tools that started runs of their own; by turn, nested runs count
    for the turn that called them.

    Raises:
        ValueError: The key is none of these.
    """
    if key not in _KEYS:
        msg = f"usage by {key!r} is not known; expected one of {', '.join(_KEYS)}"
        raise ValueError(msg)
    found: dict[str, Usage] = {}
    for name, call in _KEYS[key](run):
        if call.response is not None and not call.recalled:
            found[name] = found.get(name, Usage()) + call.response.usage
    return found


def all_calls(run: Run) -> Iterator[ModelCall]:
    """Yields the model calls of a run and of its nested runs."""
    waiting = [run]
    while waiting:
        current = waiting.pop()
        yield from current.model_calls
        waiting += reversed(current.runs)


Keyed = Iterator[tuple[str, ModelCall]]


def _by_agent(run: Run) -> Keyed:
    yield from ((call.agent or "", call) for call in all_calls(run))


def _by_model(run: Run) -> Keyed:
    for call in all_calls(run):
        answered = call.response.model if call.response else None
        yield call.model or answered or "", call


def _by_tool(run: Run) -> Keyed:
    for tool in run.tool_calls:
        for child in tool.runs:
            yield from ((tool.name or "", call) for call in all_calls(child))


def _by_turn(run: Run) -> Keyed:
    yield from ((str(turn_of(call)), call) for call in run.model_calls)
    for turn in run.turns:
        for tool in turn.tool_calls:
            for child in tool.runs:
                yield from ((str(turn.index), call) for call in all_calls(child))


_KEYS: Final[Mapping[str, Callable[[Run], Keyed]]] = {
    "agent": _by_agent,
    "model": _by_model,
    "tool": _by_tool,
    "turn": _by_turn,
}
