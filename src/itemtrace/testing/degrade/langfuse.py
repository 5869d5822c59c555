"""Langfuse: keeps the keys that it maps, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from itemtrace.testing.degrade.base import changed, register


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


MAPPED: Final = (
    "langfuse.observation.metadata.",
    "langfuse.trace.metadata.",
    "gen_ai.",
    "input.value",
    "output.value",
    "llm.",
)
"""Beginnings of keys that its ingestion reads."""


@register(
    "langfuse",
    "Langfuse",
    "langfuse/langfuse packages/shared/src/server/otel/OtelIngestionProcessor.ts",
    profile="langfuse",
    limits="512 MiB a request; with another profile nothing of a ledger is kept",
    configure='`install(profile="langfuse")`',
)
def langfuse(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Keeps mapped attributes; events and links go."""
    for row in rows:
        yield replace(
            row, attributes=changed(row.attributes, _mapped), events=(), links=()
        )


def _mapped(key: str, value: Any) -> tuple[str, Any] | None:
    return (key, value) if key.startswith(MAPPED) else None
