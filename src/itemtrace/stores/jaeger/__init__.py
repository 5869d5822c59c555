"""Jaeger's query service: `jaeger://host:16686`, `jaeger+https://host/prefix`.

A trace is read from the v3 API, which answers OTLP, and from the older `/api/traces` where there is no v3.
Both are asked for the raw spans: otherwise Jaeger sorts attributes and events and moves times. Jaeger
searches one service at a time; `?service=a,b` in the source names them, else all services are asked.

More in the source's query: `tag=deployment.environment:prod` (searches find only spans with these tags, or
whose resource has them; more of them with commas), `lookback=30d` (how far back to search without `--since`), `api=legacy` or
`api=v3`, `page=20` (traces a search answers), `timeout=30` (seconds). Credentials are those of
`itemtrace.stores.http`, from the URL or from `ITEMTRACE_JAEGER_TOKEN` and `ITEMTRACE_JAEGER_HEADERS`.
"""

from __future__ import annotations

import heapq
import json
import time
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from itemtrace.codec import canonical
from itemtrace.errors import SourceError
from itemtrace.stores.base import (
    EVERYTHING,
    Capabilities,
    Query,
    RunSummary,
    Store,
    index_runs,
    matches,
    register,
    selects_trace,
)
from itemtrace.stores.http import (
    Found,
    Http,
    Page,
    Paging,
    endpoint_of,
    newest_first,
)
from itemtrace.stores.jaeger.answers import documents, errors_of, listed, mapping
from itemtrace.stores.jaeger.options import (
    DAY_US,
    duration,
    option,
    positive,
    tags_of,
)
from itemtrace.stores.jaeger.searches import ALL_TRACES, Search, searches_of
from itemtrace.stores.otlp import (
    WARNINGS,
    is_jaeger,
    is_loss,
    is_payload,
    losses_of,
    read_jaeger,
    read_json,
)


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from itemtrace.codec.spans import SpanRow


PORT: Final = 16686
PAGE: Final = 20
"""Traces that a search answers, whole: with 4 MB each, 80 MB."""

MOST: Final = 1000
"""Traces that a search may answer when they lie within a microsecond or two."""

APIS: Final = ("auto", "v3", "legacy")


