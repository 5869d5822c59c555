"""Zipkin v2 JSON: a map of strings, microseconds, events and links as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from itemtrace.testing.degrade.base import (
    as_string,
    in_microseconds,
    json_text,
    register,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from itemtrace.codec.spans import SpanRow


@register(
    "zipkin",
    "Zipkin v2",
    "open-telemetry/opentelemetry-collector-contrib pkg/translator/zipkin/zipkinv2/from_translator.go",
    limits="none for values",
    configure="nothing",
)
def zipkin(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Resource, kind, status and links become tags; events become annotations of text."""
    for row in rows:
        tags = {**row.resource, **row.attributes, "otel.scope.name": row.scope}
        tags |= {f"otlp.link.{n}": _link(link) for n, link in enumerate(row.links)}
        nothing: dict[str, Any] = {}
        events = tuple(
            {"name": _event(event), "time_ns": event["time_ns"], "attributes": nothing}
            for event in row.events
        )
        yield replace(
            in_microseconds(replace(row, events=events)),
            attributes={key: as_string(value) for key, value in tags.items()},
            resource={},
            links=(),
        )


def _event(event: Mapping[str, Any]) -> str:
    return f"{event['name']}|{json_text(event['attributes'])}|0"


def _link(link: Mapping[str, Any]) -> str:
    return f"{link['trace_id']}|{link['span_id']}||{json_text(link['attributes'])}|0"
