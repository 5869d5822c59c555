"""Rows into the tables `traces`, `origins` and `spans`, inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from itemtrace.stores.sqlite import rows as texts


if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

    from itemtrace.codec.spans import SpanRow


INT64: Final = (1 << 63) - 1


def write_spans(
    connection: sqlite3.Connection,
    rows: Iterable[SpanRow],
    workflow_of: Callable[[Iterable[SpanRow]], str],
) -> dict[str, int]:
    """Adds rows and returns the number of each trace that they belong to.

    Args:
        connection: In a transaction.
        rows: The rows, of any traces.
        workflow_of: Says which workflow rows of one trace name.
    """
    by_trace: dict[str, list[SpanRow]] = {}
    for row in rows:
        by_trace.setdefault(row.trace_id, []).append(row)
    return {
        trace_id: write_trace(connection, trace_id, group, workflow_of(group))
        for trace_id, group in by_trace.items()
    }


def write_trace(
    connection: sqlite3.Connection,
    trace_id: str,
    rows: Sequence[SpanRow],
    workflow: str,
) -> int:
    """Adds rows of one trace and returns its number."""
    bodies = [texts.dump(row) for row in rows]
    trace: int = connection.execute(
        "INSERT INTO traces (trace_id, workflow, start_ns, end_ns, spans, bytes) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (trace_id) DO UPDATE SET "
        "workflow = CASE workflow WHEN '' THEN excluded.workflow ELSE workflow END, "
        "start_ns = min(start_ns, excluded.start_ns), end_ns = max(end_ns, excluded.end_ns), "
        "spans = spans + excluded.spans, bytes = bytes + excluded.bytes RETURNING id",
        (
            texts.indexable(trace_id),
            texts.indexable(workflow),
            int64(min(row.start_ns for row in rows)),
            int64(max(row.end_ns for row in rows)),
            len(rows),
            sum(map(len, bodies)),
        ),
    ).fetchone()[0]
    origins = Origins(connection, trace)
    connection.executemany(
        "INSERT INTO spans (trace, origin, body) VALUES (?, ?, ?)",
        [
            (trace, origins.number(row), body)
            for row, body in zip(rows, bodies, strict=True)
        ],
    )
    return trace


class Origins:
    """Numbers of the resources and scopes of a trace's rows, each text written once."""

    def __init__(self, connection: sqlite3.Connection, trace: int) -> None:
        self.connection = connection
        self.trace = trace
        self.known: dict[str, int] = dict(
            connection.execute("SELECT body, id FROM origins WHERE trace = ?", (trace,))
        )

    def number(self, row: SpanRow) -> int:
        """Returns the number of the row's origin; writes the origin if it is new."""
        body = texts.dump_origin(row)
        found = self.known.get(body)
        if found is None:
            found = self.known[body] = self.connection.execute(
                "INSERT INTO origins (trace, body) VALUES (?, ?) RETURNING id",
                (self.trace, body),
            ).fetchone()[0]
        return found


def int64(value: int) -> int:
    """Returns a number that SQLite takes; times beyond are kept exactly in the row itself."""
    return max(-INT64, min(INT64, value))
