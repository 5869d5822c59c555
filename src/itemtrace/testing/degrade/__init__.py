"""What backends do to spans, as pure functions: `rebuild(degrade("tempo", rows))`.

Each module has the published rules of one backend or family, with their sources. A test of an
application can see with them what its backend will keep:

    rows = degrade("datadog", recorder.rows())
    assert rebuild(rows).exact

A new backend is one module and a line in `MODULES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemtrace.testing.degrade import (
    azure,
    clickhouse,
    dash0,
    datadog,
    elastic,
    google_cloud,
    honeycomb,
    jaeger,
    langfuse,
    mlflow,
    new_relic,
    phoenix,
    tempo,
    transport,
    xray,
    zipkin,
)
from itemtrace.testing.degrade.base import DEGRADERS, Degrader, register


if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemtrace.codec.spans import SpanRow


__all__ = ["DEGRADERS", "MODULES", "Degrader", "degrade", "register"]

MODULES = (
    tempo, jaeger, clickhouse, phoenix, mlflow, datadog, honeycomb, elastic, azure, new_relic,
    google_cloud, xray, langfuse, zipkin, dash0, transport,
)  # fmt: skip
"""The modules that register degraders."""


def degrade(name: str, rows: Iterable[SpanRow]) -> list[SpanRow]:
    """Returns rows as a backend gives them back.

    Args:
        name: A key of `DEGRADERS`.
        rows: Span rows of one or more traces.
    """
    return DEGRADERS[name](rows)
