"""What happens on every way to a backend: spans doubled, out of order, or not there yet."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from itemtrace.testing.degrade.base import register


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


def _shuffled(rows: Iterable[SpanRow]) -> list[SpanRow]:
    """Returns rows in an order that depends on nothing but their ids."""
    return sorted(rows, key=lambda row: sha256(row.span_id.encode()).digest())


@register(
    "duplicates",
    "Spans sent twice",
    "open-telemetry/opentelemetry-collector exporter/exporterhelper/README.md (a queue on disk is at-least-once)",
    limits="none",
    configure="nothing",
)
def duplicates(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Every span twice, the second time much later."""
    kept = list(rows)
    yield from kept
    yield from kept


@register(
    "reorder",
    "Spans out of order",
    "any batching exporter; stores give rows by span id, by time, or as they like",
    limits="none",
    configure="nothing",
)
def reorder(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """All spans, in another order."""
    yield from _shuffled(rows)


@register(
    "late",
    "Read before all has arrived",
    "OTEL_BSP_SCHEDULE_DELAY is 5 s; Collector batches and queues add to it",
    profile="",
    limits="the last tenth of the spans is missing until it arrives; then the same trace is exact",
    configure="read again later; `itemtrace.flush()` before a process ends",
)
def late(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """All but the tenth that ended last."""
    kept = sorted(rows, key=lambda row: row.end_ns)
    yield from kept[: len(kept) - max(len(kept) // 10, 1)]
