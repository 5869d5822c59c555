"""MLflow: strings that are JSON come back as what they say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from itemtrace.testing.degrade.base import changed, register


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


@register(
    "mlflow",
    "MLflow",
    "mlflow 3.17.2, measured through search_traces",
    limits="none seen at 1 MB a value",
    configure="`x-mlflow-experiment-id` in the exporter's headers",
)
def mlflow(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """JSON-looking strings are parsed, bytes become their repr, the resource is gone."""
    for row in rows:
        yield replace(row, attributes=changed(row.attributes, _parsed), resource={})


def _parsed(key: str, value: Any) -> tuple[str, Any]:
    if isinstance(value, bytes):
        return key, repr(value)
    if isinstance(value, str):
        try:
            return key, json.loads(value)
        except (ValueError, RecursionError):
            return key, value
    return key, value
