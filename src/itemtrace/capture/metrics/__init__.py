"""Metrics: what spans and records say, added up for the person on call.

`Metrics` is told of every span that ends and of every run (`RunMetrics`). Nothing of this package is
made when metrics are off, and the rest of `capture` then asks one `is None`.
"""

from itemtrace.capture.metrics.meters import Meters, make_meters, metadata_keys
from itemtrace.capture.metrics.metrics import Metrics, MetricsSettings
from itemtrace.capture.metrics.prices import Prices, read_prices
from itemtrace.capture.metrics.runs import RunMetrics
from itemtrace.capture.metrics.sinks import CountedExporter


__all__ = [
    "CountedExporter",
    "Meters",
    "Metrics",
    "MetricsSettings",
    "Prices",
    "RunMetrics",
    "make_meters",
    "metadata_keys",
    "read_prices",
]
