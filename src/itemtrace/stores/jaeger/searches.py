"""What Jaeger is asked to find the runs of a query: one operation or tag, chosen to be narrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from itemtrace import semconv


if TYPE_CHECKING:
    from itemtrace.stores.base import Query


INDEXED: Final = 250
"""Longest value in bytes that every storage of Jaeger finds; most index up to 256."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is asked of one service beside times.

    Attributes:
        operation: Name of a span.
        tags: What one span must have.
        at_start: Whether it finds runs by their start, so that the end of a time can be applied.
    """

    operation: str = ""
    tags: tuple[tuple[str, str], ...] = ()
    at_start: bool = False


ALL_TRACES: Final = (Search(at_start=True),)
ALL_RUNS: Final = (
    Search(semconv.RUN_START, at_start=True),
    Search(semconv.RUN_END),  # of runs whose start was lost
)

CRITERIA: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("run_id", "", (semconv.ITEMTRACE_RUN_ID,)),
    ("group", "", (semconv.GEN_AI_CONVERSATION_ID,)),
    ("tool", "", (semconv.GEN_AI_TOOL_NAME,)),
    ("agent", "", (semconv.GEN_AI_AGENT_NAME,)),
    ("model", "", (semconv.GEN_AI_REQUEST_MODEL, semconv.GEN_AI_RESPONSE_MODEL)),
    ("status", semconv.RUN_END, (semconv.ITEMTRACE_RUN_STATUS,)),
)
"""Fields of a query, the operation and the tags that find them; the narrowest first."""


def searches_of(query: Query) -> tuple[Search, ...]:
    """Returns the searches that find all runs of a query, and as few others as possible."""
    for name, operation, tags in CRITERIA:
        value = getattr(query, name)
        if value and value != "unsealed" and len(value.encode()) <= INDEXED:
            return tuple(Search(operation, ((str(tag), value),)) for tag in tags)
    return ALL_RUNS
