"""Searches that know a time range and a limit, and no pages: all results, newest first.

A search that fills its limit may have left something out, so its time is split and both parts are
asked, the newer one first. What was found is given as soon as nothing newer can come.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median_low
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """One result.

    Attributes:
        order: Start of the result, negated, in nanoseconds; results are sorted by it.
        key: What makes it the same as another one.
        payload: What the caller wants with it.
    """

    order: int
    key: str
    payload: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Page:
    """What a search gave.

    Attributes:
        count: How much of the limit it took.
        found: The results.
    """

    count: int
    found: list[Found]


@dataclass(frozen=True, slots=True)
class Paging:
    """How a search is asked.

    Attributes:
        limit: How many results a request asks for.
        most: The same, when time cannot be split further.
        report: Takes a line about what may be left out.
    """

    limit: int
    most: int
    report: Callable[[str], None]


Search = Callable[[int, int, int], Page]
"""Asked with first and last microsecond, both included, and a limit."""


def newest_first(search: Search, lo: int, hi: int, paging: Paging) -> Iterator[Found]:
    """Gives all results of a search, newest start first, each once.

    A result that the search finds by something later than its start waits for its turn.

    Args:
        search: The search.
        lo: First microsecond of the time that is wanted.
        hi: Last microsecond.
        paging: How to ask.
    """
    known: set[str] = set()
    waiting: list[Found] = []
    windows = [(lo, hi)] if lo <= hi else []
    while windows:
        lo, hi = windows.pop()
        page = search(lo, hi, paging.limit)
        if page.count >= paging.limit:
            if hi - lo > 1:
                middle = split(page.found, lo, hi)
                # both include it: a span may lie between two microseconds
                windows += [(lo, middle), (middle, hi)]
                continue
            page = search(lo, hi, paging.most)
            if page.count >= paging.most:
                paging.report(
                    f"more than {paging.most} traces within {hi - lo + 1} microseconds of "
                    f"{lo}; those beyond were not read"
                )
        for found in page.found:
            if found.key not in known:
                known.add(found.key)
                heapq.heappush(waiting, found)
        while waiting and -waiting[0].order >= lo * 1000:
            yield heapq.heappop(waiting)
    while waiting:
        yield heapq.heappop(waiting)


def split(found: list[Found], lo: int, hi: int) -> int:
    """Returns where to split a time so that about half of the results lie on each side."""
    starts = [-one.order // 1000 for one in found]
    inside = [start for start in starts if lo < start < hi]
    return median_low(inside) if inside else (lo + hi) // 2
