# pyright: basic, reportMissingTypeStubs=false
"""ClickHouse's table `otel_traces`, made and filled as the Collector's exporter does. For tests.

    client = embedded()
    create(client, "default", Layout.MAP)
    insert(client, "default", rows, Layout.MAP)

Columns and types are those of the exporter's releases; values become text as pdata's `AsString`
makes them.
"""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from itemtrace.stores.clickhouse.statements import quoted
from itemtrace.testing.degrade.base import as_string


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow


class Layout(Enum):
    """What kind of column attributes are, and whether the scope has columns."""

    MAP = "Map(LowCardinality(String), String)"
    JSON = "JSON"
    OLD = "map without scope columns"

    @property
    def attributes(self) -> str:
        """The type of attribute columns."""
        return Layout.MAP.value if self is Layout.OLD else str(self.value)


@functools.cache
def embedded() -> Any:
    """Returns the client of a ClickHouse in this process, in memory."""
    import clickhouse_connect  # noqa: PLC0415 - heavy

    return clickhouse_connect.get_client(dsn="chdb://memory")


def create(
    client: Any, database: str, layout: Layout, table: str = "otel_traces"
) -> None:
    """Makes the table, the one that knows each trace's times, and the view that fills it."""
    kind = layout.attributes
    scope = "" if layout is Layout.OLD else "ScopeName String, ScopeVersion String,"
    indexes = ""
    if layout is not Layout.JSON:
        indexes = (
            ", INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1"
            ", INDEX idx_span_attr_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1"
        )
    client.command(f"CREATE DATABASE IF NOT EXISTS {database}")
    spans, times = quoted(database, table), quoted(database, f"{table}_trace_id_ts")
    client.command(
        f"""
        CREATE TABLE {spans} (
            Timestamp DateTime64(9), TraceId String, SpanId String, ParentSpanId String,
            TraceState String, SpanName LowCardinality(String),
            SpanKind LowCardinality(String), ServiceName LowCardinality(String),
            ResourceAttributes {kind}, {scope} SpanAttributes {kind}, Duration UInt64,
            StatusCode LowCardinality(String), StatusMessage String,
            Events Nested (
                Timestamp DateTime64(9), Name LowCardinality(String), Attributes {kind}),
            Links Nested (
                TraceId String, SpanId String, TraceState String, Attributes {kind})
            {indexes}
        ) ENGINE = MergeTree PARTITION BY toDate(Timestamp)
        ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))
        """
    )
    client.command(
        f"""
        CREATE TABLE {times} (
            TraceId String, Start DateTime, End DateTime,
            INDEX idx_trace_id TraceId TYPE bloom_filter(0.01) GRANULARITY 1
        ) ENGINE = MergeTree PARTITION BY toDate(Start) ORDER BY (TraceId, Start)
        """
    )
    client.command(
        f"""
        CREATE MATERIALIZED VIEW {quoted(database, f"{table}_trace_id_ts_mv")}
        TO {times} AS
        SELECT TraceId, min(Timestamp) AS Start, max(Timestamp) AS End
        FROM {spans} WHERE TraceId != '' GROUP BY TraceId
        """  # noqa: S608 - names of the test
    )


def insert(
    client: Any,
    database: str,
    rows: Iterable[SpanRow],
    layout: Layout,
    table: str = "otel_traces",
) -> None:
    """Inserts rows as one batch."""
    lines = "\n".join(
        json.dumps(line_of(row, layout), ensure_ascii=False, allow_nan=False)  # noqa: TID251 - a key may be `$it`
        for row in rows
    )
    client.raw_insert(
        quoted(database, table), insert_block=lines.encode(), fmt="JSONEachRow"
    )


def line_of(row: SpanRow, layout: Layout) -> dict[str, Any]:
    """Returns the columns of a row."""
    old = layout is Layout.OLD
    own = dict(row.attributes)
    if old:
        own |= scope_of(row)
    columns = {
        "Timestamp": instant(row.start_ns),
        "TraceId": row.trace_id,
        "SpanId": row.span_id,
        "ParentSpanId": row.parent_id,
        "SpanName": utf8(row.name),
        "SpanKind": f"SPAN_KIND_{row.kind}"
        if old
        else row.kind.title() or "Unspecified",
        "ServiceName": str(row.resource.get("service.name", "")),
        "ResourceAttributes": column(row.resource, layout),
        "SpanAttributes": column(own, layout),
        "Duration": (row.end_ns - row.start_ns) % (1 << 64),
        "StatusCode": f"STATUS_CODE_{row.status}" if old else row.status.title(),
        "StatusMessage": utf8(row.status_message),
        "Events.Timestamp": [instant(event["time_ns"]) for event in row.events],
        "Events.Name": [utf8(event["name"]) for event in row.events],
        "Events.Attributes": [
            column(event["attributes"], layout) for event in row.events
        ],
        "Links.TraceId": [link["trace_id"] for link in row.links],
        "Links.SpanId": [link["span_id"] for link in row.links],
        "Links.TraceState": ["" for _ in row.links],
        "Links.Attributes": [column(link["attributes"], layout) for link in row.links],
    }
    if not old:
        columns |= {"ScopeName": row.scope, "ScopeVersion": row.scope_version}
    return columns


def kept(row: SpanRow, layout: Layout) -> SpanRow:
    """Returns what is left of a row in the table."""
    own = dict(row.attributes)
    if layout is Layout.OLD:
        own |= scope_of(row)

    def changed(attributes: Mapping[str, Any]) -> dict[str, Any]:
        found = column(attributes, layout)
        return dict(sorted(found.items())) if layout is Layout.JSON else found

    return replace(
        row,
        name=utf8(row.name),
        status_message=utf8(row.status_message),
        attributes=changed(own),
        resource=changed(row.resource),
        events=tuple(
            {**event, "attributes": changed(event["attributes"])}
            for event in row.events
        ),
        links=tuple(
            {**link, "attributes": changed(link["attributes"])} for link in row.links
        ),
        dropped_attributes=0,
    )


def scope_of(row: SpanRow) -> dict[str, str]:
    """Returns the scope as attributes, as old exporters write it."""
    named = {"otel.scope.name": row.scope, "otel.scope.version": row.scope_version}
    return {key: value for key, value in named.items() if value}


def instant(time_ns: int) -> str:
    """Returns a time as ClickHouse reads it, in UTC."""
    seconds = datetime.fromtimestamp(time_ns // 10**9, UTC)
    return f"{seconds:%Y-%m-%d %H:%M:%S}.{time_ns % 10**9:09d}"


def column(attributes: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    """Returns attributes as their column takes them."""
    if layout is Layout.JSON:
        return cast("dict[str, Any]", raw(attributes))
    return {utf8(key): as_string(raw(value)) for key, value in attributes.items()}


def raw(value: Any) -> Any:
    """Returns a value as JSON can hold it: bytes as base64, text without lone surrogates."""
    match value:
        case str():
            return utf8(value)
        case bytes():
            return base64.b64encode(value).decode()
        case list():
            return [raw(child) for child in value]
        case Mapping():
            pairs = cast("Mapping[str, Any]", value).items()
            return {utf8(key): raw(child) for key, child in pairs}
        case _:
            return value


def utf8(text: str) -> str:
    """Returns text as a Go program got it over OTLP: without lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()
