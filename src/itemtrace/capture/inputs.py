# pyright: basic
# Raw items and SDK objects are JSON values and Any at this edge
"""What a model call saw, written once: a table of entries and ranges over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from collections.abc import Callable


Ranges = list[list[int]]
"""`[first, count]` pairs over the table of entries."""


class InputTable:
    """The input entries of one run, in the order in which calls first saw them.

    A call's list usually is the one before plus new items. That is checked by comparing the lists
    in C, which costs 0.1 ms for 2,000 items; only a list that was rewritten (a filter, trimming,
    compaction) is matched item by item.
    """

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._previous: list[Any] = []
        self._ranges: Ranges = []
        self._index: dict[Any, list[int]] | None = None

    def __len__(self) -> int:
        return len(self._items)

    def add(
        self, items: list[Any], entry: Callable[[Any], Any]
    ) -> tuple[list[Any], Ranges]:
        """Returns the new entries of a call and the ranges that make its list.

        Args:
            items: What the model is sent.
            entry: Makes the entry of an item that no call saw before.
        """
        known = len(self._previous)
        if known and (len(items) < known or items[:known] != self._previous):
            return self._rewritten(items, entry)
        fresh = items[known:]
        new = [self._append(item, entry) for item in fresh]
        if fresh:
            _extend(self._ranges, len(self._items) - len(fresh), len(fresh))
        self._previous = list(items)
        return new, [list(pair) for pair in self._ranges]

    def _append(self, item: Any, entry: Callable[[Any], Any]) -> Any:
        self._items.append(item)
        if self._index is not None:
            self._index.setdefault(item_key(item), []).append(len(self._items) - 1)
        return entry(item)

    def _rewritten(
        self, items: list[Any], entry: Callable[[Any], Any]
    ) -> tuple[list[Any], Ranges]:
        if self._index is None:
            self._index = {}
            for number, item in enumerate(self._items):
                self._index.setdefault(item_key(item), []).append(number)
        new: list[Any] = []
        ranges: Ranges = []
        used: set[int] = set()
        for item in items:
            found = next(
                (
                    n
                    for n in self._index.get(item_key(item), ())
                    if n not in used and self._items[n] == item
                ),
                None,
            )
            if found is None:
                new.append(self._append(item, entry))
            place = len(self._items) - 1 if found is None else found
            used.add(place)
            _extend(ranges, place, 1)
        self._previous, self._ranges = list(items), ranges
        return new, [list(pair) for pair in ranges]


def _extend(ranges: Ranges, first: int, count: int) -> None:
    if ranges and ranges[-1][0] + ranges[-1][1] == first:
        ranges[-1][1] += count
    else:
        ranges.append([first, count])


def item_key(item: Any) -> Any:
    """A cheap key under which equal items meet; `==` decides."""
    if not isinstance(item, dict):
        return type(item)
    name = item.get("call_id") or item.get("id")
    if isinstance(name, str):
        return (item.get("type"), name)
    content = item.get("content")
    return (item.get("role"), content if isinstance(content, str) else len(item))
