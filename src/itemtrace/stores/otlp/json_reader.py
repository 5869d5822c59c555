"""OTLP as JSON, read in every dialect that backends and older Collectors write.

They are: camel and snake case; int64 as string or number; enums as number or name;
ids in hex or base64; `batches`, `trace`, `result` and `data` around the payload; the old
`instrumentationLibrarySpans`; every alternative of a value present with null.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, cast

from itemtrace.codec.spans import SpanRow
from itemtrace.stores.otlp.values import (
    KINDS,
    STATUSES,
    enum_name,
    id_of,
)


Object = Mapping[str, Any]

RESOURCES: Final = ("resourceSpans", "resource_spans", "batches")
WRAPPERS: Final = ("trace", "result", "data")
SCOPES: Final = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "instrumentation_library_spans",
    "ilSpans",
)


def pick(value: Object, *names: str) -> Any:
    """Returns the first of the fields that is there and not null."""
    for name in names:
        found = value.get(name)
        if found is not None:
            return found
    return None


def items(value: object) -> Iterable[Any]:
    """Returns a repeated field; empty when it is absent."""
    return cast("Iterable[Any]", value) if isinstance(value, list) else ()


def mapping(value: object) -> Object:
    """Returns a message field; empty when it is absent."""
    return cast("Object", value) if isinstance(value, dict) else {}


def resources_of(payload: object) -> Iterator[Object]:
    """Gives the resource groups of a payload, whatever is around them."""
    for part in items(payload) or [payload]:
        message = mapping(part)
        for name in RESOURCES:
            yield from map(mapping, items(message.get(name)))
        for name in WRAPPERS:
            inner = message.get(name)
            if isinstance(inner, dict | list):
                yield from resources_of(cast("object", inner))


def is_payload(payload: object) -> bool:
    """Whether a JSON value is an OTLP trace payload, possibly without spans."""
    for message in map(mapping, items(payload) or [payload]):
        inner = [message[name] for name in WRAPPERS if name in message]
        if any(name in message for name in RESOURCES) or any(map(is_payload, inner)):
            return True
    return False


def spans_of(payload: object) -> Iterator[Object]:
    """Gives the raw spans of a payload."""
    for resource in resources_of(payload):
        for name in SCOPES:
            for scope in map(mapping, items(resource.get(name))):
                yield from map(mapping, items(scope.get("spans")))


def skim_json(payload: object) -> Iterator[tuple[str, int]]:
    """Gives trace id and start of each span, without reading the rest."""
    for span in spans_of(payload):
        yield (
            id_of(pick(span, "traceId", "trace_id"), 32),
            integer(pick(span, "startTimeUnixNano", "start_time_unix_nano")),
        )


def read_json(payload: object) -> Iterator[SpanRow]:
    """Gives the rows of a payload that was parsed from JSON."""
    for resource in resources_of(payload):
        of_resource = attributes_of(mapping(resource.get("resource")))
        for name in SCOPES:
            for group in map(mapping, items(resource.get(name))):
                scope = mapping(
                    pick(
                        group,
                        "scope",
                        "instrumentationLibrary",
                        "instrumentation_library",
                    )
                )
                origin = (
                    of_resource,
                    scope.get("name") or "",
                    scope.get("version") or "",
                )
                for span in map(mapping, items(group.get("spans"))):
                    yield read_span(span, origin)


def read_span(span: Object, origin: tuple[dict[str, Any], str, str]) -> SpanRow:
    """Returns the row of a span."""
    status = mapping(span.get("status"))
    return SpanRow(
        trace_id=id_of(pick(span, "traceId", "trace_id"), 32),
        span_id=id_of(pick(span, "spanId", "span_id"), 16),
        parent_id=id_of(pick(span, "parentSpanId", "parent_span_id"), 16),
        name=span.get("name") or "",
        kind=enum_name(span.get("kind"), KINDS, "SPAN_KIND_"),
        start_ns=integer(pick(span, "startTimeUnixNano", "start_time_unix_nano")),
        end_ns=integer(pick(span, "endTimeUnixNano", "end_time_unix_nano")),
        attributes=attributes_of(span),
        status=enum_name(status.get("code"), STATUSES, "STATUS_CODE_"),
        status_message=status.get("message") or "",
        events=tuple(read_event(mapping(event)) for event in items(span.get("events"))),
        links=tuple(read_link(mapping(link)) for link in items(span.get("links"))),
        resource=origin[0],
        scope=origin[1],
        scope_version=origin[2],
        dropped_attributes=integer(
            pick(span, "droppedAttributesCount", "dropped_attributes_count")
        ),
    )


def read_event(event: Object) -> dict[str, Any]:
    """Returns an event as a row holds it."""
    return {
        "name": event.get("name") or "",
        "time_ns": integer(pick(event, "timeUnixNano", "time_unix_nano")),
        "attributes": attributes_of(event),
    }


def read_link(link: Object) -> dict[str, Any]:
    """Returns a link as a row holds it."""
    return {
        "trace_id": id_of(pick(link, "traceId", "trace_id"), 32),
        "span_id": id_of(pick(link, "spanId", "span_id"), 16),
        "attributes": attributes_of(link),
    }


def attributes_of(message: Object) -> dict[str, Any]:
    """Returns the attributes of a message; of a doubled key the last value."""
    attributes = message.get("attributes")
    if isinstance(attributes, dict):  # plain values, as some exports have them
        return dict(cast("Object", attributes))
    return pairs(attributes)


def pairs(value: object) -> dict[str, Any]:
    """Returns a list of key and value messages as a dict."""
    found: dict[str, Any] = {}
    for pair in map(mapping, items(value)):
        content = mapping(pair.get("value"))
        text = content.get("stringValue")  # nearly all are; the rest takes longer
        found[pair.get("key") or ""] = read_value(content) if text is None else text
    return found


def read_value(value: Object) -> Any:
    """Returns what an AnyValue says; None when it is empty."""
    for name, content in value.items():
        reader = READERS.get(name)
        if reader is not None and content is not None:
            return reader(content)
    return None


def integer(value: object) -> int:
    """Returns an int64 given as string or number; 0 when absent."""
    if isinstance(value, int):
        return value
    if not isinstance(value, str | float):
        return 0
    try:
        return int(value)
    except (ValueError, OverflowError):
        return 0


def binary(value: object) -> Any:
    """Returns bytes given as base64; the text itself if it is none."""
    text = str(value)
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/") + "==")
    except ValueError:
        return text


def read_int(value: object) -> Any:
    """Returns an int; what is no int stays itself rather than becoming 0."""
    try:
        return int(value) if isinstance(value, str | int) else value
    except ValueError:
        return value


def read_double(value: object) -> Any:
    """Returns a float, also of "NaN", "Infinity" and "-Infinity"; else the value itself."""
    try:
        return float(value) if isinstance(value, str | int | float) else value
    except (ValueError, OverflowError):
        return value


READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "stringValue": str,
    "boolValue": lambda value: value if isinstance(value, bool) else value == "true",
    "intValue": read_int,
    "doubleValue": read_double,
    "arrayValue": lambda value: [
        read_value(mapping(child)) for child in items(mapping(value).get("values"))
    ],
    "kvlistValue": lambda value: pairs(mapping(value).get("values")),
    "bytesValue": binary,
}
"""What reads each alternative of an AnyValue, in camel and snake case."""
READERS.update(
    {name.replace("Value", "_value"): reader for name, reader in READERS.items()}
)
