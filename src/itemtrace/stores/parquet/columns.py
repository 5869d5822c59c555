# pyright: basic, reportMissingTypeStubs=false
"""The columns of our Parquet files, and rows to and from them.

One span a row. Attributes are maps from key to a struct with one field per type, so that
`attributes['gen_ai.agent.name'].string` works in DuckDB and Spark alike. Ledger chunks, which
stand last on a span, are in the column `records` instead: a rebuild reads hardly anything else,
a listing of runs reads everything else. What Parquet has no type for is canonical JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.codec.spans import SpanRow
from itemtrace.errors import MissingExtra
from itemtrace.stores.base import run_of


if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


CHUNK: Final = re.compile(r"it\d+;")
INT64: Final = range(-(1 << 63), 1 << 63)

INDEX: Final = ("trace_id", "start_ns")
"""The columns that say where a trace is."""

LISTING: Final = ("trace_id", "run_id", "name", "start_ns", "end_ns", "attributes")
"""The columns that tell of runs."""

REPEATING: Final = (
    "trace_id",
    "run_id",
    "name",
    "kind",
    "status",
    "scope",
    "scope_version",
    "attributes.key_value.key",
    "resource.key_value.key",
    "resource.key_value.value.string",
)
"""The columns in which values repeat: written with a dictionary."""


def arrow() -> Any:
    """Returns the module `pyarrow`.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        package = "pyarrow"
        raise MissingExtra(package, "parquet") from error
    return pa


def schema() -> Any:
    """Returns the Arrow schema of our files."""
    pa = arrow()
    value = pa.struct(
        [
            ("string", pa.string()),
            ("int", pa.int64()),
            ("double", pa.float64()),
            ("bool", pa.bool_()),
            ("json", pa.string()),
        ]
    )
    pairs = pa.map_(pa.string(), value)
    texts = pa.map_(pa.string(), pa.string())
    event = [("name", pa.string()), ("time_ns", pa.int64()), ("attributes", pairs)]
    link = [("trace_id", pa.string()), ("span_id", pa.string()), ("attributes", pairs)]
    return pa.schema(
        [
            ("trace_id", pa.string()),
            ("span_id", pa.string()),
            ("parent_id", pa.string()),
            ("run_id", pa.string()),
            ("name", pa.string()),
            ("kind", pa.string()),
            ("start_ns", pa.int64()),
            ("end_ns", pa.int64()),
            ("status", pa.string()),
            ("status_message", pa.string()),
            ("attributes", pairs),
            ("records", texts),
            ("events", pa.list_(pa.struct(event))),
            ("links", pa.list_(pa.struct(link))),
            ("resource", pairs),
            ("scope", pa.string()),
            ("scope_version", pa.string()),
            ("dropped_attributes", pa.int64()),
        ],
        metadata={"itemtrace": "spans 1"},
    )


def table_of(rows: Sequence[SpanRow]) -> Any:
    """Returns an Arrow table of rows made of plain values."""
    return arrow().Table.from_pylist([write_row(row) for row in rows], schema=schema())


def write_row(row: SpanRow) -> dict[str, Any]:
    """Returns a row by column."""
    attributes, records = split_records(row.attributes)
    return {
        "trace_id": safe(row.trace_id),
        "span_id": safe(row.span_id),
        "parent_id": safe(row.parent_id),
        "run_id": safe(run_of(row)),
        "name": safe(row.name),
        "kind": row.kind,
        "start_ns": number(row.start_ns),
        "end_ns": number(row.end_ns),
        "status": row.status,
        "status_message": safe(row.status_message),
        "attributes": write_pairs(attributes),
        "records": records,
        "events": [
            {
                "name": safe(event.get("name", "")),
                "time_ns": number(event.get("time_ns", 0)),
                "attributes": write_pairs((event.get("attributes") or {}).items()),
            }
            for event in row.events
        ],
        "links": [
            {
                "trace_id": safe(link.get("trace_id", "")),
                "span_id": safe(link.get("span_id", "")),
                "attributes": write_pairs((link.get("attributes") or {}).items()),
            }
            for link in row.links
        ],
        "resource": write_pairs(row.resource.items()),
        "scope": safe(row.scope),
        "scope_version": safe(row.scope_version),
        "dropped_attributes": number(row.dropped_attributes),
    }


def split_records(
    attributes: Mapping[str, Any],
) -> tuple[list[tuple[str, Any]], list[tuple[str, str]]]:
    """Returns the attributes and, apart, the ledger chunks that stand last among them."""
    pairs = list(attributes.items())
    first = len(pairs)
    while first and is_chunk(pairs[first - 1][1]):
        first -= 1
    return pairs[:first], [(safe(key), text) for key, text in pairs[first:]]


def is_chunk(value: object) -> bool:
    """Whether a value is a chunk of a record, in text that Parquet can hold."""
    return (
        isinstance(value, str)
        and CHUNK.match(value) is not None
        and safe(value) == value
    )


def write_pairs(pairs: Iterable[tuple[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Returns attributes as a map column takes them."""
    return [(safe(str(key)), write_value(value)) for key, value in pairs]


def write_value(value: Any) -> dict[str, Any]:
    """Returns the struct of a value; None has no field."""
    match value:
        case None:
            return {}
        case str() if safe(value) == value:
            return {"string": value}
        case bool():
            return {"bool": value}
        case int() if value in INT64:
            return {"int": value}
        case float():
            return {"double": value}
        case _:
            return {"json": canonical.dumps(value)}


def safe(text: str) -> str:
    """Returns text that UTF-8 can hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def number(value: int) -> int:
    """Returns a number that the column can hold; 0, which means unknown, for others."""
    return value if value in INT64 else 0


def rows_of(table: Any) -> list[SpanRow]:
    """Returns the rows of a table with all our columns."""
    return [read_row(row) for row in table.to_pylist()]


def read_row(row: dict[str, Any]) -> SpanRow:
    """Returns a row of its columns; null is a column's empty value."""
    attributes = read_pairs(row["attributes"])
    attributes.update(row["records"] or ())
    return SpanRow(
        trace_id=row["trace_id"] or "",
        span_id=row["span_id"] or "",
        parent_id=row["parent_id"] or "",
        name=row["name"] or "",
        kind=row["kind"] or "",
        start_ns=row["start_ns"] or 0,
        end_ns=row["end_ns"] or 0,
        attributes=attributes,
        status=row["status"] or "UNSET",
        status_message=row["status_message"] or "",
        events=tuple(
            {**event, "attributes": read_pairs(event["attributes"])}
            for event in row["events"] or ()
        ),
        links=tuple(
            {**link, "attributes": read_pairs(link["attributes"])}
            for link in row["links"] or ()
        ),
        resource=read_pairs(row["resource"]),
        scope=row["scope"] or "",
        scope_version=row["scope_version"] or "",
        dropped_attributes=row["dropped_attributes"] or 0,
    )


def read_pairs(pairs: Iterable[tuple[str, Any]] | None) -> dict[str, Any]:
    """Returns a map column as a dict."""
    return {key: read_value(value) for key, value in pairs or ()}


def read_value(value: Mapping[str, Any] | None) -> Any:
    """Returns the value of a struct."""
    for name, content in (value or {}).items():
        if content is not None:
            return canonical.loads(content) if name == "json" else content
    return None
