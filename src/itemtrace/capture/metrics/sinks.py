"""Counts which spans a sink took and which it refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from itemtrace import semconv_metrics as names


if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk.trace import ReadableSpan

    from itemtrace.capture.metrics.metrics import Metrics


class CountedExporter(SpanExporter):
    """An exporter, and a count of what it took.

    Args:
        exporter: What exports.
        name: How it is named in the metric.
        metrics: Counts.
    """

    def __init__(self, exporter: SpanExporter, name: str, metrics: Metrics) -> None:
        self._exporter = exporter
        self._name = name
        self._metrics = metrics

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Exports a batch."""
        outcome = "refused"
        try:
            result = self._exporter.export(spans)
            outcome = "taken" if result is SpanExportResult.SUCCESS else "refused"
        finally:
            of = {names.SINK: self._name, names.SINK_OUTCOME: outcome}
            self._metrics.instruments.add(names.SINK_SPANS, len(spans), of)
        return result

    def shutdown(self) -> None:
        """Closes the exporter."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flushes the exporter."""
        return self._exporter.force_flush(timeout_millis)
