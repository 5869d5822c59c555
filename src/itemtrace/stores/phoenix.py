"""Arize Phoenix, read over its REST API.

    phoenix://host:6006?project=default
    phoenix+https://:api-key@app.phoenix.arize.com/s/space

All projects are read unless one is named. Phoenix keeps neither kind, scope, resource nor links of a
span, and times to the microsecond; records come back whole. Spans reach it over OTLP.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from itemtrace import semconv
from itemtrace.codec import canonical
from itemtrace.errors import SourceError
from itemtrace.stores.base import Capabilities, FetchedStore, Query, register
from itemtrace.stores.http import Http, endpoint_of
from itemtrace.stores.otlp import read_json


if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemtrace.codec.spans import SpanRow


PORT: Final = 6006
PAGE: Final = 500
NOT_FOUND: Final = 404

CRITERIA: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("run_id", (semconv.ITEMTRACE_RUN_ID,)),
    ("group", (semconv.GEN_AI_CONVERSATION_ID,)),
    ("tool", (semconv.GEN_AI_TOOL_NAME,)),
    ("agent", (semconv.GEN_AI_AGENT_NAME,)),
    ("model", (semconv.GEN_AI_REQUEST_MODEL, semconv.GEN_AI_RESPONSE_MODEL)),
)
"""Fields of a query and the attributes of which one has the asked value on some span."""

Params = list[tuple[str, str]]


@register("phoenix", "phoenix+http", "phoenix+https")
class PhoenixStore(FetchedStore):
    """A Phoenix; see the module."""

    capabilities = Capabilities(index=True)

    def __init__(self, source: str, *, write: bool = False) -> None:
        """Opens the store; it asks when it is read.

        Args:
            source: The URL.
            write: Refused.

        Raises:
            ConfigError: The URL cannot be used.
            SourceError: It was to be opened for writing.
        """
        endpoint = endpoint_of(source, port=PORT)
        self.url = endpoint.url
        if write:
            msg = (
                f"{self.url} can only be read; send spans to Phoenix's OTLP endpoint: "
                "OTEL_EXPORTER_OTLP_ENDPOINT=http://host:6006"
            )
            raise SourceError(msg, source=self.url)
        self.problems: list[str] = []
        self.http = Http(endpoint)
        self.named = endpoint.options.get("project")

    def pages(self, path: str, params: Params) -> Iterator[dict[str, Any]]:
        """Gives what an endpoint lists, page by page; nothing where there is no such thing.

        Raises:
            SourceError: The answer is none of Phoenix's.
        """
        cursor: str | None = None
        while True:
            more = [("cursor", cursor)] if cursor else []
            answer = self.http.get(path, [*params, *more], allowed={NOT_FOUND})
            if answer.status == NOT_FOUND:
                return
            try:
                page: Any = json.loads(answer.body)
                listed: list[dict[str, Any]] = list(page["data"])
            except (ValueError, KeyError, TypeError) as error:
                msg = f"{self.url} answered no list for {path} ({error!r}); expected Phoenix's port, {PORT}"
                raise SourceError(msg, source=self.url) from error
            yield from listed
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def projects(self) -> list[str]:
        """Returns the paths of the projects to read."""
        names = (
            [self.named]
            if self.named
            else [str(one["id"]) for one in self.pages("/v1/projects", [])]
        )
        return [f"/v1/projects/{quote(name, safe='')}" for name in names]

    def spans(self, params: Params) -> Iterator[dict[str, Any]]:
        """Gives the spans of all projects that have what is asked."""
        for project in self.projects():
            yield from self.pages(
                f"{project}/spans/otlpv1", [*params, ("limit", str(PAGE))]
            )

    def trace(self, trace_id: str) -> list[SpanRow]:
        """Returns the rows of a trace; none if it is not there."""
        spans = list(self.spans([("trace_id", trace_id)]))
        return list(
            read_json({"resource_spans": [{"scope_spans": [{"spans": spans}]}]})
        )

    def found(self, query: Query) -> Iterator[str]:
        """Gives the ids of all traces that may be wanted, newest start first."""
        wanted = self.wanted(query)
        if wanted is not None and not wanted:
            return
        listed = [
            (str(trace["start_time"]), str(trace["trace_id"]))
            for project in self.projects()
            for trace in self.pages(f"{project}/traces", [("limit", str(PAGE))])
        ]
        listed.sort(key=lambda pair: instant(pair[0]), reverse=True)
        known: set[str] = set()
        for _, trace_id in listed:
            if trace_id not in known and (wanted is None or trace_id in wanted):
                known.add(trace_id)
                yield trace_id

    def wanted(self, query: Query) -> set[str] | None:
        """Returns the traces with a span that has what a query asks; None for any."""
        for name, keys in CRITERIA:
            value = getattr(query, name)
            if value:
                text = canonical.dumps(value)  # quoted: a name may look like a number
                asked: list[Params] = [[("attribute", f"{key}:{text}")] for key in keys]
                break
        else:
            if not query.about_runs:
                return None
            asked = [[("name", semconv.RUN_START), ("name", semconv.RUN_END)]]
        return {
            str(span["trace_id"]) for params in asked for span in self.spans(params)
        }

    def close(self) -> None:
        """Holds nothing open."""


def instant(text: str) -> datetime:
    """Returns the time in a list of traces."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
