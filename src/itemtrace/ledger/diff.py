"""Two runs or ledgers side by side: where they part first, and everything that differs.

    found = itemtrace.diff(before, after)
    found.first

Runs are aligned by their path, model calls and tool calls by what they are and not by their ids: those
differ between any two runs. Texts, arguments, outputs, tokens and times are compared.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from itemtrace.ledger.alike import aligned, arguments_of, same
from itemtrace.ledger.model import Ledger
from itemtrace.ledger.parts import mapping


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from itemtrace.ledger.calls import ModelCall
    from itemtrace.ledger.run import Run
    from itemtrace.ledger.tools import ToolCall


SLOWER: Final = 2.0
"""A time differs when it is this many times another one, and …"""

SLOWER_SECONDS: Final = 0.1
"""… this many seconds more."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same.

    Attributes:
        place: Where: `R0`, `R0#2`, `R0 turn 3 find_order`.
        what: `agent`, `instructions`, `input`, `output`, `arguments`, `usage`, `time`, … or `missing`
            and `added`.
        left: What the first one has.
        right: What the second one has.
    """

    place: str
    what: str
    left: Any = None
    right: Any = None

    @property
    def of_content(self) -> bool:
        """Whether it is more than tokens and time."""
        return self.what not in ("usage", "time")

    def to_json(self) -> dict[str, Any]:
        """Returns it as JSON."""
        return {
            "place": self.place,
            "what": self.what,
            "left": self.left,
            "right": self.right,
        }


@dataclass(frozen=True, slots=True)
class Diff:
    """Everything that differs between two runs or ledgers, in the order in which it happened.

    Attributes:
        differences: All of it.
    """

    differences: tuple[Difference, ...] = ()

    @property
    def first(self) -> Difference | None:
        """Where they part: the first difference of content; None where there is none."""
        return next((found for found in self.differences if found.of_content), None)

    @property
    def equal(self) -> bool:
        """Whether the content is the same; tokens and times may differ."""
        return self.first is None

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    def __str__(self) -> str:
        if not self.differences:
            return "no differences"
        return "\n".join(f"{d.place}: {d.what}" for d in self.differences)


def diff(left: Ledger | Run, right: Ledger | Run) -> Diff:
    """Returns what differs between two runs or ledgers.

    Args:
        left: A run or a ledger.
        right: The one to compare it with.
    """
    found: list[Difference] = []
    old = list(left.runs) if isinstance(left, Ledger) else [left]
    new = list(right.runs) if isinstance(right, Ledger) else [right]
    for number in range(max(len(old), len(new))):
        _pair(f"R{number}", _at(old, number), _at(new, number), found)
    return Diff(tuple(found))


def _at(runs: list[Run], number: int) -> Run | None:
    return runs[number] if number < len(runs) else None


def _pair(path: str, old: Run | None, new: Run | None, found: list[Difference]) -> None:
    if old is None or new is None:
        run, what = (old, "missing") if new is None else (new, "added")
        name = run.agent if run is not None else None
        found.append(
            Difference(path, what, *((name, None) if new is None else (None, name)))
        )
        return
    _compare(path, old, new, BEFORE, found)
    _calls(path, old, new, found)
    _compare(path, old, new, AFTER, found)
    _times(path, old, new, found)


# --- facts --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fact:
    """Something of a run or a call that is compared."""

    what: str
    of: Callable[[Any], Any]


def _compare(
    place: str, old: Any, new: Any, facts: Iterable[Fact], found: list[Difference]
) -> None:
    for fact in facts:
        left, right = fact.of(old), fact.of(new)
        if left != right and not same(left, right):
            found.append(Difference(place, fact.what, left, right))


def _times(place: str, old: Any, new: Any, found: list[Difference]) -> None:
    left, right = _seconds(old), _seconds(new)
    low, high = sorted((left, right))
    if low > 0 and high > low * SLOWER and high - low > SLOWER_SECONDS:
        found.append(Difference(place, "time", round(left, 3), round(right, 3)))


def _seconds(of: Any) -> float:
    duration = getattr(of, "duration", None)
    if isinstance(duration, float):
        return duration
    started, ended = getattr(of, "started_ns", 0), getattr(of, "ended_ns", 0)
    return float(ended - started) / 1e9 if started and ended else 0.0


def _tokens(usage: Any) -> dict[str, int]:
    return {
        "requests": usage.requests,
        "input": usage.input_tokens,
        "output": usage.output_tokens,
    }


def _names(call: ModelCall) -> list[str]:
    return sorted(
        str(mapping(tool).get("name") or mapping(tool).get("type"))
        for tool in call.tools
    )


def _answered(call: ModelCall) -> Any:
    return None if call.response is None else list(call.response.output)


def _error(of: Any) -> Any:
    return None if of.error is None else [of.error.type, of.error.message]


BEFORE: Final = (
    Fact("agent", lambda run: run.agent),
    Fact("input", lambda run: run.given_input),
    Fact("options", lambda run: dict(run.options)),
)
"""What a run began with."""

AFTER: Final = (
    Fact("status", lambda run: run.status),
    Fact("error", _error),
    Fact("final output", lambda run: run.final_output),
    Fact("last agent", lambda run: run.last_agent),
    Fact("usage", lambda run: _tokens(run.usage)),
)
"""How it ended."""

OF_MODEL_CALLS: Final = (
    Fact("agent", lambda call: call.agent),
    Fact("model", lambda call: call.model),
    Fact("instructions", lambda call: call.system),
    Fact("settings", lambda call: dict(call.settings)),
    Fact("tools", _names),
    Fact("input", lambda call: call.input),
    Fact("output", _answered),
    Fact("error", _error),
    Fact("usage", lambda call: _tokens(call.response.usage) if call.response else None),
)

OF_TOOL_CALLS: Final = (
    Fact("arguments", lambda call: arguments_of(call.arguments)),
    Fact("status", lambda call: call.status),
    Fact("output", lambda call: call.output.output if call.output else None),
    Fact("error", _error),
)


# --- calls in their order --------------------------------------------------------------


def _calls(path: str, old: Run, new: Run, found: list[Difference]) -> None:
    """Compares model calls by their place, and the tool calls of each by what they call."""
    left, right = _own(old), _own(new)
    tools_left, tools_right = _tools(old, left), _tools(new, right)
    for number in range(max(len(left), len(right), 1)):
        place = f"{path}#{number}"
        if number < min(len(left), len(right)):
            _compare(place, left[number], right[number], OF_MODEL_CALLS, found)
            _times(place, left[number], right[number], found)
        elif number < len(left):
            found.append(Difference(place, "missing", _answered(left[number]), None))
        elif number < len(right):
            found.append(Difference(place, "added", None, _answered(right[number])))
        where = Where(path, f"{path} turn {number + 1}", old, new)
        _tool_calls(
            where, tools_left.get(number, []), tools_right.get(number, []), found
        )
    where = Where(path, path, old, new)
    _tool_calls(where, tools_left.get(-1, []), tools_right.get(-1, []), found)
    loose = [
        [child for child in run.runs if child.parent_call_id is None]
        for run in (old, new)
    ]
    for number in range(max(map(len, loose))):
        at = f"{path}/nested.{number}"
        _pair(at, _at(loose[0], number), _at(loose[1], number), found)


def _own(run: Run) -> list[ModelCall]:
    return [call for call in run.model_calls if not call.recalled]


def _tools(run: Run, calls: list[ModelCall]) -> Mapping[int, list[ToolCall]]:
    """Returns the tool calls by the place of the model call that made them; -1 for others."""
    places = {call.n: number for number, call in enumerate(calls)}
    grouped: dict[int, list[ToolCall]] = defaultdict(list)
    for tool in run.tool_calls:
        made_by = tool.call.call if tool.call is not None else None
        grouped[-1 if made_by is None else places.get(made_by, -1)].append(tool)
    return grouped


@dataclass(frozen=True, slots=True)
class Where:
    """Where tool calls are compared."""

    path: str
    turn: str
    old: Run
    new: Run


def _tool_calls(
    where: Where, old: list[ToolCall], new: list[ToolCall], found: list[Difference]
) -> None:
    for left, right in aligned(old, new):
        tool = left or right
        name = (tool.name if tool else None) or "?"
        place = f"{where.turn} {name}"
        if left is None or right is None:
            what = "missing" if right is None else "added"
            shown = [
                None if t is None else arguments_of(t.arguments) for t in (left, right)
            ]
            found.append(Difference(place, what, *shown))
            continue
        _nested(where.path, left, right, found)
        _compare(place, left, right, OF_TOOL_CALLS, found)
        _times(place, left, right, found)


def _nested(
    path: str, left: ToolCall, right: ToolCall, found: list[Difference]
) -> None:
    for number in range(max(len(left.runs), len(right.runs))):
        name = f"{left.name or '?'}" + (f".{number}" if number else "")
        _pair(
            f"{path}/{name}",
            _at(list(left.runs), number),
            _at(list(right.runs), number),
            found,
        )
