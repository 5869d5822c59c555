"""Jaeger on Elasticsearch or OpenSearch, read without `raw`; Badger and Cassandra do the same to values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from itemtrace.testing.degrade.base import (
    bare_links,
    everywhere,
    in_microseconds,
    nested_as_json,
    register,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


@register(
    "jaeger_es",
    "Jaeger on Elasticsearch, OpenSearch, Cassandra or Badger",
    "jaegertracing/jaeger internal/storage/v2/cassandra/tracestore/to_dbmodel.go",
    "jaegertracing/jaeger cmd/jaeger/internal/extension/jaegerquery (adjuster/standard.go)",
    limits="none for values; Elasticsearch pages by 10,000 spans",
    configure="nothing; reads ask for `raw`, and do not depend on it",
)
def jaeger_es(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Microseconds; nested values as JSON text, bytes as hex; link attributes lost; all sorted by key."""
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        found = everywhere(in_microseconds(row), _hex, nested_as_json)
        attributes = dict(sorted(found.attributes.items()))
        known = (row.trace_id, row.span_id, repr(attributes))
        if known in seen:  # the query service drops spans of equal hash
            continue
        seen.add(known)
        yield replace(
            found,
            attributes=attributes,
            events=tuple(sorted(found.events, key=lambda event: str(event["name"]))),
            links=bare_links(found),
        )


def _hex(key: str, value: Any) -> tuple[str, Any]:
    return key, value.hex() if isinstance(value, bytes) else value
