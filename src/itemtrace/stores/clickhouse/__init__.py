"""ClickHouse: the table `otel_traces` of the Collector's exporter, through clickhouse-connect.

    clickhouse://user:password@host:8123/database?table=otel_traces

Queries are narrowed in ClickHouse; what it cannot say exactly is decided here, on the runs that are
left. Spans are written by a Collector, not by this store.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from itemtrace.errors import SourceError
from itemtrace.stores.base import (
    EVERYTHING,
    Capabilities,
    Query,
    RunSummary,
    Store,
    index_runs,
    matches,
    redact,
    register,
    selects_trace,
)
from itemtrace.stores.clickhouse.client import DATABASE, TABLE, connect, lines, table_of
from itemtrace.stores.clickhouse.rows import run_row, span_row
from itemtrace.stores.clickhouse.statements import PAGE, about_runs


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow
    from itemtrace.stores.clickhouse.statements import Statement


SCHEMES: Final = ("clickhouse", "clickhouse+http", "clickhouse+https")


@register(*SCHEMES)
class ClickHouseStore(Store):
    """Spans in the Collector's table; see the module."""

    capabilities = Capabilities(index=True)

    def __init__(self, source: str, *, write: bool = False, client: Any = None) -> None:
        """Opens the store.

        Args:
            source: The URL.
            write: Refused: a Collector writes this table.
            client: A client of clickhouse-connect that is used instead of a new one.

        Raises:
            ConfigError: The URL names no server.
            MissingExtra: clickhouse-connect is not installed.
            SourceError: The server cannot be reached, refuses, has no such table, or was to be
                written.
        """
        self.url = redact(source)
        if write:
            msg = (
                f"{self.url} can only be read; send spans to a Collector with a ClickHouse "
                "exporter: OTEL_EXPORTER_OTLP_ENDPOINT=http://host:4318"
            )
            raise SourceError(msg, source=self.url)
        parts = urlsplit(source)
        options = parse_qs(parts.query)
        self.problems: list[str] = []
        self.owns = client is None
        self.client = connect(source) if client is None else client
        self.table = table_of(
            self.client,
            self.url,
            unquote(parts.path.strip("/")) or DATABASE,
            options.get("table", [TABLE])[-1],
        )

    def ask(self, statement: Statement) -> Iterator[dict[str, Any]]:
        """Gives the lines that a statement answers."""
        return lines(self.client, self.url, statement)

    def traces(
        self, query: Query = EVERYTHING
    ) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, newest start first; see `Store.traces`."""
        return islice(self.selected(query), query.limit)

    def selected(self, query: Query) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, whatever the limit."""
        looked = about_runs(query)
        runs: dict[str, list[RunSummary]] = {}
        for run in self.listed(query) if looked else ():
            runs.setdefault(run.trace_id, []).append(run)
        for trace_id, start_ns in self.listed_traces(query):
            if not looked or selects_trace(
                query, trace_id, start_ns, runs.get(trace_id, ())
            ):
                yield trace_id, self.rows_of(trace_id)

    def listed_traces(self, query: Query) -> Iterator[tuple[str, int]]:
        """Gives id and start of the traces that may be wanted, page by page."""
        after: tuple[int, str] | None = None
        while True:
            page = list(self.ask(self.table.traces(query, after)))
            for line in page:
                yield line["trace_id"], line["start"]
            if len(page) < PAGE:
                return
            after = (page[-1]["start"], page[-1]["trace_id"])

    def runs(self, query: Query = EVERYTHING) -> Iterator[RunSummary]:
        """Gives the selected runs, newest start first; reads no ledger content for it."""
        found = [run for run in self.listed(query) if matches(run, query)]
        found.sort(key=lambda run: -run.started_ns)
        return islice(found, query.limit)

    def listed(self, query: Query) -> Iterator[RunSummary]:
        """Gives the runs of all traces that may be wanted."""
        told = self.ask(self.table.runs(query))
        return (draft.summary() for draft in index_runs(map(run_row, told)))

    def rows_of(self, trace_id: str) -> Iterator[SpanRow]:
        """Gives the rows of a trace."""
        between = None
        if self.table.lookup:  # without it the whole table may have to be read
            (known,) = self.ask(self.table.times(trace_id))
            between = (known["first"], known["last"]) if known["known"] else None
        yield from map(span_row, self.ask(self.table.spans(trace_id, between)))

    def close(self) -> None:
        """Gives back the connections, unless they are the caller's."""
        if self.owns:
            self.client.close()
