"""The local store under damage, load, age and other processes."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from itemtrace.errors import NotATrace, SourceError, StoreLocked, StoreVersionError
from itemtrace.stores import Query
from itemtrace.stores.sqlite import Pruned, SqliteStore, database
from itemtrace.testing.store_contract import SECOND, START, row, run_rows, run_summary


NOBODY = 65534


@pytest.fixture
def path(tmp_path):
    """Gives the path of a store that holds one run."""
    path = tmp_path / "traces.db"
    with SqliteStore(path, write=True) as store:
        store.write(run_rows(1))
    return path


@pytest.fixture
def open_directory():
    """Gives a directory that every user may enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextmanager
def as_nobody():
    """Takes the rights of root away, for which no file is read-only."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def ids(store, query=Query()):  # noqa: B008
    """The numbers of the traces of a store."""
    return [int(trace, 16) for trace, _ in store.traces(query)]


def test_only_the_owner_may_read(tmp_path):
    """The file and the directories made for it are the owner's alone."""
    path = tmp_path / "a" / "b" / "traces.db"
    with SqliteStore(path, write=True) as store:
        store.write([row(1, 1)])
        modes = {
            file.name: stat.S_IMODE(file.stat().st_mode)
            for file in (path.parent.parent, path.parent, *path.parent.iterdir())
        }
    assert modes == {
        "a": 0o700,
        "b": 0o700,
        "traces.db": 0o600,
        "traces.db-wal": 0o600,
        "traces.db-shm": 0o600,
    }


def test_settings(path):
    """Write-ahead log, pages of 16 kB, room given back, a version and a name."""
    with SqliteStore(path, write=True) as store:
        found = {
            name: store.fetch(f"PRAGMA {name}")[0][0]
            for name in (
                "journal_mode",
                "page_size",
                "synchronous",
                "auto_vacuum",
                "user_version",
                "application_id",
            )
        }
    assert found == {
        "journal_mode": "wal",
        "page_size": 16384,
        "synchronous": 1,
        "auto_vacuum": 2,
        "user_version": 1,
        "application_id": 0x69746D74,
    }


def test_a_newer_store_is_left_alone(path):
    """A store of a newer itemtrace is refused, to read and to write, and not touched."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = path.read_bytes()
    for write in (False, True):
        with pytest.raises(StoreVersionError, match=r"newer itemtrace.*upgrade"):
            SqliteStore(path, write=write)
    assert path.read_bytes() == before


def test_another_programs_database(tmp_path):
    """A database of another program is no trace, and not touched."""
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    before = path.read_bytes()
    for write in (False, True):
        with pytest.raises(NotATrace, match="another program; expected"):
            SqliteStore(path, write=write)
    assert path.read_bytes() == before


def test_no_database(tmp_path):
    """A file that is no database is refused."""
    path = tmp_path / "text.db"
    path.write_text("hello " * 1000)
    for write in (False, True):
        with pytest.raises(NotATrace, match="no SQLite database"):
            SqliteStore(path, write=write)


def test_a_damaged_store(path):
    """Damage inside is one clear line, not a crash or an empty answer."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(path.read_bytes())
    content[16384:] = b"\xaa" * (len(content) - 16384)
    path.write_bytes(content)
    with SqliteStore(path) as store, pytest.raises(SourceError, match="is damaged"):
        list(store.traces())


def test_a_directory_that_cannot_be_made(tmp_path):
    """A path through a file is refused."""
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match="cannot be written"):
        SqliteStore(tmp_path / "file" / "traces.db", write=True)


def test_no_file_to_read(tmp_path):
    """A file that vanished is one clear line."""
    with pytest.raises(SourceError, match="cannot be opened"):
        SqliteStore(tmp_path / "gone.db")


def test_other_errors_of_sqlite(path):
    """An error without a line of its own is named."""
    with (
        SqliteStore(path) as store,
        pytest.raises(SourceError, match=r"cannot be used: no such table: absent"),
    ):
        store.fetch("SELECT * FROM absent")


def test_locked(path, monkeypatch):
    """A store that another connection holds is refused after a while, in one line."""
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with SqliteStore(path) as reader:
        assert list(reader.runs()) == [run_summary(1)]
    with pytest.raises(StoreLocked, match="locked by another process"):
        SqliteStore(path, write=True)
    holder.execute("ROLLBACK")
    with SqliteStore(path, write=True) as store:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked, match="locked by another process"):
            store.write([row(2, 1)])
        holder.execute("ROLLBACK")
        holder.close()
        assert store.write([row(2, 1)]) == 1


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_held_while_it_is_made(tmp_path, monkeypatch, lock):
    """A new store that another process holds is waited for, then refused."""
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    path = tmp_path / "traces.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute(f"BEGIN {lock}")
    with pytest.raises(StoreLocked, match="locked by another process"):
        SqliteStore(path, write=True)
    if lock == "EXCLUSIVE":
        with pytest.raises(StoreLocked, match="locked by another process"):
            SqliteStore(path)
    holder.close()


