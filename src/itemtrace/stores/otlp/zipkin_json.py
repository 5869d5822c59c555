"""Zipkin v2 JSON as span rows: a list of spans, or of traces as its search answers.

What OTLP has and Zipkin has not is where OpenTelemetry's exporters put it (their specification, and
the Collector's pkg/translator/zipkin/zipkinv2): kind, status, scope and links in tags, attributes of
events in the text of annotations. All values are text, and times are in microseconds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from itemtrace.codec.spans import SpanRow
from itemtrace.stores.otlp.json_reader import items, mapping
from itemtrace.stores.otlp.values import KINDS, STATUSES, enum_name, id_of


Object = Mapping[str, Any]

SCOPE: Final = ("otel.scope.name", "otel.library.name")
SCOPE_VERSION: Final = ("otel.scope.version", "otel.library.version")
STATUS: Final = ("otel.status_code", "otel.status_description")
LINK: Final = re.compile(r"otlp\.link\.\d+")
LINK_TEXT: Final = re.compile(r"([0-9a-f]*)\|([0-9a-f]*)\|[^|]*\|(.*)\|\d+", re.DOTALL)
EVENT_TEXT: Final = re.compile(r"(.*?)\|(\{.*\})\|\d+", re.DOTALL)
SPLIT_ARRAY: Final = '["it1;'
"""How an array of record chunks begins after it became text."""


def spans_of(payload: object) -> Iterator[Object]:
    """Gives the spans of a list of spans, or of a list of such lists."""
    for part in items(payload):
        if isinstance(part, list):
            yield from spans_of(cast("object", part))
        else:
            yield mapping(part)


def is_zipkin(payload: object) -> bool:
    """Whether a JSON value is a list of Zipkin spans, with at least one."""
    first = next(spans_of(payload), None)
    return first is not None and "traceId" in first and "id" in first


def skim_zipkin(payload: object) -> Iterator[tuple[str, int]]:
    """Gives trace id and start of each span, without reading the rest."""
    for span in spans_of(payload):
        yield trace_id_of(span), nanoseconds(span.get("timestamp"))


def read_zipkin(payload: object) -> Iterator[SpanRow]:
    """Gives the rows of a payload that was parsed from JSON."""
    for span in spans_of(payload):
        yield read_span(span)


def read_span(span: Object) -> SpanRow:
    """Returns the row of a span."""
    tags = {
        str(key): unsplit(value) for key, value in mapping(span.get("tags")).items()
    }
    start = nanoseconds(span.get("timestamp"))
    links = [tags.pop(key) for key in list(tags) if LINK.fullmatch(key)]
    kind = str(span.get("kind") or tags.pop("span.kind", ""))
    service = mapping(span.get("localEndpoint")).get("serviceName")
    return SpanRow(
        trace_id=trace_id_of(span),
        span_id=id_of(span.get("id"), 16),
        parent_id=id_of(span.get("parentId"), 16),
        name=str(span.get("name") or ""),
        kind=enum_name(kind, KINDS, "SPAN_KIND_"),
        start_ns=start,
        end_ns=start + nanoseconds(span.get("duration")),
        status=status_of(tags),
        status_message=str(tags.pop(STATUS[1], "")),
        scope=first_of(tags, SCOPE),
        scope_version=first_of(tags, SCOPE_VERSION),
        attributes=tags,
        events=tuple(map(read_event, map(mapping, items(span.get("annotations"))))),
        links=tuple(map(read_link, map(str, links))),
        resource={"service.name": service} if service else {},
    )


def status_of(tags: dict[str, Any]) -> str:
    """Returns the status, taken out of the tags; the tag `error` alone means one."""
    named = str(tags.pop(STATUS[0], "UNSET" if "error" not in tags else "ERROR"))
    if named.upper() == "ERROR" and tags.get("error") == "true":
        del tags["error"]
    return enum_name(named, STATUSES, "STATUS_CODE_")


def first_of(tags: dict[str, Any], names: tuple[str, ...]) -> str:
    """Returns the first tag that is there, and takes all of them out."""
    found = [str(tags.pop(name)) for name in names if name in tags]
    return found[0] if found else ""


def read_event(annotation: Object) -> dict[str, Any]:
    """Returns the event of an annotation."""
    text = str(annotation.get("value") or "")
    match = EVENT_TEXT.fullmatch(text)
    attributes = None if match is None else json_object(match[2])
    return {
        "name": text if match is None or attributes is None else match[1],
        "time_ns": nanoseconds(annotation.get("timestamp")),
        "attributes": attributes or {},
    }


def read_link(text: str) -> dict[str, Any]:
    """Returns the link of a tag's value."""
    match = LINK_TEXT.fullmatch(text)
    if match is None:
        return {"trace_id": "", "span_id": "", "attributes": {"otlp.link": text}}
    return {
        "trace_id": match[1],
        "span_id": match[2],
        "attributes": json_object(match[3]) or {},
    }


def json_object(text: str) -> dict[str, Any] | None:
    """Returns a JSON object; None if the text is none."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def unsplit(value: object) -> object:
    """Returns a tag's value; an array of record chunks that became text is one again."""
    if isinstance(value, str) and value.startswith(SPLIT_ARRAY):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def trace_id_of(span: Object) -> str:
    """Returns the trace id; leading zeros may have been left out."""
    found = id_of(span.get("traceId"), 32)
    return found.zfill(32) if found else ""


def nanoseconds(value: object) -> int:
    """Returns the nanoseconds of microseconds; 0 for anything else."""
    try:
        return int(value) * 1000 if isinstance(value, int | str | float) else 0
    except (ValueError, OverflowError):
        return 0
