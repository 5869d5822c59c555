"""The pairing graph of an input list: which output answers which call, what follows reasoning.

The rules are those of the SDK (`agents/run_internal/items.py`, `drop_orphan_function_calls`,
openai-agents 0.24) and of public reports of what the Responses API refuses.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from itemtrace.ledger.items import CALL_OF_OUTPUT, type_of
from itemtrace.ledger.parts import mapping, part


if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


CALL_OF: Final[Mapping[str, str]] = {
    **CALL_OF_OUTPUT,
    "tool_search_output": "tool_search_call",
    "program_output": "program",
    "mcp_approval_response": "mcp_approval_request",
}
"""Type of an answer -> type of what it answers."""

ANSWERS: Final[Mapping[str, str]] = {call: answer for answer, call in CALL_OF.items()}

_CALLERS: Final = frozenset({"user", "system", "developer"})


@dataclass(frozen=True, slots=True)
class Pairing:
    """How the items of a list belong together, by their places in it.

    Attributes:
        answers: Call -> its answer; the first where there are several.
        unanswered: Calls without an answer.
        orphans: Answers without a call, or in front of it.
        doubles: Calls and answers whose id another one of their type had before.
        followers: Reasoning -> the item that the model emitted after it; None where there is none.
        children: Program -> the items that it made.
        strays: Items of a program that is not in the list.
    """

    answers: dict[int, int] = field(default_factory=dict[int, int])
    unanswered: list[int] = field(default_factory=list[int])
    orphans: list[int] = field(default_factory=list[int])
    doubles: list[int] = field(default_factory=list[int])
    followers: dict[int, int | None] = field(default_factory=dict[int, "int | None"])
    children: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    strays: list[int] = field(default_factory=list[int])


def pair(items: Sequence[Any]) -> Pairing:
    """Returns how the items of an input list belong together."""
    found = Pairing()
    _pair_calls(items, found)
    _follow_reasoning(items, found)
    _gather_children(items, found)
    return found


def id_of(item: Any) -> str | None:
    """Returns the id by which a call and its answer find each other; None where there is none."""
    keys = _ID_KEYS.get(type_of(item), ("call_id",))
    known = mapping(item)
    found = next((known[key] for key in keys if known.get(key) is not None), None)
    return found if isinstance(found, str) else None


_ID_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "mcp_approval_request": ("id",),
    "mcp_approval_response": ("approval_request_id",),
    "local_shell_call_output": ("call_id", "id"),
}


def _pair_calls(items: Sequence[Any], found: Pairing) -> None:
    open_calls: dict[tuple[str, str | None], list[int]] = defaultdict(list)
    seen: set[tuple[str, str]] = set()
    for place, item in enumerate(items):
        kind, name = type_of(item), id_of(item)
        if kind not in ANSWERS and kind not in CALL_OF:
            continue
        if name is not None:
            if (kind, name) in seen:
                found.doubles.append(place)
                continue
            seen.add((kind, name))
        if kind in ANSWERS:
            open_calls[kind, name].append(place)
            continue
        waiting = open_calls.get((CALL_OF[kind], name))
        if waiting:
            found.answers[waiting.pop(0)] = place
        else:
            found.orphans.append(place)
    found.unanswered.extend(
        sorted(place for waiting in open_calls.values() for place in waiting)
    )


def _follow_reasoning(items: Sequence[Any], found: Pairing) -> None:
    """A reasoning item belongs to the next item that is none; what a caller adds is no follower."""
    for place, item in enumerate(items):
        if type_of(item) == "reasoning":
            found.followers[place] = next(_after(items, place), None)


def _after(items: Sequence[Any], place: int) -> Iterator[int]:
    for later in range(place + 1, len(items)):
        kind = type_of(items[later])
        if kind == "reasoning":
            continue
        if not from_caller(items[later]):
            yield later
        return


def from_caller(item: Any) -> bool:
    """Whether an item is one that a caller adds, and no model."""
    kind = type_of(item)
    if kind in CALL_OF and kind not in ("program_output", "tool_search_output"):
        return True
    return kind == "message" and item.get("role") in _CALLERS


def _gather_children(items: Sequence[Any], found: Pairing) -> None:
    programs = {
        id_of(item): place
        for place, item in enumerate(items)
        if type_of(item) == "program"
    }
    for place, item in enumerate(items):
        program = program_of(item)
        if program is None:
            continue
        if program in programs:
            found.children.setdefault(programs[program], []).append(place)
        else:
            found.strays.append(place)


def program_of(item: Any) -> str | None:
    """Returns the call id of the program that made an item; None where no program did."""
    caller = part(mapping(item), "caller")
    found = caller.get("caller_id") if caller.get("type") == "program" else None
    return found if isinstance(found, str) else None
