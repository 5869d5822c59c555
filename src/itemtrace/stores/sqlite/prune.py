"""Retention: whole traces deleted, oldest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final


if TYPE_CHECKING:
    import sqlite3


BATCH: Final = 500
"""How many traces one transaction deletes, so that writers wait briefly."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was deleted.

    Attributes:
        traces: How many traces.
        spans: How many spans.
        bytes: How many bytes of the store are free again.
    """

    traces: int = 0
    spans: int = 0
    bytes: int = 0


def used_bytes(connection: sqlite3.Connection) -> int:
    """Returns the bytes of the pages in use."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    used: int = (pages - free) * size
    return used


def prune(
    connection: sqlite3.Connection, *, before_ns: int | None, max_bytes: int | None
) -> Pruned:
    """Deletes the traces that ended before a time, then the oldest until the store fits."""
    before = used_bytes(connection)
    traces = spans = 0
    while before_ns is not None:
        chosen = connection.execute(
            "SELECT id, spans FROM traces WHERE end_ns < ? ORDER BY start_ns, id LIMIT ?",
            (before_ns, BATCH),
        ).fetchall()
        if not chosen:
            break
        delete(connection, [trace for trace, _ in chosen])
        traces, spans = traces + len(chosen), spans + sum(n for _, n in chosen)
    while max_bytes is not None:
        chosen = oldest(connection, used_bytes(connection) - max_bytes)
        if not chosen:
            break
        delete(connection, [trace for trace, _ in chosen])
        traces, spans = traces + len(chosen), spans + sum(n for _, n in chosen)
    freed = before - used_bytes(connection)
    if traces:
        # execute() would stop after the first page
        connection.executescript("PRAGMA incremental_vacuum")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return Pruned(traces, spans, freed)


def oldest(connection: sqlite3.Connection, excess: int) -> list[tuple[int, int]]:
    """Returns id and spans of the oldest traces, up to the first that covers the excess."""
    chosen: list[tuple[int, int]] = []
    rows = connection.execute(
        "SELECT id, spans, bytes FROM traces ORDER BY start_ns, id LIMIT ?", (BATCH,)
    ).fetchall()
    for trace, spans, size in rows:
        if excess <= 0:
            break
        chosen.append((trace, spans))
        excess -= size
    return chosen


def delete(connection: sqlite3.Connection, traces: list[int]) -> None:
    """Deletes traces and all that belongs to them, in one transaction."""
    marks = ",".join("?" * len(traces))
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in (
            "DELETE FROM facets WHERE run IN (SELECT id FROM runs WHERE trace IN ({}))",
            "DELETE FROM runs WHERE trace IN ({})",
            "DELETE FROM spans WHERE trace IN ({})",
            "DELETE FROM origins WHERE trace IN ({})",
            "DELETE FROM traces WHERE id IN ({})",
        ):
            connection.execute(statement.format(marks), traces)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
