"""From what a user names to traces and runs."""

import pytest
from tests.unit.cli.conftest import START, Story, found_of, message

from itemtrace.cli import sources
from itemtrace.codec.spans import SpanRow
from itemtrace.errors import SourceError, TraceNotFound
from itemtrace.ledger import io
from itemtrace.stores import Query, open_store
from itemtrace.testing.synthetic import TRACE_ID, rows_of


OTHER = "0af7" + "1" * 28


def one(run_id="00000000000000a1", **more):
    """A small run."""
    story = Story(run_id, **more)
    story.responds(message("Hi"), types=["message_output_item"])
    return story.close()


@pytest.mark.parametrize(
    ("arguments", "split"),
    [
        ((None, None), (None, None)),
        (("a.db", None), ("a.db", None)),
        (("a.db", "0af7"), ("a.db", "0af7")),
        (("0af7", None), (None, "0af7")),
        ((f"trace_{TRACE_ID}", None), (None, f"trace_{TRACE_ID}")),
        (("0af", None), ("0af", None)),
        (("sqlite:0af7", None), ("sqlite:0af7", None)),
        (("0af7", "abcd"), ("0af7", "abcd")),
    ],
)
def test_a_single_argument_may_be_a_trace(arguments, split):
    """What looks like an id and is no file is a trace of the local store."""
    assert sources.split_arguments(*arguments) == split


def test_a_file_that_looks_like_an_id(tmp_path, monkeypatch):
    """A file is a source, even if its name could be an id."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "0af7").touch()
    assert sources.split_arguments("0af7", None) == ("0af7", None)


@pytest.fixture
def two(store):
    """A store of two traces; the second has two runs and is newer."""
    later = {"started": START + 10**9}
    store(one())
    return store(
        one("00000000000000b1", **later),
        one("00000000000000b2", **later),
        trace_id=OTHER,
    )


@pytest.fixture(params=["spans", "ledgers"])
def source(request, two, tmp_path):
    """The same traces as a store and as a file of ledgers."""
    if request.param == "spans":
        return two
    path = tmp_path / "ledgers.jsonl"
    lines = [io.dumps(ledger) + "\n" for ledger in sources.ledgers(two, Query())]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("trace", "trace_id", "runs"),
    [
        (None, OTHER, ["00000000000000b1", "00000000000000b2"]),
        (TRACE_ID, TRACE_ID, ["00000000000000a1"]),
        (TRACE_ID.upper(), TRACE_ID, ["00000000000000a1"]),
        ("0af76", TRACE_ID, ["00000000000000a1"]),
        ("00000000000000b2", OTHER, ["00000000000000b2"]),
    ],
)
def test_find(source, trace, trace_id, runs):
    """The newest trace, a trace by its id or the beginning of it, and one run."""
    found = sources.find(source, trace, Query())
    assert (found.trace_id, [run.run_id for run in found.runs]) == (trace_id, runs)


def test_the_sdks_id(two):
    """The SDK's form of the id is understood."""
    assert sources.find(two, f"trace_{OTHER}", Query()).trace_id == OTHER


def test_the_sdks_id_under_a_foreign_parent(store):
    """A trace whose OpenTelemetry id is another one is found by the SDK's id."""
    path = store(one(), trace_id=OTHER)
    with open_store(path, write=True) as opened:
        attributes = {"itemtrace.sdk.trace_id": "trace_mine"}
        opened.write([SpanRow(OTHER, "00000000000000ff", attributes=attributes)])
    assert sources.find(path, "trace_mine", Query()).trace_id == OTHER


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        ("0af7", "is the beginning of 2 ids"),
        ("00000000000000b", "is the beginning of 2 ids"),
        ("beef", "no trace or run beef in"),
        ("f" * 32, "no trace or run"),
        ("f" * 16, "no trace or run"),
    ],
)
def test_not_found(source, trace, message):
    """No such trace, or more than one, is said with what to do."""
    with pytest.raises(TraceNotFound, match=message):
        sources.find(source, trace, Query())


def test_the_sdks_id_in_ledgers(tmp_path):
    """Ledgers are found by the SDK's id of their runs where that is another one."""
    trace = {"id": "trace_mine", "name": "Shop"}
    path = tmp_path / "ledgers.jsonl"
    path.write_text(io.dumps(found_of(one(trace=trace)).ledger), encoding="utf-8")
    assert sources.find(str(path), "trace_mine", Query()).trace_id == TRACE_ID


def test_nothing_matches(source):
    """A query that selects nothing says so; a source without runs too."""
    with pytest.raises(TraceNotFound, match="no such runs in "):
        sources.find(source, None, Query(agent="nobody"))


def test_without_index(tmp_path):
    """Records whose spans have lost the indexed attributes are found nevertheless."""
    path = tmp_path / "spans.jsonl"
    with open_store(path, write=True) as opened:
        opened.write(rows_of(one().records))
    found = sources.find(str(path), None, Query())
    assert (found.trace_id, len(found.runs)) == (TRACE_ID, 1)


def test_filters_choose_the_trace(source):
    """The newest trace with such a run is taken."""
    found = sources.find(source, None, Query(until_ns=START + 1))
    assert found.trace_id == TRACE_ID


def test_summaries(source):
    """Runs are listed newest first, from spans and from ledgers."""
    found = [run.run_id for run in sources.summaries(source, Query(limit=2))]
    assert sorted(found) == ["00000000000000b1", "00000000000000b2"]


def test_summary_of_a_run():
    """A ledger's run tells what an index would, and its gaps."""
    (run,) = found_of(one()).runs
    found = sources.summary(run)
    assert (found.agents, found.models, found.tools) == (("Desk",), ("m-1",), ())
    assert (found.items, found.input_tokens, found.output_tokens) == (1, 10, 5)
    assert (found.status, found.gaps, found.trace_id) == ("completed", 0, TRACE_ID)


def test_limit_and_progress(source):
    """A limit holds for traces, and progress is told."""
    done = []
    found = list(sources.ledgers(source, Query(limit=1), done.append))
    assert (len(found), done[0]) == (1, 1)


def test_rows(two, tmp_path):
    """Spans come from stores; a file of ledgers has none."""
    assert {row.trace_id for row in sources.rows(two, OTHER)} == {OTHER}
    path = tmp_path / "ledgers.jsonl"
    path.write_text(io.dumps(found_of(one()).ledger), encoding="utf-8")
    with pytest.raises(SourceError, match="holds ledgers, which have no spans"):
        sources.rows(str(path), OTHER)


def test_names(two, tmp_path):
    """A source is named as the user knows it."""
    path = tmp_path / "ledgers.jsonl"
    path.write_text(io.dumps(found_of(one()).ledger), encoding="utf-8")
    assert [sources.name_of(two), sources.name_of(str(path))] == [two, str(path)]


def test_unreadable_file():
    """A file that cannot be read is a bad source."""
    with pytest.raises(SourceError, match="/proc/self/mem cannot be read"):
        sources.is_ledger_file("/proc/self/mem")


def test_a_store_of_nothing(tmp_path):
    """A store without runs says so."""
    path = tmp_path / "empty.db"
    open_store(path, write=True).close()
    with pytest.raises(TraceNotFound, match="no runs in"):
        sources.find(str(path), None, Query())
