"""OTLP as JSON, written as the specification says, one request a line.

JSON has no word for two surrogates in a row that are not one character; they are written as that
character. All other text comes back as it is.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.stores.otlp.values import INT64, KINDS, STATUSES, grouped


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow


PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def write_json(rows: Iterable[SpanRow]) -> str:
    """Returns an ExportTraceServiceRequest of the rows as one line of JSON."""
    payload = {
        "resourceSpans": [
            {
                "resource": {"attributes": write_pairs(resource)},
                "scopeSpans": [
                    {
                        "scope": sparse(name=wire(scope), version=wire(version)),
                        "spans": [write_span(row) for row in members],
                    }
                    for scope, version, members in scopes
                ],
            }
            for resource, scopes in grouped(rows)
        ]
    }
    return canonical.dumps(payload)


def sparse(**fields: Any) -> dict[str, Any]:
    """Returns a message without the fields that have their default."""
    return {name: value for name, value in fields.items() if value or value is False}


def write_span(row: SpanRow) -> dict[str, Any]:
    """Returns a span as OTLP JSON has it."""
    return sparse(
        traceId=row.trace_id,
        spanId=row.span_id,
        parentSpanId=row.parent_id,
        name=wire(row.name),
        kind=KINDS.index(row.kind) if row.kind in KINDS else 0,
        startTimeUnixNano=str(row.start_ns),
        endTimeUnixNano=str(row.end_ns),
        attributes=write_pairs(row.attributes),
        droppedAttributesCount=row.dropped_attributes,
        events=[
            sparse(
                timeUnixNano=str(event.get("time_ns", 0)),
                name=wire(event.get("name", "")),
                attributes=write_pairs(event.get("attributes") or {}),
            )
            for event in row.events
        ],
        links=[
            sparse(
                traceId=link.get("trace_id", ""),
                spanId=link.get("span_id", ""),
                attributes=write_pairs(link.get("attributes") or {}),
            )
            for link in row.links
        ],
        status=sparse(
            message=wire(row.status_message),
            code=STATUSES.index(row.status) if row.status in STATUSES else 0,
        ),
    )


def write_pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns attributes as key and value messages."""
    return [
        {"key": wire(key), "value": write_value(value)}
        for key, value in attributes.items()
    ]


def write_value(value: object) -> dict[str, Any]:
    """Returns an AnyValue; what OTLP has no word for is its canonical text."""
    for kind, writer in WRITERS:
        if isinstance(value, kind):
            return writer(value)
    return {} if value is None else {"stringValue": canonical.dumps(value)}


def wire(text: str) -> str:
    """Returns text that JSON can tell: a pair of surrogates is the character that it stands for."""
    if text.isascii():
        return str(text)
    return PAIR.sub(lambda pair: joined(pair.group()), str(text))


def joined(pair: str) -> str:
    """Returns the character of a surrogate pair."""
    return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def write_double(value: float) -> dict[str, Any]:
    """Returns a double; the three that JSON lacks by their protobuf names."""
    if value != value:
        return {"doubleValue": "NaN"}
    if value in (float("inf"), float("-inf")):
        return {"doubleValue": "Infinity" if value > 0 else "-Infinity"}
    return {"doubleValue": value}


WRITERS: Final[
    list[tuple[type | tuple[type, ...], Callable[[Any], dict[str, Any]]]]
] = [
    (str, lambda value: {"stringValue": wire(value)}),
    (bool, lambda value: {"boolValue": value}),
    (
        int,  # beyond 64 bits there is no intValue
        lambda value: {
            "intValue" if value in INT64 else "stringValue": str(int(value))
        },
    ),
    (float, write_double),
    (Mapping, lambda value: {"kvlistValue": {"values": write_pairs(value)}}),
    (
        (list, tuple),
        lambda value: {
            "arrayValue": {"values": [write_value(child) for child in value]}
        },
    ),
    (
        (bytes, bytearray),
        lambda value: {"bytesValue": base64.b64encode(value).decode()},
    ),
]
