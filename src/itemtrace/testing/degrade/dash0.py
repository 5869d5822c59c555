"""Dash0: 32 attributes a span, 2,048 characters a value, 2,000 spans a trace."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from itemtrace.testing.degrade.base import (
    cut_characters,
    cut_values,
    everywhere,
    first_keys,
    register,
    short_keys,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


VALUE: Final = 2_048
KEY: Final = 128
ATTRIBUTES: Final = 32
EVENTS: Final = 8
SPANS: Final = 2_000


@register(
    "dash0",
    "Dash0",
    "the limits page of dash0.com (which attributes go is our reading: the last)",
    profile="dash0",
    limits="2,000 spans a trace",
    configure='`install(profile="dash0")`',
    unconfirmed=True,
)
def dash0(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Keeps the first attributes and events of a span and the first spans of a trace; cuts values."""
    spans: Counter[str] = Counter()
    for row in rows:
        spans[row.trace_id] += 1
        if spans[row.trace_id] > SPANS:
            continue
        few = replace(
            row,
            attributes=first_keys(row.attributes, ATTRIBUTES),
            events=tuple(
                {**event, "attributes": first_keys(event["attributes"], EVENTS)}
                for event in row.events[:EVENTS]
            ),
        )
        cut = cut_values(VALUE, cut_characters)
        yield everywhere(few, short_keys(KEY, drop=True), cut)
