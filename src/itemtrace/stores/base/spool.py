"""Stores whose content is fetched before it is read: into a directory that is a store of its own.

A subclass says what to fetch. All else is the store of OTLP files: traces may interleave in what is
fetched, one trace at a time is in memory, and the rest waits on the disk.
"""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from itemtrace.stores.base.contract import Store
from itemtrace.stores.base.query import EVERYTHING, Query, RunSummary
from itemtrace.stores.base.registry import open_store


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


class SpooledStore(Store):
    """A store that fetches OTLP files into a temporary directory.

    Attributes:
        complaints: What could not be fetched or used, one line each.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.problems: list[str] = []
        self.complaints: list[str] = []
        self.temporary: tempfile.TemporaryDirectory[str] | None = None
        self.inner: Store | None = None

    @abstractmethod
    def fetch(self, directory: Path) -> None:
        """Brings the OTLP files in a directory up to date.

        Raises:
            SourceError: They cannot be fetched.
        """

    def forget(self) -> None:
        """Is called when what was fetched is gone."""

    def refresh(self) -> Store | None:
        """Fetches what is new and returns the store of all of it; None while there is nothing."""
        if self.temporary is None:
            self.temporary = tempfile.TemporaryDirectory(prefix="itemtrace-")
        directory = Path(self.temporary.name)
        self.fetch(directory)
        if self.inner is None and any(directory.iterdir()):
            self.inner = open_store(directory)
        return self.inner

    def traces(
        self, query: Query = EVERYTHING
    ) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, newest start first; see `Store.traces`."""
        self.capabilities.check(query, self.url)
        inner = self.refresh()
        for trace_id, rows in () if inner is None else inner.traces(query):
            yield trace_id, self.noted(rows)
        self.note()

    def runs(self, query: Query = EVERYTHING) -> Iterator[RunSummary]:
        """Gives the selected runs, newest start first; reads everything for it."""
        self.capabilities.check(query, self.url)
        inner = self.refresh()
        yield from () if inner is None else inner.runs(query)
        self.note()

    def noted(self, rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
        """Gives rows, and notes what went wrong with them."""
        yield from rows
        self.note()

    def note(self) -> None:
        """Tells the problems of all that was fetched, by the names that the user knows."""
        found = list(self.complaints)
        if self.inner is not None and self.temporary is not None:
            place = self.temporary.name
            found += [text.replace(place, self.url) for text in self.inner.problems]
        self.problems[:] = found

    def close(self) -> None:
        """Removes what was fetched; the next use fetches again."""
        inner, self.inner = self.inner, None
        temporary, self.temporary = self.temporary, None
        if inner is not None:
            inner.close()
        if temporary is not None:
            temporary.cleanup()
            self.complaints.clear()
            self.forget()
