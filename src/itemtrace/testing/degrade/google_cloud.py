"""Google Cloud Trace over OTLP: 64 KiB a value, 1,024 attributes a span."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from itemtrace.testing.degrade.base import (
    cut_values,
    cut_whole_bytes,
    everywhere,
    first_keys,
    register,
    short_keys,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


VALUE: Final = 65_536
KEY: Final = 512
ATTRIBUTES: Final = 1_024
EVENTS: Final = 256
LINKS: Final = 128


@register(
    "google_cloud",
    "Google Cloud Trace (OTLP)",
    "cloud.google.com/stackdriver/quotas (that it cuts is our reading)",
    limits="64 KiB a value, 1,024 attributes a span",
    configure="nothing; send OTLP, not through the older exporter, which writes floats as `%.4f`",
    unconfirmed=True,
)
def google_cloud(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Keeps the first of too many attributes, events and links; cuts values."""
    for row in rows:
        few = replace(
            row,
            attributes=first_keys(row.attributes, ATTRIBUTES),
            events=row.events[:EVENTS],
            links=row.links[:LINKS],
        )
        cut = cut_values(VALUE, cut_whole_bytes)
        yield everywhere(few, short_keys(KEY, drop=True), cut)
