"""What keeps spans in ClickHouse: the Collector's exporter with its map columns, and SigNoz."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from itemtrace.testing.degrade.base import (
    all_as_string,
    bare_links,
    changed,
    everywhere,
    flattened,
    nested_as_json,
    register,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


@register(
    "clickhouse_map",
    "ClickHouse, the Collector's exporter (map columns)",
    "open-telemetry/opentelemetry-collector-contrib exporter/clickhouseexporter",
    limits="none; doubles after retries do no harm",
    configure="nothing",
)
def clickhouse_map(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Every value becomes text; scope attributes and dropped counts are not kept."""
    for row in rows:
        yield replace(everywhere(row, all_as_string), dropped_attributes=0)


@register(
    "signoz",
    "SigNoz",
    "SigNoz/signoz-otel-collector exporter/clickhousetracesexporter/clickhouse_exporter_v3.go",
    limits="none known for values",
    configure="nothing",
)
def signoz(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Numbers as float64, NaN dropped, maps flattened, arrays and bytes as text, links bare."""
    for row in rows:
        yield replace(
            row,
            attributes=changed(flattened(row.attributes), _number, nested_as_json),
            resource=changed(flattened(row.resource), _number, nested_as_json),
            links=bare_links(row),
        )


def _number(key: str, value: Any) -> tuple[str, Any] | None:
    if isinstance(value, float) and math.isnan(value):
        return None
    whole = isinstance(value, int) and not isinstance(value, bool)
    return key, float(value) if whole else value
