"""The contract of a store; `itemtrace.testing.store_contract` is the same as tests.

What every store promises:

- `traces` gives one trace at a time, newest start first, with all rows of it that the store has, in
  any order, doubles included. Memory is bounded by the largest trace, not by the store.
- Arrays come back as lists, maps as dicts; what a backend does to values is its own affair, and
  the record format copes with it.
- An id that is not there gives nothing; `itemtrace.load` turns that into `TraceNotFound`.
- A criterion that the store cannot apply is refused (`ConfigError`), never approximated.
- What could not be read, while the rest could, is a line in `problems`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

from itemtrace.errors import ConfigError
from itemtrace.stores.base.query import EVERYTHING, Query, RunSummary


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from itemtrace.codec.spans import SpanRow


ALL_FILTERS = frozenset(field.name for field in fields(Query))
"""Every field of a `Query`."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a kind of store can do.

    Attributes:
        write: It takes rows.
        list_runs: It can list runs.
        filters: The fields of `Query` that it applies.
        index: Listing runs and reading one trace do not read everything.
        streaming: Reading all traces is bounded in memory by the largest one.
        surrogates: Lone surrogates in text survive.
        exact: Values come back as they were written: types, nesting, order of keys.
        concurrent_writers: Several processes may write at once.
    """

    write: bool = False
    list_runs: bool = True
    filters: frozenset[str] = ALL_FILTERS
    index: bool = False
    streaming: bool = True
    surrogates: bool = False
    exact: bool = False
    concurrent_writers: bool = False

    def check(self, query: Query, source: str) -> None:
        """Refuses a query that the store cannot apply.

        Raises:
            ConfigError: The query has criteria outside `filters`.
        """
        default = EVERYTHING
        asked = {
            field.name
            for field in fields(Query)
            if getattr(query, field.name) != getattr(default, field.name)
        }
        refused = sorted(asked - self.filters)
        if refused:
            msg = (
                f"{source} cannot filter by {', '.join(refused)}; it can by "
                f"{', '.join(sorted(self.filters)) or 'nothing'}"
            )
            raise ConfigError(msg)


class Store(ABC):
    """A place where spans are kept. Use it as a context manager, or close it.

    Attributes:
        url: The source, without credentials.
        capabilities: What this kind of store can do.
        problems: One line for each thing that could not be read while the rest could; it grows
            while the store is read.
    """

    capabilities: Capabilities
    url: str
    problems: list[str]

    @abstractmethod
    def traces(
        self, query: Query = EVERYTHING
    ) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, newest start first, as `(trace_id, rows)`.

        The rows of a trace are valid until the next trace is asked for.

        Raises:
            SourceError: The store cannot be read.
            ConfigError: The store cannot apply the query.
        """

    @abstractmethod
    def runs(self, query: Query = EVERYTHING) -> Iterator[RunSummary]:
        """Gives the selected runs, newest start first.

        Raises:
            SourceError: The store cannot be read.
            ConfigError: The store cannot apply the query.
        """

    @abstractmethod
    def close(self) -> None:
        """Gives back what the store holds; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class WritableStore(Store):
    """A store that takes rows."""

    @abstractmethod
    def write(self, rows: Iterable[SpanRow]) -> int:
        """Adds rows, all or none, and returns how many.

        Raises:
            SourceError: The rows could not be written; what was there before is whole.
        """
