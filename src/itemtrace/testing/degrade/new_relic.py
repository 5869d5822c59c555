"""New Relic: 4,095 characters a value, 64 entries an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from itemtrace.testing.degrade.base import (
    cut_characters,
    cut_values,
    everywhere,
    register,
    short_keys,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


VALUE: Final = 4_095
KEY: Final = 255
ENTRIES: Final = 64


@register(
    "new_relic",
    "New Relic",
    "docs.newrelic.com opentelemetry-best-practices-attributes (a limit; that it cuts is our reading)",
    limits="4,095 characters a value",
    configure="nothing",
    unconfirmed=True,
)
def new_relic(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Cuts values and arrays, and drops what has too long a key."""
    cut = cut_values(VALUE, cut_characters)
    return (everywhere(row, short_keys(KEY, drop=True), _array, cut) for row in rows)


def _array(key: str, value: Any) -> tuple[str, Any]:
    if isinstance(value, list | tuple):
        return key, list(cast("list[Any]", value))[:ENTRIES]
    return key, value
