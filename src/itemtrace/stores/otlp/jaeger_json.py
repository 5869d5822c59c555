"""Jaeger's own JSON (`/api/traces`, the UI's download) as span rows.

It is `{"data": [{"traceID", "spans", "processes"}]}` with tags of key, type and value. What OTLP has and
this format has not is where the Collector's translator put it (pkg/translator/jaeger): kind, status and
scope in tags, arrays and maps as JSON text, times in microseconds, links as references.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from itemtrace.codec.spans import SpanRow
from itemtrace.stores.otlp.json_reader import items, mapping
from itemtrace.stores.otlp.values import KINDS, STATUSES, enum_name, id_of


Object = Mapping[str, Any]

SCOPE: Final = ("otel.scope.name", "otel.library.name")
SCOPE_VERSION: Final = ("otel.scope.version", "otel.library.version")
WARNINGS: Final = "@jaeger@warnings"
"""The attribute in which Jaeger's OTLP answers carry what its readers complain about."""

LOSS: Final = re.compile(
    r"truncat|dropped|incomplete|partial|trace size|too (?:large|many|big)",
    re.IGNORECASE,
)

SPLIT_ARRAY: Final = '["it1;'
"""How an array of record chunks begins when a backend made JSON text of it."""


def traces_of(payload: object) -> Iterator[Object]:
    """Gives the traces of a payload: of an answer, a list of traces, or one trace."""
    inner = mapping(payload).get("data", payload)
    for trace in map(mapping, items(inner) or [inner]):
        if isinstance(trace.get("spans"), list) and (
            "traceID" in trace or "processes" in trace
        ):
            yield trace


def is_jaeger(payload: object) -> bool:
    """Whether a JSON value is in Jaeger's format, with at least one trace."""
    return next(traces_of(payload), None) is not None


def skim_jaeger(payload: object) -> Iterator[tuple[str, int]]:
    """Gives trace id and start of each span, without reading the rest."""
    for trace in traces_of(payload):
        for span in map(mapping, items(trace["spans"])):
            yield trace_id_of(span, trace), microseconds(span.get("startTime"))


def read_jaeger(payload: object) -> Iterator[SpanRow]:
    """Gives the rows of a payload that was parsed from JSON."""
    for trace in traces_of(payload):
        processes = mapping(trace.get("processes"))
        resources = {
            key: resource_of(mapping(value)) for key, value in processes.items()
        }
        for span in map(mapping, items(trace["spans"])):
            embedded = span.get("process")
            resource = (
                resource_of(mapping(embedded))
                if embedded
                else resources.get(str(span.get("processID")), {})
            )
            yield read_span(span, trace_id_of(span, trace), resource)


def losses_of(payload: object) -> Iterator[str]:
    """Gives what the server says is missing from its own answer: errors, and some warnings."""
    for error in map(mapping, items(mapping(payload).get("errors"))):
        yield str(error.get("msg"))
    for trace in traces_of(payload):
        for part in (trace, *map(mapping, items(trace["spans"]))):
            yield from filter(is_loss, map(str, items(part.get("warnings"))))


def is_loss(warning: str) -> bool:
    """Whether a warning of Jaeger is about something missing; most are about times."""
    return LOSS.search(warning) is not None


def read_span(span: Object, trace_id: str, resource: dict[str, Any]) -> SpanRow:
    """Returns the row of a span."""
    attributes = tags_of(span.get("tags"))
    start_ns = microseconds(span.get("startTime"))
    status = enum_name(attributes.pop("otel.status_code", None), STATUSES, "")
    if status == "ERROR" or attributes.get("error") is True:
        attributes.pop("error", None)
        status = "ERROR"
    parent_id, links = references_of(span, trace_id)
    return SpanRow(
        trace_id=trace_id,
        span_id=padded(span.get("spanID"), 16),
        parent_id=parent_id,
        name=str(span.get("operationName") or ""),
        kind=enum_name(attributes.pop("span.kind", ""), KINDS, ""),
        start_ns=start_ns,
        end_ns=start_ns + microseconds(span.get("duration")),
        attributes=attributes,
        status=status,
        status_message=str(attributes.pop("otel.status_description", "")),
        events=tuple(event_of(mapping(log)) for log in items(span.get("logs"))),
        links=links,
        resource=resource,
        scope=first(attributes, SCOPE),
        scope_version=first(attributes, SCOPE_VERSION),
    )


def first(attributes: dict[str, Any], keys: tuple[str, ...]) -> str:
    """Takes the first of the keys that is there out of the attributes; empty when none is."""
    for key in keys:
        if key in attributes:
            return str(attributes.pop(key))
    return ""


def references_of(
    span: Object, trace_id: str
) -> tuple[str, tuple[dict[str, Any], ...]]:
    """Returns the parent's id and the links: the first child-of reference is the parent."""
    parent_id = padded(span.get("parentSpanID"), 16)
    links: list[dict[str, Any]] = []
    for reference in map(mapping, items(span.get("references"))):
        to_trace = padded(reference.get("traceID"), 32)
        to_span = padded(reference.get("spanID"), 16)
        is_child = reference.get("refType") == "CHILD_OF" and to_trace == trace_id
        if is_child and parent_id in ("", to_span):
            parent_id = to_span
        else:
            links.append({"trace_id": to_trace, "span_id": to_span, "attributes": {}})
    return parent_id, tuple(links)


def event_of(log: Object) -> dict[str, Any]:
    """Returns an event as a row holds it."""
    attributes = tags_of(log.get("fields"))
    return {
        "name": str(attributes.pop("event", "")),
        "time_ns": microseconds(log.get("timestamp")),
        "attributes": attributes,
    }


def resource_of(process: Object) -> dict[str, Any]:
    """Returns the resource attributes of a process."""
    name = process.get("serviceName")
    service = {"service.name": str(name)} if name else {}
    return service | tags_of(process.get("tags"))


def tags_of(value: object) -> dict[str, Any]:
    """Returns tags as attributes; of a doubled key the last value."""
    return {
        str(tag.get("key") or ""): value_of(tag) for tag in map(mapping, items(value))
    }


def value_of(tag: Object) -> Any:
    """Returns what a tag says, by its type; the value itself if it is of another type."""
    value, kind = tag.get("value"), str(tag.get("type") or "").lower()
    try:
        if kind == "int64" and isinstance(value, str | float):
            return int(value)
        if kind == "float64" and isinstance(value, str | int):
            return float(value)
        if kind == "binary" and isinstance(value, str):
            return base64.b64decode(value, validate=True)
        if isinstance(value, str) and value.startswith(SPLIT_ARRAY):
            return json.loads(value)
    except (ValueError, OverflowError):
        return value
    return value


def trace_id_of(span: Object, trace: Object) -> str:
    """Returns the id of the trace that a span is in."""
    return padded(span.get("traceID") or trace.get("traceID"), 32)


def padded(value: object, digits: int) -> str:
    """Returns an id with the leading zeros that Jaeger leaves out; empty when there is none."""
    text = str(value or "")
    return id_of(text.zfill(digits), digits) if text else ""


def microseconds(value: object) -> int:
    """Returns nanoseconds of a time in microseconds; 0 when it is none."""
    try:
        return int(value) * 1000 if isinstance(value, int | str | float) else 0
    except (ValueError, OverflowError):
        return 0