@register("jaeger", "jaeger+http", "jaeger+https")
class JaegerStore(Store):
    """A Jaeger, read over HTTP; see the module.

    Args:
        source: The URL.
        write: Only False: spans go to Jaeger over OTLP.
        clock: Nanoseconds since the epoch.

    Raises:
        ConfigError: The URL or one of its options cannot be used.
        SourceError: It was to be opened for writing.
    """

    def __init__(
        self,
        source: str,
        *,
        write: bool = False,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        endpoint = endpoint_of(source, port=PORT)
        self.url = endpoint.url
        if write:
            msg = (
                f"{self.url} can only be read; send spans to Jaeger's OTLP endpoint: "
                "OTEL_EXPORTER_OTLP_ENDPOINT=http://host:4318"
            )
            raise SourceError(msg, source=self.url)
        self.problems: list[str] = []
        self.capabilities = Capabilities(index=True)
        self.http = Http(endpoint)
        self.clock = clock
        self.options = endpoint.options
        self.api = option(endpoint.options, "api", APIS, self.url)
        self.page = positive(endpoint.options, "page", PAGE, self.url)
        self.tags = tags_of(endpoint.options.get("tag"), self.url)
        self.lookback_us = duration(endpoint.options.get("lookback"), self.url)

    def traces(
        self, query: Query = EVERYTHING
    ) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, newest start first; see `Store.traces`."""
        self.capabilities.check(query, self.url)
        ids = self.ordered(query.trace_ids) if query.trace_ids else self.found(query)
        return islice(self.selected(ids, query), query.limit)

    def selected(
        self, trace_ids: Iterable[str], query: Query
    ) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives those of the traces that the query selects, whatever its limit."""
        for trace_id in trace_ids:
            rows = self.trace(trace_id)
            runs = [draft.summary() for draft in index_runs(rows)]
            if rows and selects_trace(query, trace_id, started(rows), runs):
                yield trace_id, rows

    def ordered(self, trace_ids: tuple[str, ...]) -> Iterable[str]:
        """Returns trace ids, the newest first."""
        if len(trace_ids) < 2:
            return trace_ids
        known = len(self.problems)
        starts = {id_: started(self.trace(id_)) for id_ in dict.fromkeys(trace_ids)}
        del self.problems[known:]  # each is read again
        return sorted(starts, key=lambda id_: -starts[id_])

    def found(self, query: Query) -> Iterator[str]:
        """Gives the ids of traces that may be selected, the newest first."""

        def each_trace(rows: list[SpanRow]) -> list[Found]:
            return [Found(-started(rows), rows[0].trace_id)]

        searches = searches_of(query) if query.about_runs else ALL_TRACES
        for found in self.search(searches, query, each_trace):
            yield found.key

    def runs(self, query: Query = EVERYTHING) -> Iterator[RunSummary]:
        """Gives the selected runs, newest start first; see `Store.runs`."""
        self.capabilities.check(query, self.url)
        every = (
            self.runs_in(query.trace_ids) if query.trace_ids else self.runs_by(query)
        )
        return islice((run for run in every if matches(run, query)), query.limit)

    def runs_by(self, query: Query) -> Iterator[RunSummary]:
        """Gives the runs that searches find."""
        for found in self.search(searches_of(query), query, each_run):
            yield found.payload

    def runs_in(self, trace_ids: tuple[str, ...]) -> list[RunSummary]:
        """Returns the runs of some traces, in microseconds as searches give them."""
        runs = [
            draft.summary()
            for trace_id in dict.fromkeys(trace_ids)
            for draft in index_runs(self.trace_legacy(trace_id))
        ]
        return sorted(runs, key=lambda run: -run.started_ns)

    def close(self) -> None:
        """Holds nothing open."""

    # --- searching ---

    def search(
        self,
        searches: Iterable[Search],
        query: Query,
        each: Callable[[list[SpanRow]], list[Found]],
    ) -> Iterator[Found]:
        """Gives what `each` makes of the traces that any search finds, newest first, each once."""
        paging = Paging(self.page, max(MOST, self.page), self.report)
        services = self.services()
        lo, hi = self.times(query)
        until = hi if query.until_ns is None else min(hi, query.until_ns // 1000 + 1)
        streams = [
            newest_first(
                self.searcher(service, search, each),
                lo,
                until if search.at_start else hi,
                paging,
            )
            for service in services
            for search in searches
        ]
        known: set[str] = set()
        for found in heapq.merge(*streams):
            if found.key not in known:
                known.add(found.key)
                yield found

    def searcher(
        self, service: str, search: Search, each: Callable[[list[SpanRow]], list[Found]]
    ) -> Callable[[int, int, int], Page]:
        """Returns the function that asks one service for a time."""
        asked = [("service", service), ("raw", "true")]
        if search.operation:
            asked.append(("operation", search.operation))
        tags = dict((*self.tags, *search.tags))
        if tags:
            asked.append(("tags", canonical.dumps(tags)))

        def ask(lo: int, hi: int, limit: int) -> Page:
            times = [("start", str(lo)), ("end", str(hi)), ("limit", str(limit))]
            payload = self.answer("/api/traces", [*asked, *times])
            for line in losses_of(payload):
                self.report(f"{self.url}: {line}")
            traces: dict[str, list[SpanRow]] = {}
            for row in read_jaeger(payload):
                traces.setdefault(row.trace_id, []).append(row)
            found = [one for rows in traces.values() for one in each(rows)]
            return Page(len(traces), found)

        return ask

    def report(self, line: str) -> None:
        """Notes a problem of a search, once: searches overlap."""
        if line not in self.problems:
            self.problems.append(line)

    def times(self, query: Query) -> tuple[int, int]:
        """Returns the microseconds to search in; a day ahead, for clocks that differ."""
        now = self.clock() // 1000
        if query.since_ns is not None:
            return max(query.since_ns // 1000 - 1, 0), now + DAY_US
        lookback = self.lookback_us
        return (0 if lookback is None else now - lookback), now + DAY_US

    def services(self) -> list[str]:
        """Returns the services to ask."""
        named = self.options.get("service")
        if named:
            return [name.strip() for name in named.split(",") if name.strip()]
        return [str(name) for name in listed(self.answer("/api/services").get("data"))]

    def answer(
        self, path: str, params: list[tuple[str, str]] | None = None
    ) -> Mapping[str, Any]:
        """Returns an answer of the older API.

        Raises:
            SourceError: It is no JSON object.
        """
        answer = self.http.get(path, params or ())
        value: object = None
        with suppress(ValueError):
            value = json.loads(answer.body)
        if not isinstance(value, dict):
            msg = (
                f"{self.url} answered no JSON for {path}; expected the port of Jaeger's query "
                f"service ({PORT} unless changed)"
            )
            raise SourceError(msg, source=self.url)
        return mapping(cast("object", value))

    # --- one trace ---

    def trace(self, trace_id: str) -> list[SpanRow]:
        """Returns the rows of a trace; none if it is not there."""
        if self.api != "legacy":
            rows = self.trace_v3(trace_id)
            if rows is not None or self.api == "v3":
                return rows or []
        return self.trace_legacy(trace_id)

    def trace_v3(self, trace_id: str) -> list[SpanRow] | None:
        """Returns the rows of a trace as the v3 API has it; None where there is no v3.

        Raises:
            SourceError: Jaeger could not read the trace.
        """
        raw = [("raw_traces", "true"), ("rawTraces", "true")]  # until v2.20, and since
        answer = self.http.get(f"/api/v3/traces/{trace_id}", raw, allowed=(404,))
        parts, rest = documents(answer.body.decode(errors="replace"))
        payloads = [part for part in parts if is_payload(part)]
        errors = [line for part in parts for line in errors_of(part)]
        if answer.status == 404:
            return [] if errors else None  # without v3, there is no JSON
        if not payloads and not errors:
            return None
        if not payloads:
            msg = f"{self.url} could not read trace {trace_id}: {'; '.join(errors)}"
            raise SourceError(msg, source=self.url)
        if rest:
            errors.append(f"the answer breaks off after {len(answer.body)} bytes")
        rows = [
            self.without_warnings(row) for part in payloads for row in read_json(part)
        ]
        self.problems.extend(f"trace {trace_id}: {line}" for line in errors)
        return rows

    def without_warnings(self, row: SpanRow) -> SpanRow:
        """Returns a row without Jaeger's own warnings; those about losses become problems."""
        if WARNINGS not in row.attributes:
            return row
        attributes = dict(row.attributes)
        said = attributes.pop(WARNINGS)
        lines = filter(is_loss, map(str, listed(said) or [said]))
        self.problems.extend(f"trace {row.trace_id}: {line}" for line in lines)
        return replace(row, attributes=attributes)

    def trace_legacy(self, trace_id: str) -> list[SpanRow]:
        """Returns the rows of a trace as the older API has it.

        Raises:
            SourceError: The answer is no trace.
        """
        answer = self.http.get(
            f"/api/traces/{trace_id}", [("raw", "true")], allowed=(404,)
        )
        parts, rest = documents(answer.body.decode(errors="replace"))
        payload = parts[0] if parts else None
        if answer.status == 404 and isinstance(payload, dict):
            return []
        if rest or not is_jaeger(payload):
            msg = (
                f"{self.url} answered no trace for /api/traces/{trace_id}; expected the port of "
                f"Jaeger's query service ({PORT} unless changed)"
            )
            raise SourceError(msg, source=self.url)
        self.problems.extend(f"trace {trace_id}: {line}" for line in losses_of(payload))
        return list(read_jaeger(payload))


def each_run(rows: list[SpanRow]) -> list[Found]:
    """Returns the runs of a trace as results of a search."""
    runs = [draft.summary() for draft in index_runs(rows)]
    return [Found(-run.started_ns, f"{run.trace_id}/{run.run_id}", run) for run in runs]


def started(rows: Iterable[SpanRow]) -> int:
    """Returns when a trace started, nanoseconds; 0 when unknown."""
    return min((row.start_ns for row in rows if row.start_ns), default=0)
