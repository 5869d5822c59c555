"""Grafana Tempo, read over its API: a trace by its id, runs by TraceQL.

    tempo://host:3200?tenant=acme&lookback=7d
    tempo+https://user:token@tempo-prod.grafana.net/tempo

Traces are asked for as protobuf, which loses least, of `/api/v2/traces` or else of `/api/traces`.
Tempo only searches within times: the last seven days unless `lookback=` or the query says more. A trace
that Tempo itself calls partial is a problem of the source.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from itemtrace import semconv
from itemtrace.errors import ConfigError, NotATrace, SourceError
from itemtrace.stores.base import (
    CRITERIA,
    Capabilities,
    FetchedStore,
    Query,
    lookback_of,
    register,
)
from itemtrace.stores.http import (
    Found,
    Http,
    Page,
    Paging,
    endpoint_of,
    newest_first,
)
from itemtrace.stores.otlp import read_json, read_proto
from itemtrace.stores.otlp.repair import varint
from itemtrace.stores.otlp.values import id_of


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemtrace.codec.spans import SpanRow
    from itemtrace.stores.http import Answer


PORT: Final = 3200
LIMIT: Final = 100
MOST: Final = 5000
DAY: Final = 86_400
LOOKBACK: Final = "7d"
WIDEST: Final = 7 * DAY
"""The seconds that one search may span with Tempo's defaults (`max_duration` 168 h)."""

NOT_FOUND: Final = 404
PARTIAL: Final = 1
PATHS: Final = {"v2": "/api/v2/traces", "v1": "/api/traces"}
APIS: Final = {"auto": ("v2", "v1"), "v2": ("v2",), "v1": ("v1",)}


@register("tempo", "tempo+http", "tempo+https")
class TempoStore(FetchedStore):
    """A Tempo; see the module."""

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
            msg = (
                f"{self.url} can only be read; send spans to Tempo's OTLP endpoint: "
                "OTEL_EXPORTER_OTLP_ENDPOINT=http://host:4318"
            )
            raise SourceError(msg, source=self.url)
        options = endpoint.options
        if "tenant" in options:
            tenant = {"X-Scope-OrgID": options["tenant"]}
            endpoint = replace(endpoint, headers={**endpoint.headers, **tenant})
        api = options.get("api", "auto")
        if api not in APIS:
            msg = f"{self.url} has api={api}; expected one of {', '.join(APIS)}"
            raise ConfigError(msg)
        self.versions = APIS[api]
        self.lookback = lookback_of(options.get("lookback", LOOKBACK), self.url)
        self.problems: list[str] = []
        self.http = Http(endpoint)
        self.clock = clock

    def trace(self, trace_id: str) -> list[SpanRow]:
        """Returns the rows of a trace; none if it is not there."""
        for version in self.versions:
            path = f"{PATHS[version]}/{trace_id}"
            answer = self.http.get(
                path, accept="application/protobuf", allowed={NOT_FOUND}
            )
            if answer.status != NOT_FOUND:
                return self.read(answer, version, trace_id)
        return []

    def read(self, answer: Answer, version: str, trace_id: str) -> list[SpanRow]:
        """Returns the rows of an answer, and notes it if it is partial.

        Raises:
            SourceError: It is no trace.
        """
        try:
            if "json" in answer.content_type:
                value: Any = json.loads(answer.body)
                status = str(value.get("status", ""))
                message = str(value.get("message", ""))
                partial = status.upper().endswith("PARTIAL")
                rows = list(read_json(value))
            elif version == "v1":
                partial, message = False, ""
                rows = list(read_proto(answer.body))
            else:
                fields = fields_of(answer.body)
                partial = fields.get(3) == PARTIAL
                message = text(fields.get(4))
                rows = list(read_proto(raw(fields.get(1))))
        except (ValueError, AttributeError, NotATrace) as error:
            msg = (
                f"{self.url} answered no trace for {PATHS[version]} ({error}); expected Tempo's "
                f"HTTP port, {PORT} unless changed"
            )
            raise SourceError(msg, source=self.url) from error
        if partial:
            said = f": {message}" if message else ""
            self.report(f"{self.url}: Tempo gave only a part of trace {trace_id}{said}")
        return rows

    def found(self, query: Query) -> Iterator[str]:
        """Gives the ids of all traces that may be wanted, newest start first."""
        hi = self.clock() // 10**9 + DAY
        lo = hi - DAY - self.lookback
        if query.since_ns is not None:
            lo = query.since_ns // 10**9
        search = self.searcher(traceql(query))
        paging = Paging(LIMIT, MOST, self.report)
        known: set[str] = set()
        while hi >= lo:
            window = max(lo, hi - WIDEST + 1)
            for one in newest_first(search, window, hi, paging):
                if one.key not in known:
                    known.add(one.key)
                    yield one.key
            hi = window - 1

    def searcher(self, asked: str) -> Callable[[int, int, int], Page]:
        """Returns the function that searches between two seconds."""

        def search(lo: int, hi: int, limit: int) -> Page:
            answer = self.http.get(
                "/api/search",
                [
                    ("q", asked),
                    ("start", str(lo)),
                    ("end", str(hi + 1)),
                    ("limit", str(limit)),
                    ("spss", "1"),
                ],
            )
            try:
                traces: list[Any] = json.loads(answer.body).get("traces") or []
                found = [
                    Found(
                        -(int(one.get("startTimeUnixNano", 0)) // 1_000_000),
                        id_of(str(one["traceID"]).zfill(32), 32),
                    )
                    for one in traces
                ]
            except (ValueError, AttributeError, KeyError, TypeError) as error:
                msg = f"{self.url} answered no search result ({error!r}); expected Tempo's port"
                raise SourceError(msg, source=self.url) from error
            return Page(len(found), found)

        return search

    def close(self) -> None:
        """Holds nothing open."""


def traceql(query: Query) -> str:
    """Returns the TraceQL that finds all traces of a query, and few others."""
    for name, keys in CRITERIA:
        value = getattr(query, name)
        if value:
            quoted = (
                value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            )
            return "{ " + " || ".join(f'span.{key} = "{quoted}"' for key in keys) + " }"
    if query.about_runs:
        return f'{{ name = "{semconv.RUN_START}" || name = "{semconv.RUN_END}" }}'
    return "{}"


def fields_of(message: bytes) -> dict[int, int | bytes]:
    """Returns the fields of a protobuf message: numbers and bytes, of a doubled one the last.

    Raises:
        ValueError: It is no such message.
    """
    fields: dict[int, int | bytes] = {}
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        if key & 7 == 0:
            fields[key >> 3], at = varint(message, at)
        elif key & 7 == 2:
            size, at = varint(message, at)
            content = message[at : at + size]
            at += size
            if len(content) < size:
                msg = "the message is cut"
                raise ValueError(msg)
            fields[key >> 3] = content
        else:
            msg = f"a field of wire type {key & 7}"
            raise ValueError(msg)
    return fields


def raw(field: Any) -> bytes:
    """Returns a field of bytes; empty when it is absent."""
    return field if isinstance(field, bytes) else b""


def text(field: Any) -> str:
    """Returns a field of text; empty when it is absent."""
    return raw(field).decode(errors="replace")
