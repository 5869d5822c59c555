"""One recorded run, indexed for being played: position finds, content verifies."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.ledger.entries import pairs, resolve_all
from itemtrace.ledger.parts import is_mapping, is_sequence
from itemtrace.replay.report import Entry


if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from itemtrace.ledger import Item, ModelCall, Run, ToolCall


NO_SPAN: Final = frozenset({"local_shell_call"})
"""Calls that the SDK runs without a span, so that no time of theirs is known."""

NOT_RUN: Final = frozenset({"pending", "rejected", "cancelled"})


class RecordedRun:
    """A run of the tape, and what of it was already given.

    Attributes:
        run: The run of the ledger.
        path: Its place: `R0`, or its parent's path, a slash and the call that started it.
        calls: Its own model calls; those known from a state only are not among them.
        started: Whether a replay reached it.
    """

    def __init__(self, run: Run, path: str) -> None:
        self.run = run
        self.path = path
        self.calls = [call for call in run.model_calls if not call.recalled]
        self.started = False
        self.served_calls: set[int] = set()
        self.served_tools: set[int] = set()
        self.children = [
            RecordedRun(child, f"{path}/{name}") for name, child in _named(run)
        ]
        self._by_id: dict[str | None, deque[int]] = defaultdict(deque)
        for place, tool in enumerate(run.tool_calls):
            self._by_id[tool.call_id].append(place)
        self._listed = {item.seq: item for item in run.new_items}
        self._not_run = {
            body.get("call")
            for _, body in run.bodies("tool")
            if body.get("status") in NOT_RUN
        }
        self._entries: list[Any] | None = None

    @property
    def tools(self) -> tuple[ToolCall, ...]:
        """Its tool calls."""
        return self.run.tool_calls

    def all_runs(self) -> Iterator[RecordedRun]:
        """Yields this run and all under it."""
        yield self
        for child in self.children:
            yield from child.all_runs()

    # --- model calls --------------------------------------------------------------

    def input_of(self, call: ModelCall) -> list[Any]:
        """Returns what a call was sent; its entries are resolved once for all calls."""
        if call.table is None:
            return []
        if self._entries is None:
            self._entries = resolve_all(call.table.entries, self.run)
        known = self._entries
        found: list[Any] = []
        for first, count in pairs(call.ranges):
            if first + count > len(known):
                return call.input
            found += known[first : first + count]
        return found

    @property
    def history(self) -> list[Any]:
        """What the run's session held before, as far as the first call saw it."""
        if not self.calls:
            return []
        items = self.input_of(self.calls[0])
        found: list[Any] = []
        place = 0
        for kind, count in self.calls[0].origin:
            if kind == "history":
                found += items[place : place + count]
            place += count
        return found

    # --- tool calls ---------------------------------------------------------------

    def tool_by_id(self, call_id: str | None) -> int | None:
        """Returns the place of the next call with an id; the last one again when all were given."""
        waiting = self._by_id.get(call_id)
        if not waiting:
            return None
        while len(waiting) > 1 and waiting[0] in self.served_tools:
            waiting.popleft()
        return waiting[0]

    def tool_by_content(self, name: str | None, arguments: Any) -> int | None:
        """Returns the place of the first call not given yet of a tool with these arguments."""
        wanted = canonical_arguments(arguments)
        for place, tool in enumerate(self.tools):
            if place in self.served_tools or tool.hosted or tool.name != name:
                continue
            if canonical_arguments(tool.arguments) == wanted:
                return place
        return None

    def tool_by_type(self, raw_type: str) -> int | None:
        """Returns the place of the first call of a type that was not given yet."""
        for place, tool in enumerate(self.tools):
            call = tool.call
            if place not in self.served_tools and call and call.raw_type == raw_type:
                return place
        return None

    def asked_by_tape(self, place: int) -> bool:
        """Whether the response that made a call was served; after a fork the others are real."""
        item = self.tools[place].call
        numbers = [n for n, c in enumerate(self.calls) if item and c.n == item.call]
        return not numbers or numbers[0] in self.served_calls

    def output_of(self, place: int) -> Item | None:
        """Returns the output of a call, the result's own item where an input showed a part of it before."""
        item = self.tools[place].output
        if item is None or item.seq in self._listed:
            return item
        for listed in self._listed.values():
            if listed.call_id == item.call_id and listed.raw_type == item.raw_type:
                return listed
        return item

    # --- nested runs --------------------------------------------------------------

    def child(self, call_id: str | None, agent: str | None) -> RecordedRun | None:
        """Returns the next nested run of a call; without a call, the next of that agent."""
        waiting = [
            c
            for c in self.children
            if not c.started and c.run.parent_call_id == call_id
        ]
        if call_id is None:
            waiting = [c for c in waiting if c.run.agent == agent] or waiting
        return waiting[0] if waiting else None

    # --- what is on the tape --------------------------------------------------------

    def events(self) -> Iterator[tuple[Hashable, int]]:
        """Yields key and time of each completion in this run and under it."""
        for recorded in self.all_runs():
            yield from recorded.own_events()

    def own_events(self) -> Iterator[tuple[Hashable, int]]:
        """Yields key and time of each completion of this run alone."""
        for number, call in enumerate(self.calls):
            if call.end_ns and (call.response or call.error):
                yield self.model_key(number), call.end_ns
        for place, tool in enumerate(self.tools):
            if tool.end_ns and not self._kept_back(tool):
                yield self.tool_key(place), tool.end_ns

    def model_key(self, number: int) -> Hashable:
        """Returns the key of a model call."""
        return self.run.run_id, "model", number

    def tool_key(self, place: int) -> Hashable:
        """Returns the key of a tool call."""
        return self.run.run_id, "tool", place

    def turn_of(self, place: int) -> int | None:
        """Returns the turn of a tool call."""
        item = self.tools[place].call
        if item is None or item.call is None:
            return None
        return next(
            (
                c.turn or number + 1
                for number, c in enumerate(self.calls)
                if c.n == item.call
            ),
            None,
        )

    def tool_place(self, place: int) -> str:
        """Returns where a tool call is, for people."""
        tool = self.tools[place]
        turn = self.turn_of(place)
        return f"{self.path} turn {turn or '?'} {tool.call_id or tool.name}"

    def unused(self) -> Iterator[Entry]:
        """Yields what a replay never asked for; a run that it never reached is one entry."""
        if not self.started:
            yield Entry("run", self.path, self.run.agent or "", "unused")
            return
        for number, call in enumerate(self.calls):
            if number not in self.served_calls and (call.response or call.error):
                place = f"{self.path}#{number}"
                yield Entry("model call", place, call.agent or "", "unused")
        for number, tool in enumerate(self.tools):
            if number not in self.served_tools and self._ran(tool):
                at = self.tool_place(number)
                yield Entry("tool call", at, tool.name or "", "unused")
        for child in self.children:
            if child.started or not self._covered(child):
                yield from child.unused()

    def _ran(self, tool: ToolCall) -> bool:
        """Whether a call was executed on the application's side and gave something."""
        if tool.hosted or tool.output is None or self._kept_back(tool):
            return False
        local = tool.call is not None and tool.call.raw_type in NO_SPAN
        return local or bool(tool.start_ns)

    def _kept_back(self, tool: ToolCall) -> bool:
        """Whether a call was not executed: it waits, was rejected, or a guardrail answered for it."""
        return tool.status in NOT_RUN or tool.call_id in self._not_run

    def _covered(self, child: RecordedRun) -> bool:
        """Whether a nested run was served by the output of the call that started it."""
        return any(
            self.tools[place].call_id == child.run.parent_call_id
            for place in self.served_tools
        )


def _named(run: Run) -> Iterator[tuple[str, Run]]:
    """Yields the nested runs with the last part of their path."""
    seen: dict[str, int] = {}
    for child in run.runs:
        name = (
            child.parent_call_id or child.begin.get("parent", {}).get("span") or "run"
        )
        number = seen.get(name, 0)
        seen[name] = number + 1
        yield (f"{name}.{number}" if number else str(name)), child


def canonical_arguments(arguments: Any) -> str:
    """Returns arguments so that equal ones are equal text, however they were written."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return canonical.dumps(arguments)
    return canonical.dumps(_sorted(arguments))


def _sorted(value: Any) -> Any:
    if is_mapping(value):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if is_sequence(value):
        return [_sorted(child) for child in value]
    return value
