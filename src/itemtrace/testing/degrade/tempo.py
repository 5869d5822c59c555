"""Grafana Tempo, also as Grafana Cloud: values cut at 2,048 bytes, traces at 5 MB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemtrace.testing.degrade.base import cut_bytes, everywhere, register, until_full


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


VALUE: Final = 2_048
TRACE: Final = 5_000_000


@register(
    "tempo",
    "Grafana Tempo",
    "grafana/tempo modules/distributor/distributor.go (processAttributes)",
    "grafana/tempo docs/sources/tempo/operations/manage-trace-ingestion.md",
    limits="5 MB a trace (`max_bytes_per_trace`): later spans are dropped after the client was told OK",
    configure="nothing; for long runs raise `max_bytes_per_trace`",
)
def tempo(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Cuts keys and strings of every scope by byte; arrays, maps and bytes are not looked at."""
    return (everywhere(row, _cut) for row in until_full(rows, TRACE))


def _cut(key: str, value: Any) -> tuple[str, Any]:
    key = cut_bytes(key, VALUE)
    return key, cut_bytes(value, VALUE) if isinstance(value, str) else value
