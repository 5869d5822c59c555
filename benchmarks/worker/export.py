"""What a recorder exported: how much, how often, and whether the run's content is in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult


if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


BATCH = 64
SHORTEST = 8
"""Leaf strings below this length match by accident and do not count."""


class NoOpExporter(SpanExporter):
    """Counts spans and forgets them."""

    def __init__(self) -> None:
        self.count = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Takes the spans and keeps nothing."""
        self.count += len(spans)
        return SpanExportResult.SUCCESS


def otlp_bytes(spans: Sequence[ReadableSpan]) -> int:
    """Returns the size of the spans as OTLP protobuf, uncompressed, in batches."""
    batches = (spans[first : first + BATCH] for first in range(0, len(spans), BATCH))
    return sum(encode_spans(batch).ByteSize() for batch in batches)


def dropped(spans: Iterable[ReadableSpan]) -> int:
    """Returns how many attributes the span limits threw away."""
    return sum(span.dropped_attributes for span in spans)


def leaves(value: Any) -> Iterator[str]:
    """Yields the strings of a JSON value that are long enough to be told apart."""
    if isinstance(value, str):
        if len(value) >= SHORTEST:
            yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from leaves(child)
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child)


def texts(spans: Iterable[ReadableSpan]) -> Iterator[str]:
    """Yields every string that stands anywhere in an export."""
    for span in spans:
        yield span.name
        for holder in (span, *span.events):
            for value in (holder.attributes or {}).values():
                yield from [value] if isinstance(value, str) else map(str, _many(value))


def _many(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) else (value,)


def share_found(wanted: Iterable[str], found_in: Iterable[str]) -> float:
    """Returns the share of distinct strings that occur in any of the texts, as they are or escaped once or twice.

    An upper bound of what can be rebuilt: it asks neither for order nor for structure.
    """
    missing = {text: spellings(text) for text in wanted}
    total = len(missing)
    for text in dict.fromkeys(found_in):
        hits = [
            leaf for leaf, ways in missing.items() if any(way in text for way in ways)
        ]
        for leaf in hits:
            del missing[leaf]
        if not missing:
            break
    return (total - len(missing)) / total


def spellings(text: str) -> set[str]:
    """Returns a text as it looks in plain, in JSON, in ASCII-only JSON, and in JSON inside JSON."""
    ways = {text}
    for ascii_only in (False, True):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        ways |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    return ways
