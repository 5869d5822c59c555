"""Lines of ClickHouse's JSONEachRow as span rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from itemtrace.codec.spans import SpanRow
from itemtrace.stores.otlp.values import KINDS, STATUSES, enum_name


UINT64: Final = (1 << 64) - 1

SCOPE: Final = ("otel.scope.name", "otel.scope.version")
"""Where old exporters put the scope, among the attributes."""

HEADER: Final = "itemtrace.r.0"


def span_row(line: Mapping[str, Any]) -> SpanRow:
    """Returns the row of a line of `Table.spans`."""
    attributes = flat(line["attributes"])
    return SpanRow(
        trace_id=line["trace_id"],
        span_id=line["span_id"],
        parent_id=line["parent_id"],
        name=line["name"],
        kind=enum_name(line["kind"], KINDS, "SPAN_KIND_"),
        start_ns=line["start"],
        end_ns=end_of(line),
        attributes=attributes,
        status=enum_name(line["status"], STATUSES, "STATUS_CODE_"),
        status_message=line["status_message"],
        events=tuple(
            {"name": name, "time_ns": time_ns, "attributes": flat(of_event)}
            for name, time_ns, of_event in zip(
                line["event_names"],
                line["event_times"],
                line["event_attributes"],
                strict=True,
            )
        ),
        links=tuple(
            {"trace_id": trace_id, "span_id": span_id, "attributes": flat(of_link)}
            for trace_id, span_id, of_link in zip(
                line["link_traces"],
                line["link_spans"],
                line["link_attributes"],
                strict=True,
            )
        ),
        resource=flat(line["resource"]),
        scope=line["scope"] or str(attributes.get(SCOPE[0], "")),
        scope_version=line["scope_version"] or str(attributes.get(SCOPE[1], "")),
    )


def run_row(line: Mapping[str, Any]) -> SpanRow:
    """Returns what a line of `Table.runs` tells of a run, as a row."""
    header = {HEADER: line["header"]} if line["header"] else {}
    return SpanRow(
        trace_id=line["trace_id"],
        span_id="",
        name=line["name"],
        start_ns=line["start"],
        end_ns=end_of(line),
        attributes={**line["told"], **header},
    )


def end_of(line: Mapping[str, Any]) -> int:
    """Returns the end of a span; one before its start has a duration that went round."""
    start, duration = int(line["start"]), int(line["duration"])
    return (start + duration) & UINT64


def flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns attributes by their dotted keys: ClickHouse's JSON nests them at each dot."""
    found: dict[str, Any] = {}
    for key, content in value.items():
        if isinstance(content, Mapping):
            found |= flat(cast("Mapping[str, Any]", content), f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = content
    return found
