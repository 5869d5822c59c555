"""Parquet: our own columns, files that others made, and files that are damaged."""

import builtins
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import itemtrace
from itemtrace.errors import MissingExtra, NotATrace, SourceError
from itemtrace.rebuild import rebuild
from itemtrace.stores import Query, open_store
from itemtrace.stores.parquet import ParquetStore, files
from itemtrace.stores.parquet.columns import rows_of, schema, table_of
from itemtrace.testing.store_contract import by_span, row, run_rows, run_summary
from itemtrace.testing.synthetic import TRACE_ID, RunWriter
from itemtrace.testing.synthetic import rows_of as rows_of_records


def fill(path, rows):
    """Writes rows to a new store."""
    with open_store(path, write=True) as store:
        return store.write(rows)


def spans(path):
    """Returns the rows in a store by trace."""
    with open_store(path) as store:
        return {trace_id: by_span(rows) for trace_id, rows in store.traces()}


def recorded():
    """Returns the rows of a small sealed run."""
    run = RunWriter("00000000000000a1")
    run.add("begin", started=1, agent="Desk", input="Hello", capture="full")
    run.add("end", status="completed", items=[])
    run.seal()
    return rows_of_records(run.records)


def test_a_ledger_comes_back(tmp_path):
    """What was rebuilt from the rows themselves is rebuilt from the file."""
    rows = recorded()
    fill(tmp_path / "one.parquet", rows)
    found = itemtrace.load(tmp_path / "one.parquet", trace_id=TRACE_ID)
    assert found == rebuild(rows)
    assert found.exact


def test_records_have_a_column_of_their_own(tmp_path):
    """Ledger chunks stand in `records`, the run in `run_id`, the rest by type in `attributes`."""
    chunk = recorded()[0].attributes["itemtrace.r.0"]
    path = tmp_path / "one.parquet"
    values = {"it": chunk, "agent": "Desk", "turn": 2, "share": 0.5, "last": True}
    fill(path, [row(1, 1, attributes={**values, "itemtrace.r.0": chunk})])
    (found,) = pq.read_table(path).to_pylist()
    empty = dict.fromkeys(("string", "int", "double", "bool", "json"))
    assert found["attributes"] == [
        ("it", {**empty, "string": chunk}),
        ("agent", {**empty, "string": "Desk"}),
        ("turn", {**empty, "int": 2}),
        ("share", {**empty, "double": 0.5}),
        ("last", {**empty, "bool": True}),
    ]
    assert found["records"] == [("itemtrace.r.0", chunk)]
    assert found["run_id"] == "00000000000000a1"
    assert list(spans(path).values()) == [
        [row(1, 1, attributes={**values, "itemtrace.r.0": chunk})]
    ]


def test_what_parquet_cannot_hold():
    """Numbers beyond 64 bits and broken text become what the columns can hold."""
    odd = row(
        1,
        1,
        "torn \ud800",
        start_ns=1 << 70,
        attributes={"huge": 1 << 70, "torn": "\ud800", "r": "it1;\ud800"},
    )
    assert rows_of(table_of([odd])) == [
        replace(odd, name="torn \\ud800", start_ns=0),
    ]


def test_nulls_are_empty():
    """A file that another tool rewrote may have null where we write nothing."""
    table = pa.Table.from_pylist([{"trace_id": "a"}], schema=schema())
    assert rows_of(table) == [
        replace(
            row(1, 1), trace_id="a", span_id="", name="", kind="", start_ns=0, end_ns=0
        )
    ]


def test_partitions_of_another_tool(tmp_path):
    """Files under `date=…/` directories are one store, and so is a pattern of them."""
    for number in (1, 2):
        fill(
            tmp_path / f"lake.parquet/date=2026-09-2{number}/x.parquet",
            run_rows(number),
        )
    (tmp_path / "lake.parquet/date=2026-09-21/_SUCCESS").touch()
    (tmp_path / "lake.parquet/date=2026-09-21/.x.parquet").write_bytes(b"PAR1")
    both = [f"{2:032x}", f"{1:032x}"]
    assert list(spans(tmp_path / "lake.parquet")) == both
    assert list(spans(f"parquet:{tmp_path}/lake.parquet")) == both
    assert list(spans(f"{tmp_path}/lake.parquet/*/*.parquet")) == both
    assert list(spans(f"parquet:{tmp_path}/*/date=2026-09-22")) == both[:1]


