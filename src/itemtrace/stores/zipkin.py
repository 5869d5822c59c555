"""Zipkin, read over its v2 API.

    zipkin://host:9411?lookback=30d&service=desk

A file of Zipkin JSON is read by the store of OTLP files. Spans reach Zipkin through a Collector.
"""

from __future__ import annotations

import heapq
import json
import time
from typing import TYPE_CHECKING, Any, Final

from itemtrace.errors import SourceError
from itemtrace.stores.base import (
    CRITERIA,
    Capabilities,
    FetchedStore,
    Query,
    lookback_of,
    register,
    started,
)
from itemtrace.stores.http import (
    Found,
    Http,
    Page,
    Paging,
    endpoint_of,
    newest_first,
)
from itemtrace.stores.otlp import read_zipkin


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from itemtrace.codec.spans import SpanRow


PORT: Final = 9411
LIMIT: Final = 100
MOST: Final = 1000
DAY_MS: Final = 86_400_000
NOT_FOUND: Final = 404


@register("zipkin", "zipkin+http", "zipkin+https")
class ZipkinStore(FetchedStore):
    """A Zipkin; see the module."""

    capabilities = Capabilities(index=True)

    def __init__(
        self,
        source: str,
        *,
        write: bool = False,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Opens the store; it asks when it is read.

        Args:
            source: The URL.
            write: Refused.
            clock: Nanoseconds since the epoch.

        Raises:
            ConfigError: The URL or one of its options cannot be used.
            SourceError: It was to be opened for writing.
        """
        endpoint = endpoint_of(source, port=PORT)
        self.url = endpoint.url
        if write:
            msg = f"{self.url} can only be read; send spans to a Collector with a Zipkin exporter"
            raise SourceError(msg, source=self.url)
        self.problems: list[str] = []
        self.http = Http(endpoint)
        self.clock = clock
        self.service = endpoint.options.get("service")
        lookback = endpoint.options.get("lookback")
        self.lookback = None if lookback is None else lookback_of(lookback, self.url)

    def trace(self, trace_id: str) -> list[SpanRow]:
        """Returns the rows of a trace; none if it is not there."""
        answer = self.http.get(f"/api/v2/trace/{trace_id}", allowed={NOT_FOUND})
        if answer.status == NOT_FOUND:
            return []
        return list(read_zipkin(self.parsed(answer.body, "/api/v2/trace")))

    def found(self, query: Query) -> Iterator[str]:
        """Gives the ids of all traces that may be wanted, newest start first."""
        now = self.clock() // 1_000_000
        back = 0 if self.lookback is None else now - self.lookback * 1000
        lo = back if query.since_ns is None else query.since_ns // 1_000_000
        paging = Paging(LIMIT, MOST, self.report)
        streams = [
            newest_first(self.searcher(asked), lo, now + DAY_MS, paging)
            for asked in self.searches(query)
        ]
        known: set[str] = set()
        for one in heapq.merge(*streams):
            if one.key not in known:
                known.add(one.key)
                yield one.key

    def searches(self, query: Query) -> list[list[tuple[str, str]]]:
        """Returns what to search for, as parameters."""
        service = [("serviceName", self.service)] if self.service else []
        for name, tags in CRITERIA:
            value = getattr(query, name)
            if value and " and " not in value and "=" not in value:
                return [
                    [*service, ("annotationQuery", f"{tag}={value}")] for tag in tags
                ]
        return [service]

    def searcher(
        self, asked: Sequence[tuple[str, str]]
    ) -> Callable[[int, int, int], Page]:
        """Returns the function that searches between two milliseconds."""

        def search(lo: int, hi: int, limit: int) -> Page:
            times = [
                ("endTs", str(hi)),
                ("lookback", str(hi - lo)),
                ("limit", str(limit)),
            ]
            answer = self.http.get("/api/v2/traces", [*asked, *times])
            traces = self.parsed(answer.body, "/api/v2/traces")
            found = [list(read_zipkin(trace)) for trace in traces]
            return Page(
                len(found),
                [
                    Found(-(started(rows) // 1000), rows[0].trace_id)
                    for rows in found
                    if rows
                ],
            )

        return search

    def parsed(self, body: bytes, path: str) -> list[Any]:
        """Returns the list in an answer.

        Raises:
            SourceError: It is none.
        """
        try:
            value = json.loads(body)
        except ValueError:
            value = None
        if not isinstance(value, list):
            msg = f"{self.url} answered no list of spans for {path}; expected Zipkin's port, {PORT}"
            raise SourceError(msg, source=self.url)
        return value  # pyright: ignore[reportUnknownVariableType]

    def close(self) -> None:
        """Holds nothing open."""
