"""Stores that are asked for one trace at a time, after a search that finds too many rather than too few.

A subclass searches and fetches. What the search cannot say exactly is decided here, on whole traces.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from itertools import islice
from typing import TYPE_CHECKING

from itemtrace.errors import ConfigError
from itemtrace.stores.base.contract import Store
from itemtrace.stores.base.index import index_runs, selects_trace
from itemtrace.stores.base.query import EVERYTHING, Query, RunSummary, matches


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class FetchedStore(Store):
    """A store that fetches whole traces."""

    @abstractmethod
    def found(self, query: Query) -> Iterator[str]:
        """Gives the ids of all traces that may be wanted, newest start first."""

    @abstractmethod
    def trace(self, trace_id: str) -> list[SpanRow]:
        """Returns the rows of a trace; none if it is not there."""

    def candidates(self, query: Query) -> Iterator[list[SpanRow]]:
        """Gives the rows of each trace that may be wanted, newest start first."""
        self.capabilities.check(query, self.url)
        if not query.trace_ids:
            yield from filter(None, map(self.trace, self.found(query)))
            return
        asked = [self.trace(one) for one in dict.fromkeys(query.trace_ids)]
        asked.sort(key=lambda rows: -started(rows))
        yield from (rows for rows in asked if rows)

    def traces(
        self, query: Query = EVERYTHING
    ) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, newest start first; see `Store.traces`."""
        return islice(self.selected(query), query.limit)

    def selected(self, query: Query) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, whatever the limit."""
        for rows in self.candidates(query):
            trace_id = rows[0].trace_id
            runs = [draft.summary() for draft in index_runs(rows)]
            if selects_trace(query, trace_id, started(rows), runs):
                yield trace_id, rows

    def runs(self, query: Query = EVERYTHING) -> Iterator[RunSummary]:
        """Gives the selected runs, newest start first; fetches their traces for it."""
        found = [
            run
            for rows in self.candidates(query)
            for run in (draft.summary() for draft in index_runs(rows))
            if matches(run, query)
        ]
        found.sort(key=lambda run: -run.started_ns)
        return islice(found, query.limit)

    def report(self, line: str) -> None:
        """Notes a problem, once."""
        if line not in self.problems:
            self.problems.append(line)


def started(rows: Iterable[SpanRow]) -> int:
    """Returns the earliest known start of a trace."""
    return min((row.start_ns for row in rows if row.start_ns), default=0)


def lookback_of(text: str, url: str) -> int:
    """Returns the seconds of `90m`, `12h`, `30d` or `8w`.

    Raises:
        ConfigError: It is nothing of the kind.
    """
    match = re.fullmatch(r"(\d+)([mhdw])", text)
    if match is None:
        msg = f"{url} has lookback={text}; expected a number with m, h, d or w, such as 30d"
        raise ConfigError(msg)
    return int(match[1]) * UNITS[match[2]]
