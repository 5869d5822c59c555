"""AWS X-Ray: 64 kB a segment, 500 kB a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from itemtrace.testing.degrade.base import register, small_enough, until_full


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


SEGMENT: Final = 64_000
TRACE: Final = 500_000


@register(
    "xray",
    "AWS X-Ray",
    "repost.aws x-ray-trace-quota-error; the AWS page CloudWatch-OTLPEndpoint",
    profile="xray",
    limits="500 kB a trace: `LimitExceeded`, the rest is not kept",
    configure='`install(profile="xray", messages="off")`',
    unconfirmed=True,
)
def xray(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Refuses a span over the limit whole, and what comes after a trace is full."""
    return until_full(small_enough(rows, SEGMENT), TRACE)
