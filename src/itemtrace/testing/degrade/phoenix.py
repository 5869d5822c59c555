"""Arize Phoenix: keys put in order, flattened and normalised; a span with bytes is lost."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from itemtrace.testing.degrade.base import changed, flattened, leaves, register


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


@register(
    "phoenix",
    "Arize Phoenix",
    "arize-phoenix 20.26.1, measured through /v1/projects/{project}/spans",
    limits="none seen at 1 MB a value; gRPC 4 MiB a request",
    configure='nothing; `conventions=("genai", "openinference")` for its pages',
)
def phoenix(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Times as float seconds, kind INTERNAL, no links, no resource; nested keys flattened and trimmed."""
    for row in rows:
        if any(isinstance(leaf, bytes) for leaf in leaves(row.attributes)):
            continue
        attributes = changed(flattened(row.attributes), _key)
        yield replace(
            row,
            kind="INTERNAL",
            start_ns=_seconds(row.start_ns),
            end_ns=_seconds(row.end_ns),
            attributes=dict(sorted(attributes.items())),
            links=(),
            resource={},
        )


def _seconds(moment: int) -> int:
    return int(moment / 1e9 * 1e6) * 1000


def _key(key: str, value: Any) -> tuple[str, Any] | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    parts = [part.strip() for part in re.split(r"\.+", key)]
    return ".".join(part for part in parts if part), value
