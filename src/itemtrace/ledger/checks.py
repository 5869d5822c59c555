"""Whether an input list is one that the Responses API would accept, and why not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from itemtrace.codec.canonical import TAG
from itemtrace.ledger.items import type_of
from itemtrace.ledger.pairing import Pairing, id_of, pair, program_of
from itemtrace.ledger.parts import mapping, sequence


PLACEHOLDER_ID: Final = "__fake_id__"
"""What the SDK gives items of providers without ids; it is refused when it is sent."""

CONDITIONAL: Final = frozenset({"server_only", "approval_pending"})
"""Codes of what may be accepted: it depends on what the server stores."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an input list would be refused.

    Attributes:
        index: Place of the item.
        code: A stable word for programs.
        message: For people.
        call_id: The call's id, where there is one.
    """

    index: int
    code: str
    message: str
    call_id: str | None = None

    def __str__(self) -> str:
        return f"item {self.index}: {self.message}"


Rule = Callable[[Sequence[Any], Pairing], Iterable[Problem]]


def check(items: Sequence[Any], *, chained: bool = False) -> list[Problem]:
    """Returns the problems of an input list in order of their place; empty when it is fine.

    Args:
        items: Input items, as `Run.to_input_list()` or `ModelCall.input` give them.
        chained: The request names a `previous_response_id` or a conversation, so calls and
            outputs may have their other half on the server.
    """
    pairing = pair(items)
    rules = (*RULES, *(() if chained else UNCHAINED_RULES))
    found = [problem for rule in rules for problem in rule(items, pairing)]
    return sorted(found, key=lambda problem: (problem.index, problem.code))


def acceptable(items: Sequence[Any], *, chained: bool = False) -> bool:
    """Whether nothing in an input list is refused, whatever the server stores."""
    return all(problem.code in CONDITIONAL for problem in check(items, chained=chained))


def _at(items: Sequence[Any], place: int, code: str, message: str) -> Problem:
    name = id_of(items[place])
    what = " ".join(filter(None, (type_of(items[place]), name)))
    return Problem(place, code, f"{what} {message}", name)


# --- pairs ----------------------------------------------------------------------


def calls_without_output(items: Sequence[Any], pairing: Pairing) -> Iterator[Problem]:
    """Each call needs its output; a program that made items may still be at work."""
    for place in pairing.unanswered:
        kind = type_of(items[place])
        if kind == "program" and place in pairing.children:
            continue
        if program_of(items[place]) is not None and is_open_shell(items[place]):
            continue
        if kind == "mcp_approval_request":
            yield _at(items, place, "approval_pending", "has no response yet")
        else:
            yield _at(items, place, "call_without_output", "has no output")


def is_open_shell(item: Any) -> bool:
    """Whether an item is a hosted shell call that its program may leave open."""
    status = mapping(item).get("status")
    return type_of(item) == "shell_call" and status in (None, "in_progress")


def outputs_without_call(items: Sequence[Any], pairing: Pairing) -> Iterator[Problem]:
    """Each output needs its call before it."""
    for place in pairing.orphans:
        yield _at(items, place, "output_without_call", "has no call before it")


def strays(items: Sequence[Any], pairing: Pairing) -> Iterator[Problem]:
    """What a program made needs the program."""
    for place in pairing.strays:
        yield _at(
            items, place, "without_program", "was made by a program that is not there"
        )


# --- single items ---------------------------------------------------------------


def doubles(items: Sequence[Any], pairing: Pairing) -> Iterator[Problem]:
    """One call and one output for each id."""
    for place in pairing.doubles:
        yield _at(items, place, "double", "is there twice")


def lone_reasoning(items: Sequence[Any], pairing: Pairing) -> Iterator[Problem]:
    """Reasoning needs what the model emitted after it (openai-agents #2503, #2727)."""
    for place, follower in pairing.followers.items():
        if follower is None:
            name = items[place].get("id")
            message = f"reasoning {name} lacks the item that the model emitted after it"
            yield Problem(place, "lone_reasoning", message)


def server_only(items: Sequence[Any], _: Pairing) -> Iterator[Problem]:
    """Reasoning without encrypted content is found by the server or not at all (#2265)."""
    for place, item in enumerate(items):
        if type_of(item) == "reasoning" and not item.get("encrypted_content"):
            message = (
                f"reasoning {item.get('id')} has no encrypted content; "
                "only a server that stored it can resolve it"
            )
            yield Problem(place, "server_only", message)


def placeholder_ids(items: Sequence[Any], _: Pairing) -> Iterator[Problem]:
    """A made-up id is refused (#2293)."""
    for place, item in enumerate(items):
        if mapping(item).get("id") == PLACEHOLDER_ID:
            message = f"{type_of(item)} has the placeholder id {PLACEHOLDER_ID}; leave the id out"
            yield Problem(place, "placeholder_id", message)


def not_whole(items: Sequence[Any], _: Pairing) -> Iterator[Problem]:
    """What is lost or withheld cannot be sent."""
    for place, item in enumerate(items):
        if lacks_content(item):
            message = (
                f"{type_of(item) or 'an item'} is lost or withheld, at least in part"
            )
            yield Problem(place, "not_whole", message)


def lacks_content(value: Any) -> bool:
    """Whether a placeholder stands somewhere in a value."""
    found = mapping(value)
    return (
        TAG in found
        or any(map(lacks_content, found.values()))
        or any(map(lacks_content, sequence(value)))
    )


RULES: Final[tuple[Rule, ...]] = (
    doubles,
    lone_reasoning,
    server_only,
    placeholder_ids,
    not_whole,
)
"""What holds for every list."""

UNCHAINED_RULES: Final[tuple[Rule, ...]] = (
    calls_without_output,
    outputs_without_call,
    strays,
)
"""What holds where no part of the history is on the server."""
