# pyright: basic, reportMissingTypeStubs=false
r"""OTLP as protobuf, with the message classes of `opentelemetry-proto`.

Protobuf text is UTF-8: a lone surrogate is written as `\ud800`, an int beyond 64 bits as a string.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from itemtrace.codec import canonical
from itemtrace.codec.spans import SpanRow
from itemtrace.errors import NotATrace
from itemtrace.stores.otlp.repair import repair
from itemtrace.stores.otlp.values import INT64, KINDS, STATUSES, grouped, id_of


if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData


UINT64 = range(1 << 64)


def parse(payload: bytes) -> TracesData:
    """Returns the message in a payload: TracesData and ExportTraceServiceRequest are alike.

    Raises:
        NotATrace: The bytes are no such message.
    """
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from opentelemetry.proto.trace.v1.trace_pb2 import (  # noqa: PLC0415 - heavy
        TracesData,
    )

    data = TracesData()
    try:
        data.ParseFromString(payload)
    except DecodeError:
        pass
    else:
        return data
    try:  # once more, since a backend may have cut text through a character
        data.ParseFromString(repair(payload, TracesData.DESCRIPTOR))
    except (DecodeError, ValueError) as error:
        msg = f"{len(payload)} bytes are no OTLP protobuf message"
        raise NotATrace(msg) from error
    return data


def skim_proto(payload: bytes) -> Iterator[tuple[str, int]]:
    """Gives trace id and start of each span, without reading the rest.

    Raises:
        NotATrace: The bytes are no OTLP message.
    """
    for resource in parse(payload).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield id_of(span.trace_id, 32), span.start_time_unix_nano


def read_proto(payload: bytes) -> Iterator[SpanRow]:
    """Gives the rows of a payload.

    Raises:
        NotATrace: The bytes are no OTLP message.
    """
    for resource in parse(payload).resource_spans:
        of_resource = pairs(resource.resource.attributes)
        for group in resource.scope_spans:
            origin = (of_resource, group.scope.name, group.scope.version)
            for span in group.spans:
                yield read_span(span, origin)


def read_span(span: Span, origin: tuple[dict[str, Any], str, str]) -> SpanRow:
    """Returns the row of a span."""
    return SpanRow(
        trace_id=id_of(span.trace_id, 32),
        span_id=id_of(span.span_id, 16),
        parent_id=id_of(span.parent_span_id, 16),
        name=span.name,
        kind=KINDS[span.kind] if span.kind < len(KINDS) else "",
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        attributes=pairs(span.attributes),
        status=STATUSES[span.status.code]
        if span.status.code < len(STATUSES)
        else "UNSET",
        status_message=span.status.message,
        events=tuple(
            {
                "name": event.name,
                "time_ns": event.time_unix_nano,
                "attributes": pairs(event.attributes),
            }
            for event in span.events
        ),
        links=tuple(
            {
                "trace_id": id_of(link.trace_id, 32),
                "span_id": id_of(link.span_id, 16),
                "attributes": pairs(link.attributes),
            }
            for link in span.links
        ),
        resource=origin[0],
        scope=origin[1],
        scope_version=origin[2],
        dropped_attributes=span.dropped_attributes_count,
    )


def pairs(attributes: Iterable[KeyValue]) -> dict[str, Any]:
    """Returns key and value messages as a dict; of a doubled key the last value."""
    return {pair.key: read_value(pair.value) for pair in attributes}


def read_value(value: AnyValue) -> Any:
    """Returns what an AnyValue says; None when it is empty."""
    which = value.WhichOneof("value")
    if which is None:
        return None
    if which == "array_value":
        return [read_value(child) for child in value.array_value.values]
    if which == "kvlist_value":
        return pairs(value.kvlist_value.values)
    return getattr(value, which)


def write_proto(rows: Iterable[SpanRow]) -> bytes:
    """Returns an ExportTraceServiceRequest of the rows."""
    from opentelemetry.proto.trace.v1.trace_pb2 import (  # noqa: PLC0415 - heavy
        TracesData,
    )

    data = TracesData()
    for resource, scopes in grouped(rows):
        of_resource = data.resource_spans.add()
        write_pairs(of_resource.resource.attributes, resource)
        for scope, version, members in scopes:
            group = of_resource.scope_spans.add()
            group.scope.name = safe(scope)
            group.scope.version = safe(version)
            for row in members:
                write_span(group.spans.add(), row)
    payload: bytes = data.SerializeToString()
    return payload


def write_span(span: Span, row: SpanRow) -> None:
    """Fills a span message."""
    span.trace_id = id_bytes(row.trace_id)
    span.span_id = id_bytes(row.span_id)
    span.parent_span_id = id_bytes(row.parent_id)
    span.name = safe(row.name)
    span.kind = cast("Any", KINDS.index(row.kind) if row.kind in KINDS else 0)
    span.start_time_unix_nano = time_of(row.start_ns)
    span.end_time_unix_nano = time_of(row.end_ns)
    write_pairs(span.attributes, row.attributes)
    span.dropped_attributes_count = row.dropped_attributes
    for event in row.events:
        of_event = span.events.add()
        of_event.name = safe(event.get("name", ""))
        of_event.time_unix_nano = time_of(event.get("time_ns", 0))
        write_pairs(of_event.attributes, event.get("attributes") or {})
    for link in row.links:
        of_link = span.links.add()
        of_link.trace_id = id_bytes(link.get("trace_id", ""))
        of_link.span_id = id_bytes(link.get("span_id", ""))
        write_pairs(of_link.attributes, link.get("attributes") or {})
    if row.status in STATUSES:
        span.status.code = cast("Any", STATUSES.index(row.status))
    span.status.message = safe(row.status_message)


def write_pairs(target: Any, attributes: Mapping[str, Any]) -> None:
    """Adds attributes to a repeated field of key and value messages."""
    for key, value in attributes.items():
        pair = target.add()
        pair.key = safe(str(key))
        write_value(pair.value, value)


def write_value(target: AnyValue, value: Any) -> None:
    """Fills an AnyValue; what OTLP has no word for is its canonical text."""
    match value:
        case None:
            pass
        case str():
            target.string_value = safe(value)
        case bool():
            target.bool_value = value
        case int() if value in INT64:
            target.int_value = value
        case float():
            target.double_value = value
        case bytes() | bytearray():
            target.bytes_value = bytes(value)
        case Mapping():
            target.kvlist_value.SetInParent()
            write_pairs(target.kvlist_value.values, cast("Mapping[str, Any]", value))
        case list() | tuple():
            target.array_value.SetInParent()
            for child in cast("list[Any]", value):
                write_value(target.array_value.values.add(), child)
        case _:
            target.string_value = canonical.dumps(value)


def safe(text: str) -> str:
    """Returns text that UTF-8 can hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def id_bytes(text: str) -> bytes:
    """Returns the bytes of a hex id; of anything else its own."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return text.encode("utf-8", "backslashreplace")


def time_of(value: int) -> int:
    """Returns a time that the field can hold."""
    return value if value in UINT64 else 0
