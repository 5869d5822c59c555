"""Datadog: all text in one map, all numbers in another, 25,000 bytes a value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from itemtrace.testing.degrade.base import (
    as_string,
    changed,
    cut_values,
    cut_whole_bytes,
    json_text,
    nested_as_json,
    register,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


META: Final = 25_000
KEY: Final = 200


@register(
    "datadog",
    "Datadog",
    "DataDog/datadog-agent pkg/trace/agent/truncator.go",
    "DataDog/datadog-agent pkg/trace/transform/transform.go",
    limits="25,000 bytes a value; raw traces have no bulk export",
    configure="nothing; header `dd-otlp-source=llmobs` for its LLM pages",
)
def datadog(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Integers become float64; arrays, links and events become JSON text and are cut like all text."""
    cut = cut_values(META, cut_whole_bytes, "...")
    for row in rows:
        resource = {key: as_string(value) for key, value in row.resource.items()}
        told = {**resource, **row.attributes}
        if row.events:
            told["events"] = json_text([*row.events])
        if row.links:
            told["_dd.span_links"] = json_text([*row.links])
        attributes = changed(told, nested_as_json, _number, cut, _key)
        yield replace(row, attributes=attributes, events=(), links=(), resource={})


def _number(key: str, value: Any) -> tuple[str, Any]:
    if isinstance(value, bool):
        return key, as_string(value)
    return key, float(value) if isinstance(value, int) else value


def _key(key: str, value: Any) -> tuple[str, Any]:
    return cut_whole_bytes(key, KEY, "..."), value
