"""The database file: how it is made, opened and what its errors mean.

Several processes write at once (WAL, a busy timeout), a killed one loses nothing that was
committed, and a forked child opens its own connection.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from itemtrace.errors import NotATrace, SourceError, StoreLocked, StoreVersionError


if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


MAGIC: Final = b"SQLite format 3\0"
APPLICATION: Final = 0x69746D74
"""`itmt`: which program a SQLite file belongs to."""

VERSION: Final = 1
"""The schema; a line here for each: 1, 2026-11, the first."""

BUSY_S: Final = 10.0
"""How long a connection waits for another one's transaction."""

SCHEMA: Final = """
CREATE TABLE traces (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  trace_id TEXT NOT NULL UNIQUE, workflow TEXT NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  spans INTEGER NOT NULL, bytes INTEGER NOT NULL
);
CREATE INDEX traces_start ON traces (start_ns, id);
CREATE TABLE origins (
  id INTEGER PRIMARY KEY, trace INTEGER NOT NULL, body TEXT NOT NULL
);
CREATE INDEX origins_trace ON origins (trace);
CREATE TABLE spans (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  trace INTEGER NOT NULL, origin INTEGER NOT NULL, body TEXT NOT NULL
);
CREATE INDEX spans_trace ON spans (trace);
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  trace INTEGER NOT NULL, run_id TEXT NOT NULL, parent TEXT NOT NULL,
  "group" TEXT NOT NULL, workflow TEXT NOT NULL, agent TEXT NOT NULL,
  status TEXT NOT NULL, started_ns INTEGER NOT NULL, ended_ns INTEGER NOT NULL,
  items INTEGER, input_tokens INTEGER, output_tokens INTEGER,
  UNIQUE (trace, run_id)
);
CREATE INDEX runs_started ON runs (started_ns, id);
CREATE INDEX runs_run ON runs (run_id);
CREATE INDEX runs_group ON runs ("group");
CREATE TABLE facets (
  run INTEGER NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (run, kind, value)
) WITHOUT ROWID;
CREATE INDEX facets_value ON facets (kind, value, run);
CREATE TABLE marks (sink TEXT PRIMARY KEY, position INTEGER NOT NULL);
"""

NO_ROOM: Final = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
"""What SQLite says where it cannot make the files that reading a log needs."""

ERRORS: Final[dict[int, tuple[type[SourceError], str]]] = {
    sqlite3.SQLITE_BUSY: (
        StoreLocked,
        f"is locked by another process for over {BUSY_S:g} s; close that process or try again",
    ),
    sqlite3.SQLITE_LOCKED: (
        StoreLocked,
        "is locked by this process; finish the other read or write first",
    ),
    sqlite3.SQLITE_READONLY: (
        StoreLocked,
        "is read-only; expected to write to it; name another store or change its permissions",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        SourceError,
        "cannot be opened; expected a readable file in a readable directory",
    ),
    sqlite3.SQLITE_NOTADB: (
        NotATrace,
        "is no SQLite database; expected an itemtrace store",
    ),
    sqlite3.SQLITE_CORRUPT: (
        SourceError,
        "is damaged; `sqlite3 FILE .recover` may save what is left",
    ),
    sqlite3.SQLITE_FULL: (
        SourceError,
        "cannot grow, the disk is full; what was there is whole; make room, or prune the store",
    ),
}
"""What a SQLite result code means to a caller."""


@contextmanager
def errors(path: Path) -> Generator[None]:
    """Turns SQLite's errors into ours, one clear line each."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        kind, text = ERRORS.get(code, (SourceError, f"cannot be used: {error}"))
        msg = f"{path} {text}"
        raise kind(msg, source=str(path)) from error


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Returns a connection to a store, made first if it is to be written and not there.

    Raises:
        SourceError: It cannot be opened; a subclass says why.
    """
    with errors(path):
        if not write:
            return open_to_read(path)
        make_file(path)
        connection = link(f"{uri(path)}?mode=rw")
        try:
            # first of all, so that a store of a newer itemtrace stays as it is
            check(connection, path)
            prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def uri(path: Path) -> str:
    """Returns the URI of an existing file."""
    return f"file:{quote(str(path.absolute()))}"


def link(address: str) -> sqlite3.Connection:
    """Returns a connection in autocommit mode that any thread may use, one at a time."""
    return sqlite3.connect(
        address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False
    )


def make_file(path: Path) -> None:
    """Makes an empty file and its directories, for the owner only, if they are not there."""
    try:
        for directory in reversed([path.parent, *path.parent.parents]):
            if not directory.exists():
                directory.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except PermissionError as error:
        msg = f"{path} {ERRORS[sqlite3.SQLITE_READONLY][1]}"
        raise StoreLocked(msg, source=str(path)) from error
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}; name another store"
        raise SourceError(msg, source=str(path)) from error


def open_to_read(path: Path) -> sqlite3.Connection:
    """Returns a connection that changes nothing, also where nothing may be written."""
    connection = link(f"{uri(path)}?mode=ro")
    try:
        check(connection, path)
    except sqlite3.OperationalError as error:
        connection.close()
        if error.sqlite_errorcode & 0xFF not in NO_ROOM:
            raise
        return open_immutable(path)
    except BaseException:
        connection.close()
        raise
    return connection


def open_immutable(path: Path) -> sqlite3.Connection:
    """Returns a connection to a store in a directory where SQLite cannot make its files."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        msg = (
            f"{path} has changes in {log.name} that cannot be read from a read-only directory; "
            "copy both files to a directory that can be written"
        )
        raise SourceError(msg, source=str(path))
    connection = link(f"{uri(path)}?mode=ro&immutable=1")
    try:
        check(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Makes sure that the database is a store of a version that is known, or empty.

    Raises:
        StoreVersionError: A newer itemtrace wrote it.
        NotATrace: It is another program's database.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    program: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if program == APPLICATION and version > VERSION:
        msg = (
            f"{path} was written by a newer itemtrace (schema {version}; this one knows "
            f"{VERSION}); upgrade itemtrace, the store was not touched"
        )
        raise StoreVersionError(msg, source=str(path))
    tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if program != APPLICATION and tables:
        msg = f"{path} is a SQLite database of another program; expected an itemtrace store"
        raise NotATrace(msg, source=str(path))


def prepare(connection: sqlite3.Connection) -> None:
    """Sets a connection up for writing and makes the tables if there are none."""
    connection.execute("PRAGMA page_size = 16384")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    switch_to_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute("PRAGMA user_version").fetchone()[0]:
        for statement in SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def switch_to_wal(connection: sqlite3.Connection) -> None:
    """Switches to write-ahead logging; SQLite does not wait for others by itself here."""
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