def test_switching_to_the_log_waits(tmp_path, monkeypatch):
    """SQLite does not wait for others when it switches to its log; we do, and then refuse."""
    path = tmp_path / "traces.db"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    connection = sqlite3.connect(path, isolation_level=None)
    release = threading.Timer(0.1, holder.close)
    release.start()
    database.switch_to_wal(connection)
    release.join()
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    monkeypatch.setattr(database, "BUSY_S", 0.02)
    other = tmp_path / "other.db"
    holder = sqlite3.connect(other, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    connection = sqlite3.connect(other, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        database.switch_to_wal(connection)
    connection.close()
    holder.close()


def test_made_once_it_is_free(tmp_path):
    """A new store that another process holds for a moment is made after it."""
    path = tmp_path / "traces.db"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.1, holder.close)
    release.start()
    with SqliteStore(path, write=True) as store:
        assert store.write([row(1, 1)]) == 1
    release.join()


def test_reading_a_read_only_file(open_directory):
    """A file and directory that may only be read are read; writing is refused."""
    path = open_directory / "traces.db"
    with SqliteStore(path, write=True) as store:
        store.write(run_rows(1))
    path.chmod(0o444)
    open_directory.chmod(0o555)
    with as_nobody():
        with SqliteStore(path) as store:
            assert list(store.runs()) == [run_summary(1)]
            assert [len(list(rows)) for _, rows in store.traces()] == [4]
        with pytest.raises(StoreLocked, match="is read-only"):
            SqliteStore(path, write=True)
        with pytest.raises(StoreLocked, match="is read-only"):
            SqliteStore(open_directory / "new" / "traces.db", write=True)
    open_directory.chmod(0o755)


def test_a_read_only_directory_with_a_log(open_directory):
    """Changes that cannot be read from a read-only directory are never left out silently."""
    path = open_directory / "traces.db"
    with SqliteStore(path, write=True) as store:
        store.write(run_rows(1))
        copy = open_directory / "copy" / "traces.db"
        copy.parent.mkdir()
        for name in ("traces.db", "traces.db-wal"):
            copy.with_name(name).write_bytes(path.with_name(name).read_bytes())
    copy.chmod(0o444)
    copy.parent.chmod(0o555)
    with as_nobody(), pytest.raises(SourceError, match="copy both files"):
        SqliteStore(copy)
    copy.parent.chmod(0o755)


def test_a_read_only_directory_with_another_database(open_directory):
    """What is no store stays none where nothing may be written."""
    path = open_directory / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    path.chmod(0o444)
    open_directory.chmod(0o555)
    with as_nobody(), pytest.raises(NotATrace, match="another program"):
        SqliteStore(path)
    open_directory.chmod(0o755)


def test_writing_through_a_reader(path):
    """A store opened to read takes no rows."""
    with SqliteStore(path) as store, pytest.raises(StoreLocked, match="read-only"):
        store.write([row(2, 1)])


def test_a_full_disk(path):
    """A write that does not fit is refused whole; what was there, and later writes, are fine."""
    with SqliteStore(path, write=True) as store:
        pages = store.fetch("PRAGMA page_count")[0][0]
        store.fetch(f"PRAGMA max_page_count = {pages + 4}")
        big = [row(2, n, attributes={"x": "y" * 20_000}) for n in range(50)]
        with pytest.raises(SourceError, match="disk is full"):
            store.write(big)
        assert list(store.runs()) == [run_summary(1)]
        assert ids(store) == [1]
        store.fetch("PRAGMA max_page_count = 1000000")
        assert store.write(big) == 50
        assert store.fetch("PRAGMA integrity_check") == [("ok",)]
        assert ids(store) == [2, 1]


def test_a_batch_that_fails_is_not_half_there(path):
    """An error on the way takes the whole batch back."""
    with SqliteStore(path, write=True) as store:
        with pytest.raises(TypeError):
            store.write([row(2, 1), row(3, 1, start_ns="soon")])
        assert ids(store) == [1]
        assert store.write([row(2, 1)]) == 1


WRITER = """
import sys
from itemtrace.stores.sqlite import SqliteStore
from itemtrace.testing.store_contract import row
path, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with SqliteStore(path, write=True) as store:
    for number in range(first, last):
        store.write([row(number, 1, attributes={"x": "y" * 2000})])
        print(number, flush=True)
"""


def writer(path, first, last):
    """A process that writes traces and says each number once it is written."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(first), str(last)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    return process, process.stdout


def test_a_killed_writer_loses_nothing(tmp_path):
    """After kill -9 every trace that was acknowledged is there, and the store is whole."""
    path = tmp_path / "traces.db"
    process, output = writer(path, 1, 1_000_000)
    with process:
        told = [int(output.readline()) for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        told += [int(line) for line in output.read().split()]
    with SqliteStore(path) as store:
        found = set(ids(store))
    assert set(told) <= found
    with SqliteStore(path, write=True) as store:
        assert store.fetch("PRAGMA integrity_check") == [("ok",)]


def test_processes_at_once(tmp_path):
    """Several processes make one new store and write to it; all rows are there."""
    path = tmp_path / "traces.db"
    processes = [writer(path, n * 100, n * 100 + 20) for n in (1, 2, 3)]
    for process, _ in processes:
        with process:
            process.communicate(timeout=60)
        assert process.returncode == 0
    with SqliteStore(path) as store:
        expected = {n * 100 + i for n in (1, 2, 3) for i in range(20)}
        assert set(ids(store)) == expected


def test_a_forked_child_has_its_own_connection(path):
    """A child of fork writes through the parent's store object, and the parent goes on."""
    with SqliteStore(path, write=True) as store:
        child = os.fork()
        if not child:  # pragma: no cover - another process
            store.write([row(2, 1)])
            store.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        store.write([row(3, 1)])
        assert ids(store) == [3, 2, 1]
        store.owner = -1  # as in a child: the parent's connection is left alone
        store.close()
        assert ids(store) == [3, 2, 1]


def test_threads_at_once(path):
    """One store object serves many threads, reading and writing."""
    failures = []

    def work(number, store):
        try:
            store.write([row(number, 1)])
            assert number in ids(store)
        except BaseException as error:  # noqa: BLE001 - told to the test's thread
            failures.append(error)

    with SqliteStore(path, write=True) as store:
        threads = [threading.Thread(target=work, args=(n, store)) for n in range(2, 10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert ids(store) == list(range(9, 0, -1))


def test_use_after_close(path):
    """A closed store opens again when it is used."""
    store = SqliteStore(path)
    store.close()
    assert ids(store) == [1]
    store.close()


def test_more_than_a_page(tmp_path):
    """Traces, rows and runs beyond one page of the reader come all, in order, once."""
    with SqliteStore(tmp_path / "traces.db", write=True) as store:
        store.write(
            row(n, 1, "run_start", attributes={"itemtrace.run.id": f"{n:016x}"})
            for n in range(1, 601)
        )
        store.write(row(1, n) for n in range(2, 601))
        assert ids(store) == list(range(600, 0, -1))
        assert ids(store, Query(limit=300)) == list(range(600, 300, -1))
        assert [int(run.run_id, 16) for run in store.runs()] == list(range(600, 0, -1))
        assert len(list(store.runs(Query(limit=257)))) == 257
        ((_, rows),) = store.traces(Query(trace_ids=(f"{1:032x}",)))
        assert [int(found.span_id[8:], 16) for found in rows] == list(range(1, 601))


def test_odd_text_in_the_index(tmp_path):
    """Names with lone surrogates and times beyond 64 bits neither fail nor change the rows."""
    rows = run_rows(1, agent="torn \ud800", group="\udfff")
    odd = row(1, 9, start_ns=2**64 - 1, end_ns=2**70)
    with SqliteStore(tmp_path / "traces.db", write=True) as store:
        store.write([*rows, odd])
        ((_, found),) = store.traces(Query(agent="torn \ud800", group="\udfff"))
        assert list(found) == [*rows, odd]
        (run,) = store.runs()
        assert (run.agents, run.group) == (("torn \\ud800",), "\\udfff")


def test_resources_are_written_once_a_trace(path):
    """Rows of one trace share their resource in the file; values that look alike stay apart."""
    rows = [
        row(2, n, resource={"service.name": "desk", "n": value})
        for n, value in enumerate([1, 1, True, 1.0, 1])
    ]
    with SqliteStore(path, write=True) as store:
        store.write(rows)
        store.write(rows)
        ((_, found),) = store.traces(Query(trace_ids=(f"{2:032x}",)))
        assert repr(list(found)) == repr(rows * 2)
        count = store.fetch(
            "SELECT count(*) FROM origins o JOIN traces t ON t.id = o.trace WHERE t.trace_id = ?",
            f"{2:032x}",
        )
        assert count == [(3,)]


class TestRetention:
    """Whole traces are deleted, oldest first."""

    @pytest.fixture
    def store(self, tmp_path):
        """Gives a store of ten traces, one of them a run, 100 s apart and 50 kB each."""
        with SqliteStore(tmp_path / "traces.db", write=True) as store:
            for n in range(1, 11):
                store.write([*run_rows(n), row(n, 9, attributes={"x": "y" * 50_000})])
            yield store

    def test_by_age(self, store):
        """Traces that ended before the age are gone with all that belongs to them."""
        now = START + 1011 * SECOND
        pruned = store.prune(now_ns=now, max_age_s=500)
        assert ids(store) == [10, 9, 8, 7, 6]
        assert (pruned.traces, pruned.spans) == (5, 25)
        assert pruned.bytes > 200_000
        left = {
            table: store.fetch(f"SELECT count(*) FROM {table}")[0][0]  # noqa: S608
            for table in ("traces", "spans", "origins", "runs", "facets")
        }
        assert left == {
            "traces": 5,
            "spans": 25,
            "origins": 5,
            "runs": 5,
            "facets": 15,
        }

    def test_by_size(self, store):
        """The oldest go until the store fits, and the file gets smaller."""
        before = store.path.stat().st_size + store.size()
        pruned = store.prune(now_ns=0, max_bytes=600_000)
        assert store.size() <= 600_000
        assert 0 < len(ids(store)) < 10
        assert ids(store) == list(range(10, pruned.traces, -1))
        assert store.path.stat().st_size <= 600_000 + 16384 < before

    def test_nothing_to_do(self, store):
        """A store within its limits stays as it is."""
        kept = store.prune(now_ns=START, max_age_s=1, max_bytes=10**9)
        assert kept == Pruned()
        assert store.prune(now_ns=0) == Pruned()
        assert len(ids(store)) == 10

    def test_more_than_there_is(self, store):
        """A limit below an empty store deletes all and ends."""
        assert store.prune(now_ns=0, max_bytes=0).traces == 10
        assert ids(store) == []

    def test_locked(self, store, monkeypatch):
        """A store that another process writes to is not pruned, and stays whole."""
        monkeypatch.setattr(database, "BUSY_S", 0.05)
        store.close()
        holder = sqlite3.connect(store.path, isolation_level=None)
        with store.connection():
            holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked):
            store.prune(now_ns=0, max_bytes=0)
        holder.close()
        assert len(ids(store)) == 10

    def test_a_failure_takes_a_deletion_back(self, store):
        """A trace that cannot be deleted whole is kept whole."""
        store.fetch(
            "CREATE TEMP TRIGGER no BEFORE DELETE ON traces BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        with pytest.raises(SourceError, match="no"):
            store.prune(now_ns=0, max_bytes=0)
        assert len(list(store.runs())) == 10


class TestShipping:
    """A sink gets each row, and its mark outlives the process."""

    def test_pending_and_mark(self, path):
        """What was marked does not come again; another sink gets all."""
        with SqliteStore(path, write=True) as store:
            first = store.pending("a", limit=3)
            assert first.rows == run_rows(1)[:3]
            store.mark("a", first.position)
        with SqliteStore(path, write=True) as store:
            second = store.pending("a")
            assert second.rows == run_rows(1)[3:]
            store.mark("a", second.position)
            store.mark("a", first.position)  # an older mark does not take it back
            assert store.pending("a").rows == []
            assert store.pending("a").position == second.position
            assert len(store.pending("b").rows) == 4

    def test_pruned_rows_are_not_numbered_again(self, path):
        """Rows written after a deletion come after the mark."""
        with SqliteStore(path, write=True) as store:
            store.mark("a", store.pending("a").position)
            store.prune(now_ns=0, max_bytes=0)
            store.write([row(2, 1)])
            assert store.pending("a").rows == [row(2, 1)]


def test_listing_is_fast_with_many_runs(tmp_path):
    """The newest of 20,000 runs are listed without reading the spans."""
    with SqliteStore(tmp_path / "traces.db", write=True) as store:
        store.write(
            row(
                n,
                1,
                "run_start",
                attributes={
                    "itemtrace.run.id": f"{n:016x}",
                    "gen_ai.tool.name": f"tool{n % 10}",
                },
            )
            for n in range(20_000)
        )
        plan = " ".join(
            line[3]
            for line in store.fetch(
                "EXPLAIN QUERY PLAN SELECT r.id FROM runs r JOIN traces t ON t.id = r.trace "
                "WHERE 1 ORDER BY r.started_ns DESC, r.id DESC LIMIT 20"
            )
        )
        assert "USING COVERING INDEX runs_started" in plan or "runs_started" in plan
        assert "TEMP B-TREE" not in plan
        before = time.perf_counter()
        found = list(store.runs(Query(tool="tool7", limit=20)))
        spent = time.perf_counter() - before
    assert [int(run.run_id, 16) for run in found] == list(range(19_997, 19_797, -10))
    assert (
        spent < 5
    )  # a full read takes longer even here; the plan above is the real test
