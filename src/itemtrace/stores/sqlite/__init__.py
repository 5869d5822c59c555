"""The local store: one SQLite file that records, indexes and lists runs.

Rows are kept whole, as JSON; the index tables come from the attributes of the spans and can be
made again. All text in the file is safe UTF-8.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.stores.base import (
    EVERYTHING,
    Capabilities,
    Query,
    RunDraft,
    RunSummary,
    WritableStore,
    index_runs,
    plain_row,
    register,
    workflow_of,
)
from itemtrace.stores.sqlite import rows as texts
from itemtrace.stores.sqlite.columns import COLUMNS, CRITERIA, FIELDS, STARTED
from itemtrace.stores.sqlite.database import MAGIC, connect, errors
from itemtrace.stores.sqlite.prune import Pruned, prune, used_bytes
from itemtrace.stores.sqlite.write import int64, write_spans


if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator, Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


__all__ = ["Pending", "Pruned", "SqliteStore"]

PAGE: Final = 256
"""How many rows are fetched at a time."""

abandoned: list[object] = []
"""Connections of a parent process: closing them in a child would harm the parent's."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Rows that a sink has not confirmed yet.

    Attributes:
        rows: The rows, in the order they were written.
        position: What to pass to `mark` once they have arrived.
    """

    rows: list[SpanRow]
    position: int


@register(
    "sqlite",
    suffixes=(".db", ".sqlite", ".sqlite3"),
    sniff=lambda head, _: head.startswith(MAGIC),
)
class SqliteStore(WritableStore):
    """Spans in one SQLite file. Any thread and any process may use it at the same time."""

    capabilities = Capabilities(
        write=True, index=True, surrogates=True, exact=True, concurrent_writers=True
    )

    def __init__(self, source: str | Path, *, write: bool = False) -> None:
        """Opens the store.

        Args:
            source: The file.
            write: Open it for writing and make it (mode 0600) if it is not there.

        Raises:
            SourceError: It cannot be opened; a subclass says why.
        """
        self.path = Path(source).expanduser()
        self.url = str(self.path)
        self.problems: list[str] = []
        self.writes = write
        self.lock = threading.RLock()
        self.owner = os.getpid()
        self.open: sqlite3.Connection | None = connect(self.path, write=write)

    @contextmanager
    def connection(self) -> Generator[sqlite3.Connection]:
        """Gives the connection to one thread; SQLite's errors become ours."""
        if self.owner != os.getpid():  # nothing of the parent's may be used
            self.lock = threading.RLock()
            self.owner = os.getpid()
            abandoned.append(self.open)
            self.open = None
        with self.lock, errors(self.path):
            if self.open is None:
                self.open = connect(self.path, write=self.writes)
            yield self.open

    def fetch(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Returns all rows of a statement."""
        with self.connection() as connection:
            return connection.execute(sql, values).fetchall()

    def write(self, rows: Iterable[SpanRow]) -> int:
        """Adds rows in one transaction and returns how many; see `WritableStore.write`."""
        batch = [plain_row(row) for row in rows]
        with self.connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                numbers = write_spans(connection, batch, workflow_of)
                for draft in index_runs(batch):
                    write_run(connection, numbers[draft.trace_id], draft)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk has rolled back by itself
                    connection.execute("ROLLBACK")
                raise
        return len(batch)

    def traces(
        self, query: Query = EVERYTHING
    ) -> Iterator[tuple[str, Iterator[SpanRow]]]:
        """Gives the selected traces, newest start first; see `Store.traces`."""
        where, values = trace_clauses(query)
        given = 0
        last: tuple[object, ...] = ()
        while query.limit is None or given < query.limit:
            after = " AND (t.start_ns, t.id) < (?, ?)" if last else ""
            page = self.fetch(
                "SELECT t.start_ns, t.id, t.trace_id FROM traces t "  # noqa: S608
                f"WHERE {where}{after} ORDER BY t.start_ns DESC, t.id DESC LIMIT ?",
                *values,
                *last,
                PAGE if query.limit is None else min(PAGE, query.limit - given),
            )
            for start_ns, trace, trace_id in page:
                yield trace_id, self.rows_of(trace, trace_id)
                last = (start_ns, trace)
            given += len(page)
            if not page:
                return

    def rows_of(self, trace: int, trace_id: str) -> Iterator[SpanRow]:
        """Gives the rows of a trace in the order they were written."""
        origins = Origins(self)
        last = 0
        while page := self.fetch(
            "SELECT id, origin, body FROM spans WHERE trace = ? AND id > ? ORDER BY id LIMIT ?",
            trace,
            last,
            PAGE,
        ):
            for last, origin, body in page:  # noqa: B007 - the last one is where to go on
                yield texts.load(trace_id, body, origins[origin])

    def runs(self, query: Query = EVERYTHING) -> Iterator[RunSummary]:
        """Gives the selected runs, newest start first, from the index; see `Store.runs`."""
        where, values = run_clauses(query)
        given = 0
        last: tuple[object, ...] = ()
        while query.limit is None or given < query.limit:
            after = " AND (r.started_ns, r.id) < (?, ?)" if last else ""
            page = self.fetch(
                f"SELECT r.id, t.trace_id, {COLUMNS} FROM runs r "  # noqa: S608
                "JOIN traces t ON t.id = r.trace "
                f"WHERE {where}{after} ORDER BY r.started_ns DESC, r.id DESC LIMIT ?",
                *values,
                *last,
                PAGE if query.limit is None else min(PAGE, query.limit - given),
            )
            if not page:
                return
            drafts = {row[0]: RunDraft(*row[1:]) for row in page}
            for run, kind, name in self.fetch(
                "SELECT run, kind, value FROM facets "  # noqa: S608 - numbers only
                f"WHERE run IN ({','.join(map(str, drafts))})"
            ):
                drafts[run].facets.add((kind, name))
            yield from (draft.summary() for draft in drafts.values())
            given += len(page)
            last = (page[-1][2 + STARTED], page[-1][0])

    def size(self) -> int:
        """Returns the bytes in use; the file and its log may be somewhat larger."""
        with self.connection() as connection:
            return used_bytes(connection)

    def prune(
        self,
        *,
        now_ns: int,
        max_age_s: float | None = None,
        max_bytes: int | None = None,
    ) -> Pruned:
        """Deletes whole traces, oldest first, and gives the room back to the disk.

        Args:
            now_ns: The time now, nanoseconds since the epoch.
            max_age_s: Traces whose last span ended longer ago are deleted.
            max_bytes: Traces are deleted until the store is at most this large.
        """
        before_ns = None if max_age_s is None else now_ns - int(max_age_s * 1e9)
        with self.connection() as connection:
            return prune(connection, before_ns=before_ns, max_bytes=max_bytes)

    def pending(self, sink: str, limit: int = 512) -> Pending:
        """Returns the first rows after what a sink has confirmed.

        Args:
            sink: The sink's name, such as an endpoint without credentials.
            limit: At most so many rows.
        """
        found = self.fetch("SELECT position FROM marks WHERE sink = ?", sink)
        position: int = found[0][0] if found else 0
        origins = Origins(self)
        page = self.fetch(
            "SELECT s.id, s.origin, s.body, t.trace_id FROM spans s "
            "JOIN traces t ON t.id = s.trace WHERE s.id > ? ORDER BY s.id LIMIT ?",
            position,
            limit,
        )
        rows = [texts.load(trace, body, origins[of]) for _, of, body, trace in page]
        return Pending(rows, page[-1][0] if page else position)

    def mark(self, sink: str, position: int) -> None:
        """Notes that a sink has all rows up to a position that `pending` gave."""
        self.fetch(
            "INSERT INTO marks VALUES (?, ?) ON CONFLICT (sink) "
            "DO UPDATE SET position = max(position, excluded.position)",
            sink,
            position,
        )

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        if self.owner == os.getpid():
            with self.lock, errors(self.path):
                if self.open is not None:
                    self.open.close()
                    self.open = None


class Origins(dict[int, dict[str, Any]]):
    """Resource and scope of the rows of a trace, each read once and shared."""

    def __init__(self, store: SqliteStore) -> None:
        super().__init__()
        self.store = store

    def __missing__(self, origin: int) -> dict[str, Any]:
        """Reads an origin from the store."""
        found = self.store.fetch("SELECT body FROM origins WHERE id = ?", origin)
        value: dict[str, Any] = texts.load_value(found[0][0]) if found else {}
        self[origin] = value
        return value


def run_clauses(query: Query) -> tuple[str, list[object]]:
    """Returns the condition on runs `r` of traces `t`, and its values."""
    clauses, values = trace_id_clause(query)
    for name, clause in CRITERIA.items():
        value = getattr(query, name)
        if value is not None:
            clauses.append(clause)
            values.append(bindable(value))
    return " AND ".join(clauses), values


def trace_clauses(query: Query) -> tuple[str, list[object]]:
    """Returns the condition on traces `t`, and its values."""
    timed = query.since_ns is not None or query.until_ns is not None
    clauses, values = trace_id_clause(query)
    if query.about_runs or timed:
        where, more = run_clauses(query)
        clause = f"EXISTS (SELECT 1 FROM runs r WHERE r.trace = t.id AND {where})"  # noqa: S608
        values += more
        if not query.about_runs:
            clause = (
                f"({clause} OR (t.start_ns >= ? AND t.start_ns < ? "  # noqa: S608
                "AND NOT EXISTS (SELECT 1 FROM runs WHERE trace = t.id)))"
            )
            values += [
                bindable(-(1 << 63) if query.since_ns is None else query.since_ns),
                bindable(1 << 63 if query.until_ns is None else query.until_ns),
            ]
        clauses.append(clause)
    return " AND ".join(clauses), values


def trace_id_clause(query: Query) -> tuple[list[str], list[object]]:
    """Returns the condition on the ids of traces `t`, and its values."""
    if not query.trace_ids:
        return ["1"], []
    clause = "t.trace_id IN (SELECT value FROM json_each(?))"  # any number of ids
    return [clause], [canonical.dumps([bindable(i) for i in query.trace_ids])]


def bindable(value: str | int) -> str | int:
    """Returns a value that SQLite takes as a parameter."""
    return texts.indexable(value) if isinstance(value, str) else int64(value)


def write_run(connection: sqlite3.Connection, trace: int, draft: RunDraft) -> None:
    """Brings what new rows tell of a run together with what the index has of it."""
    names = ", ".join(f'"{name}"' for name in FIELDS)
    found = connection.execute(
        f"SELECT {names} FROM runs WHERE trace = ? AND run_id = ?",  # noqa: S608
        (trace, texts.indexable(draft.run_id)),
    ).fetchone()
    if found is not None:
        draft.merge(RunDraft(draft.trace_id, *found))
    changed = ", ".join(f'"{name}" = excluded."{name}"' for name in FIELDS)
    run: int = connection.execute(
        f"INSERT INTO runs (trace, {names}) VALUES (?{', ?' * len(FIELDS)}) "  # noqa: S608
        f"ON CONFLICT (trace, run_id) DO UPDATE SET {changed} RETURNING id",
        (trace, *(storable(getattr(draft, name)) for name in FIELDS)),
    ).fetchone()[0]
    connection.executemany(
        "INSERT OR IGNORE INTO facets VALUES (?, ?, ?)",
        [(run, kind, texts.indexable(name)) for kind, name in draft.facets],
    )


def storable(value: str | int | None) -> str | int | None:
    """Returns a field as a column takes it."""
    return None if value is None else bindable(value)
