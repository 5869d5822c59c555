"""Input entries: items as a model was sent them, most of them references to item records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec.canonical import TAG, Placeholder
from itemtrace.ledger.parts import is_mapping, is_sequence, mapping, parts, sequence
from itemtrace.ledger.usage import number


if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from itemtrace.ledger.items import Item
    from itemtrace.ledger.run import Run


MOST_ENTRIES: Final = 1_000_000
"""More entries than a list can have; ranges that ask for more are damage, not history."""


def resolve(entry: Any, run: Run) -> Any:
    """Returns the input item of an entry; a `Placeholder` where its target is lost."""
    if type(entry) is int:  # the seq of an item: most entries are; `true` is none
        entry = Placeholder({TAG: "ref", "s": entry})
    if not isinstance(entry, Placeholder) or entry.get(TAG) != "ref":
        return entry
    found = target(entry, run)
    if found is None or found.lost or found.type == "tool_approval_item":
        return Placeholder({**entry, TAG: "missing"})
    sent = found.to_input_item()
    drop = entry.get("drop")
    if not isinstance(drop, list) or not isinstance(sent, dict):
        return sent
    left_out = sequence(drop)
    return {key: value for key, value in mapping(sent).items() if key not in left_out}


def target(entry: Mapping[str, Any], run: Run) -> Item | None:
    """Returns the item that a reference names; None where it is not there."""
    other = run.book.runs.get(str(entry.get("r", run.run_id)))
    return None if other is None else other.item_at(entry.get("s"))


def resolve_all(entries: Iterable[Any], run: Run) -> list[Any]:
    """Returns the input items of entries."""
    return [resolve(entry, run) for entry in entries]


def resolve_deep(value: Any, run: Run) -> Any:
    """Returns a value with raw items for the references in it, however deep they stand."""
    if isinstance(value, Placeholder):
        found = target(value, run) if value.get(TAG) == "ref" else None
        return value if found is None else found.raw
    if is_mapping(value):
        return {key: resolve_deep(child, run) for key, child in value.items()}
    if is_sequence(value):
        return [resolve_deep(child, run) for child in value]
    return value


@dataclass(frozen=True, slots=True)
class Table:
    """The table of input entries of one run, as far as it is known.

    Attributes:
        entries: From the first; it ends where a model call is lost, since the places of all later
            entries depend on it.
        run: Whose table it is.
    """

    entries: Sequence[Any]
    run: Run

    def at(self, ranges: Iterable[Any]) -> list[Any]:
        """Returns the entries of ranges over the table, resolved."""
        found: list[Any] = []
        for first, count in pairs(ranges):
            known = self.entries[first : first + count]
            found += resolve_all(known, self.run)
            absent = min(count, MOST_ENTRIES - len(found)) - len(known)
            found += [
                Placeholder({TAG: "missing", "entry": first + len(known) + number})
                for number in range(absent)
            ]
        return found


def pairs(ranges: Iterable[Any]) -> Iterable[tuple[int, int]]:
    """Yields `[first, count]` pairs, leaving out what is none."""
    for pair in ranges:
        match pair:
            case [int(first), int(count)] if first >= 0 and 0 < count <= MOST_ENTRIES:
                yield first, count
            case _:
                continue


def seqs(ranges: Iterable[Any], most: int) -> list[int]:
    """Returns the numbers of a list of seqs and `[first, count]` ranges.

    Args:
        ranges: As in the `items` of an `end` record.
        most: A bound for the result; a run has no more items than records.
    """
    found: list[int] = []
    for entry in ranges:
        if isinstance(entry, int):
            found.append(entry)
        else:
            for first, count in pairs([entry]):
                found += range(first, first + min(count, most - len(found)))
        if len(found) >= most:
            break
    return found


def origins(input_: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Returns where the entries of a call came from: `history`, `input` or `added`, and how many."""
    found = [sequence(pair) for pair in parts(input_, "origin")]
    return [(str(pair[0]), number(pair[1])) for pair in found if len(pair) == 2]
