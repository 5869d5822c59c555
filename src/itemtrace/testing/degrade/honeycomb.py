"""Honeycomb: 65,535 bytes a field, 1 MB an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from itemtrace.testing.degrade.base import (
    cut_values,
    everywhere,
    nested_as_json,
    register,
    small_enough,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


FIELD: Final = 65_535
EVENT: Final = 1_000_000


@register(
    "honeycomb",
    "Honeycomb",
    "honeycombio/husky otlp/common.go (fieldSizeMax)",
    limits="65,535 bytes a value, 1 MB a span",
    configure="nothing",
)
def honeycomb(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Arrays and bytes become JSON; text is cut, in the middle of JSON too; a larger span is refused."""
    rows = small_enough(rows, EVENT)
    return (everywhere(row, nested_as_json, cut_values(FIELD)) for row in rows)
