"""Files of the SDK's own exporter: found by content, read whole, by line, and never written."""

import json
from pathlib import Path

import pytest

import itemtrace
from itemtrace.errors import NotATrace, SourceError, TraceNotFound
from itemtrace.stores import Query, agents_json, open_store
from itemtrace.stores.agents_json import AgentsJsonStore, is_export, moment


GOLDEN = Path(__file__).parents[2] / "golden" / "foreign" / "sdk.json"
FIRST, SECOND, THIRD = (f"{number:032x}" for number in (1, 0x13, 0x1B))
ALL = [(THIRD, 6), (SECOND, 8), (FIRST, 18)]


def payload():
    """The objects of the fixture."""
    return json.loads(GOLDEN.read_text())["data"]


def traces(path, **query):
    """Trace ids and numbers of rows."""
    with open_store(path) as store:
        return [
            (trace_id, len(list(rows)))
            for trace_id, rows in store.traces(Query(**query))
        ]


def test_a_payload_is_found_by_its_content():
    """A whole payload gives its traces, the newest first, each with a root."""
    assert traces(GOLDEN) == ALL


@pytest.mark.parametrize("shape", ["list", "objects", "payloads"])
def test_other_ways_to_keep_it(tmp_path, shape):
    """A list of objects, an object a line and a payload a line are read alike."""
    path = tmp_path / "export.json"
    lines = {
        "list": [payload()],
        "objects": [*payload(), {"object": "other"}, 7],
        "payloads": [{"data": payload()[:9]}, {"data": payload()[9:]}],
    }[shape]
    path.write_text("\n\n".join(json.dumps(line) for line in lines))
    assert traces(path) == ALL


def test_queries(tmp_path):
    """Traces are chosen by id, time and number; what needs a run of ours finds nothing."""
    assert traces(GOLDEN, trace_ids=(FIRST,)) == [(FIRST, 18)]
    assert traces(GOLDEN, limit=1) == ALL[:1]
    assert traces(GOLDEN, since_ns=2**62) == []
    with open_store(GOLDEN) as store:
        assert list(store.runs()) == []
    with pytest.raises(TraceNotFound):
        itemtrace.load(GOLDEN, trace_id="trace_" + "f" * 32)


def test_a_broken_line_is_a_problem(tmp_path):
    """The other lines are read, and the ledger has a gap for the line."""
    path = tmp_path / "export.jsonl"
    path.write_text(json.dumps({"data": payload()}) + '\n{"object": "trace"\n')
    with AgentsJsonStore(path) as store:
        assert len(list(store.traces())) == 3
        assert len(store.problems) == 1
    assert any(
        "line 2 cannot be read" in gap.message for gap in itemtrace.load(path).gaps
    )


def test_what_cannot_be_read(tmp_path, monkeypatch):
    """Nothing there, no text, too deep and too large are errors of the source; so is writing."""
    with pytest.raises(SourceError, match="cannot be read"):
        list(AgentsJsonStore(tmp_path / "none.json").traces())
    path = tmp_path / "export.json"
    path.write_bytes(b'{"object": "trace", "x": "\xff"}')
    with pytest.raises(SourceError, match="cannot be read"):
        list(AgentsJsonStore(path).traces())
    path.write_text("[" * 100_000)
    with pytest.raises(NotATrace, match="nested too deep"):
        list(AgentsJsonStore(path).traces())
    with pytest.raises(SourceError, match="only read"):
        AgentsJsonStore(path, write=True)
    monkeypatch.setattr(agents_json, "MOST_BYTES", 10)
    with pytest.raises(SourceError, match="more than 10 bytes"):
        list(AgentsJsonStore(path).traces())


def test_odd_objects(tmp_path):
    """Ids of another form are hashed, times that are none are 0, an error is the span's status."""
    path = tmp_path / "export.json"
    data = [
        {"object": "trace", "id": "mine"},
        {"object": "trace.span", "id": "s", "trace_id": "mine", "span_data": 7, "error": {"message": "m"}},
    ]  # fmt: skip
    path.write_text(json.dumps(data))
    [(_, rows)] = list(open_store(path).traces())
    root, span = rows
    assert span.parent_id == root.span_id
    assert (span.name, span.status, span.start_ns, root.name) == (
        "span",
        "ERROR",
        0,
        "trace",
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2023-11-14T22:13:20.000123+00:00", 1_700_000_000_000_123_000),
        ("1900-01-01T00:00:00+00:00", 0),
        ("yesterday", 0),
        (None, 0),
    ],
)
def test_moments(value, expected):
    """Times are exact to the microsecond."""
    assert moment(value) == expected


def test_only_such_files_are_taken():
    """OTLP and Jaeger files, which are JSON too, are none of these."""
    assert is_export(b'\xef\xbb\xbf {"data": [{"object": "trace"', 99)
    assert not is_export(b'{"resourceSpans": []}', 99)
    assert not is_export(b'{"data": [{"traceID": "1"', 99)
    assert not is_export(b"\n\x00", 99)


def test_an_agents_error_is_the_run_error(tmp_path):
    """The error of an agent's span ends its run."""
    data = payload()
    for item in data:
        if (item.get("span_data") or {}).get("type") == "agent":
            item["error"] = {"message": "boom"}
    path = tmp_path / "export.json"
    path.write_text(json.dumps(data))
    run = itemtrace.load(path).runs[0]
    assert (run.status, run.error.message) == ("failed", "boom")
