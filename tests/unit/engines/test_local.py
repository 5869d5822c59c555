"""Loading from a source: one ledger of all, or one for each trace."""

import pytest

from itemtrace.codec.spans import SpanRow
from itemtrace.engines.local import iter_ledgers, load, plain_id
from itemtrace.errors import TraceNotFound
from itemtrace.ledger import GapCause
from itemtrace.stores.base import Query, open_store
from itemtrace.testing.synthetic import RunWriter, rows_of


def written(run_id, trace_id, *, seal=True):
    """The rows of a small run, named as capture names them."""
    run = RunWriter(run_id)
    run.add("begin", started=int(run_id, 16), agent="Desk", input="Hello")
    run.add("end", status="completed", items=[])
    if seal:
        run.seal()
    return [
        SpanRow(
            trace_id, row.span_id, name="run_end", start_ns=int(run_id, 16) * 10**9,
            attributes={"itemtrace.run.id": run_id, **row.attributes},
        )
        for row in rows_of(run.records, trace_id=trace_id)
    ]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    """A local store with two recorded traces and one of somebody else."""
    path = tmp_path / "traces.db"
    with open_store(path, write=True) as store:
        store.write(written("00000000000000a1", "a" * 32))
        store.write(written("00000000000000b2", "b" * 32, seal=False))
        store.write([SpanRow("c" * 32, "d" * 16, name="GET /")])
    return path


def test_everything_in_one_ledger(path):
    """Without a choice the ledger has all runs, by their start."""
    ledger = load(path)
    assert [run.run_id for run in ledger.runs] == [
        "00000000000000a1",
        "00000000000000b2",
    ]
    assert ledger.trace_ids == ("a" * 32, "b" * 32)


def test_one_trace_or_one_run(path):
    """A trace is asked by its id, the SDK's form too, or by a run in it; an open store stays open."""
    assert load(path, trace_id="trace_" + "a" * 32).exact
    with open_store(path) as store:
        found = [load(store, run_id="00000000000000b2"), load(store, trace_id="b" * 32)]
    assert [[run.run_id for run in ledger.runs] for ledger in found] == [
        ["00000000000000b2"]
    ] * 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"trace_id": "f" * 32}, "no trace ffff"),
        ({"trace_id": "f" * 32, "run_id": "1"}, "no trace f+ with run 1"),
        ({"query": Query(agent="Nobody")}, "nothing that was asked for"),
    ],
)
def test_what_is_not_there(path, asked, message):
    """An unknown id is an error that names it and the source."""
    with pytest.raises(TraceNotFound, match=message):
        load(path, **asked)


def test_one_ledger_for_each_trace(path):
    """Newest first, foreign traces left out, progress counted."""
    seen = []
    ledgers = list(iter_ledgers(path, progress=seen.append))
    assert sorted(ledger.trace_ids for ledger in ledgers) == [("a" * 32,), ("b" * 32,)]
    assert sorted(ledger.exact for ledger in ledgers) == [False, True]
    assert seen == [1, 2, 3]


def test_empty_source(tmp_path):
    """An empty store gives an empty ledger, and none at all one by one."""
    with open_store(tmp_path / "new.db", write=True):
        pass
    assert load(tmp_path / "new.db").runs == ()
    assert list(iter_ledgers(tmp_path / "new.db")) == []


def test_problems_of_the_source_are_gaps(path):
    """What could not be read comes last, as a ledger without runs; an exact trace stays exact."""
    with open_store(path) as store:
        store.problems.append("line 7 is half written")
        *rest, last = iter_ledgers(store)
        whole, broken = load(store, trace_id="a" * 32), load(store)
    assert (len(rest), last.runs) == (2, ())
    assert [(gap.cause, gap.message) for gap in last.gaps] == [
        (GapCause.CUT, "the source could not be read whole: line 7 is half written")
    ]
    assert whole.exact
    assert [gap.cause for gap in broken.gaps] == [GapCause.CUT, GapCause.UNSEALED]


def test_ids():
    """OpenTelemetry's form of a trace id."""
    assert [plain_id("trace_" + "A" * 32), plain_id("b")] == ["a" * 32, "b"]