def test_a_directory_is_named_by_its_slash(tmp_path):
    """A new place is a directory with a slash or without the suffix, and a file with it."""
    for name in ("a.parquet/", "b"):
        fill(f"parquet:{tmp_path}/{name}", run_rows(1))
        assert len(list((tmp_path / name).glob("spans-*.parquet"))) == 1
    fill(f"parquet:{tmp_path}/c.parquet", run_rows(1))
    assert (tmp_path / "c.parquet").is_file()
    assert [path.name for path in tmp_path.rglob("*.new")] == []


def test_an_empty_directory_holds_nothing(tmp_path):
    """A directory without files is an empty store; nothing written leaves no file."""
    path = tmp_path / "lake.parquet"
    path.mkdir()
    assert fill(path, []) == 0
    assert spans(path) == {}
    assert list(path.iterdir()) == []
    assert fill(tmp_path / "one.parquet", []) == 0
    assert list(tmp_path.iterdir()) == [path]


def test_many_row_groups(tmp_path, monkeypatch):
    """A trace in several row groups is read whole, also where not all of them fit in memory."""
    monkeypatch.setattr(files, "ROWS", 3)
    monkeypatch.setattr("itemtrace.stores.parquet.KEPT_BYTES", 1)
    rows = [row(trace, span) for span in range(1, 6) for trace in (1, 2)]
    path = tmp_path / "one.parquet"
    fill(path, [*rows, row(1, 9, start_ns=0)])
    assert pq.ParquetFile(path).num_row_groups == 4
    assert spans(path) == {
        f"{trace:032x}": by_span(
            [row(trace, span) for span in range(1, 6)]
            + ([row(1, 9, start_ns=0)] if trace == 1 else [])
        )
        for trace in (2, 1)
    }


def test_listing_reads_no_records(tmp_path):
    """Runs are listed from the columns about them alone."""
    path = tmp_path / "one.parquet"
    fill(path, run_rows(1))
    with open_store(path) as store:
        assert isinstance(store, ParquetStore)
        assert list(store.runs(Query(agent="Agent 1"))) == [run_summary(1)]
        assert not store.kept
        assert list(store.runs()) == [run_summary(1)]


def test_a_store_that_was_opened_to_read(tmp_path):
    """Writing to it is refused."""
    path = tmp_path / "one.parquet"
    fill(path, run_rows(1))
    with ParquetStore(path) as store, pytest.raises(SourceError, match="write=True"):
        store.write(run_rows(2))


def test_a_write_that_fails_changes_nothing(tmp_path):
    """What was there before is whole, and nothing is left behind."""

    def failing():
        yield from run_rows(2)
        raise ZeroDivisionError

    path = tmp_path / "one.parquet"
    fill(path, run_rows(1))
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        fill(path, failing())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written(tmp_path):
    """A directory that cannot be made is named."""
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match="file/x cannot be written"):
        fill(f"parquet:{tmp_path}/file/x", run_rows(1))


def test_no_file(tmp_path):
    """A pattern without files and a file that is not there are refused."""
    with pytest.raises(SourceError, match="matches no file"):
        ParquetStore(tmp_path / "*.parquet")
    with pytest.raises(SourceError, match="cannot be read"):
        next(files.index_of(tmp_path / "gone.parquet"))


def test_damaged_and_foreign_files(tmp_path):
    """A damaged file and one with other columns are refused alone, and named among others."""
    lake = tmp_path / "lake.parquet"
    fill(lake / "a.parquet", run_rows(1))
    whole = (lake / "a.parquet").read_bytes()
    (lake / "b.parquet").write_bytes(whole[: len(whole) // 2])
    pq.write_table(pa.table({"trace_id": ["x"]}), lake / "c.parquet")
    with pytest.raises(NotATrace, match=r"b\.parquet is no Parquet file or is damaged"):
        spans(lake / "b.parquet")
    with pytest.raises(
        NotATrace,
        match=r"c\.parquet has no column span_id, .*expected the columns that itemtrace writes",
    ):
        spans(lake / "c.parquet")
    with open_store(lake) as store:
        assert [trace_id for trace_id, _ in store.traces()] == [f"{1:032x}"]
        assert [problem.partition(" ")[0] for problem in store.problems] == [
            str(lake / "b.parquet"),
            str(lake / "c.parquet"),
        ]


def test_sorted_for_pruning(tmp_path):
    """Rows of a write stand trace by trace, so a query by trace id skips most row groups."""
    path = tmp_path / "one.parquet"
    fill(path, [row(trace, span) for span in (1, 2) for trace in (2, 1)])
    ids = pq.read_table(path)["trace_id"].to_pylist()
    assert ids == [f"{trace:032x}" for trace in (1, 1, 2, 2)]


def test_without_pyarrow(tmp_path, monkeypatch):
    """The error names the extra to install."""
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"itemtrace\[parquet\]"):
        ParquetStore(tmp_path / "x.parquet", write=True)
