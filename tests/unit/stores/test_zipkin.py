"""Zipkin: its JSON as the Collector and others write it, in files and over its API."""

import json
from dataclasses import replace

import pytest

import itemtrace
from itemtrace.codec.spans import SpanRow
from itemtrace.errors import ConfigError, NotATrace, SourceError
from itemtrace.rebuild import rebuild
from itemtrace.stores import Query, open_store
from itemtrace.stores.otlp import decode, is_zipkin, read_zipkin, skim
from itemtrace.stores.zipkin import ZipkinStore
from itemtrace.testing.store_contract import START, run_rows
from itemtrace.testing.synthetic import TRACE_ID, RunWriter, rows_of


JSON = {"Content-Type": "application/json"}
AT = START // 1000
NOW = START + 10**15


def clock():
    """A time after all spans."""
    return NOW


def zipkin(row: SpanRow):
    """Returns the span as an exporter writes it: texts and microseconds."""
    span = {
        "traceId": row.trace_id,
        "id": row.span_id,
        "name": row.name,
        "timestamp": row.start_ns // 1000,
        "duration": (row.end_ns - row.start_ns) // 1000,
        "localEndpoint": {"serviceName": "desk"},
        "tags": {key: str(value) for key, value in row.attributes.items()},
    }
    if row.kind != "INTERNAL":
        span["kind"] = row.kind
    return span


def recorded():
    """Returns the rows of a small sealed run."""
    run = RunWriter("00000000000000a1")
    run.add("begin", started=START, agent="Desk", input="Grüße", capture="full")
    run.add("end", status="completed", items=[])
    run.seal()
    return [replace(one, start_ns=START, end_ns=START) for one in rows_of(run.records)]


EVERYTHING = {
    "traceId": "00000000000000010000000000000002",
    "parentId": "0000000000000003",
    "id": "0000000000000004",
    "kind": "CLIENT",
    "name": "chat",
    "timestamp": AT,
    "duration": 1500,
    "localEndpoint": {"serviceName": "desk", "ipv4": "127.0.0.1"},
    "annotations": [
        {"timestamp": AT + 1, "value": "plain"},
        {"timestamp": AT + 2, "value": 'full|{"a":"x|y","n":1}|0'},
        {"timestamp": AT + 3, "value": "odd|{no json}|0"},
    ],
    "tags": {
        "otel.status_code": "Error",
        "otel.status_description": "it broke",
        "error": "true",
        "otel.scope.name": "itemtrace",
        "otel.library.name": "itemtrace",
        "otel.library.version": "1.2",
        "otlp.link.0": f'{"a" * 32}|{"b" * 16}|state|{{"k":"v|w"}}|0',
        "otlp.link.1": "something else",
        "number": "7",
        "itemtrace.r": '["it1;item;...","it1;item;..."]',
        "other": '["it1;half',
    },
}


def test_a_span_with_everything():
    """What OTLP has and Zipkin has not comes out of tags and annotations."""
    assert list(read_zipkin([EVERYTHING])) == [
        SpanRow(
            trace_id="00000000000000010000000000000002",
            span_id="0000000000000004",
            parent_id="0000000000000003",
            name="chat",
            kind="CLIENT",
            start_ns=START,
            end_ns=START + 1_500_000,
            attributes={
                "number": "7",
                "itemtrace.r": ["it1;item;...", "it1;item;..."],
                "other": '["it1;half',
            },
            status="ERROR",
            status_message="it broke",
            events=(
                {"name": "plain", "time_ns": START + 1000, "attributes": {}},
                {
                    "name": "full",
                    "time_ns": START + 2000,
                    "attributes": {"a": "x|y", "n": 1},
                },
                {"name": "odd|{no json}|0", "time_ns": START + 3000, "attributes": {}},
            ),
            links=(
                {"trace_id": "a" * 32, "span_id": "b" * 16, "attributes": {"k": "v|w"}},
                {
                    "trace_id": "",
                    "span_id": "",
                    "attributes": {"otlp.link": "something else"},
                },
            ),
            resource={"service.name": "desk"},
            scope="itemtrace",
            scope_version="1.2",
        )
    ]


def test_the_fewest_fields():
    """Short trace ids are filled up; what is not there has its default."""
    spans = [
        {"traceId": "1f", "id": "0000000000000002"},
        {"traceId": "", "id": "", "timestamp": "soon", "duration": None},
        {
            "traceId": "f" * 16,
            "id": "3" * 16,
            "tags": {"error": "", "span.kind": "internal"},
        },
    ]
    found = [
        (one.trace_id, one.kind, one.status, one.start_ns) for one in read_zipkin(spans)
    ]
    assert found == [
        ("1f".zfill(32), "", "UNSET", 0),
        ("", "", "UNSET", 0),
        (("f" * 16).zfill(32), "INTERNAL", "ERROR", 0),
    ]


@pytest.mark.parametrize("payload", [[], [[]], {}, [{"id": "1"}], ["x"], None])
def test_what_is_no_zipkin(payload):
    """Lists of other things are not taken for spans."""
    assert not is_zipkin(payload)


def test_payloads():
    """A payload of Zipkin is known among the others, in queues and files."""
    payload = json.dumps([EVERYTHING]).encode()
    assert list(skim(payload) or ()) == [("00000000000000010000000000000002", START)]
    assert list(decode(payload)) == list(read_zipkin([EVERYTHING]))


@pytest.mark.parametrize("indent", [None, 1])
def test_a_file(tmp_path, indent):
    """A trace saved from Zipkin's page is a source, and its ledger exact."""
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([zipkin(one) for one in recorded()], indent=indent))
    found = itemtrace.load(path)
    assert found == rebuild(recorded())
    assert found.exact


def test_a_trace_by_its_id(serving):
    """A trace is asked for by its id."""
    body = json.dumps([zipkin(one) for one in recorded()]).encode()
    with serving(paths={f"/api/v2/trace/{TRACE_ID}": (200, JSON, body)}) as server:
        found = itemtrace.load(f"zipkin://{server.where}", trace_id=TRACE_ID)
        assert found.exact
        assert [path for path, _ in server.asked] == [f"/api/v2/trace/{TRACE_ID}"]


def test_an_unknown_trace(serving):
    """404 is a trace that is not there."""
    with serving((404, JSON, b"[]")) as server:
        store = ZipkinStore(f"zipkin://{server.where}", clock=clock)
        assert list(store.traces(Query(trace_ids=("a" * 32,)))) == []


@pytest.fixture
def two_runs(serving):
    """Gives a server with two runs, whose search finds both whatever it is asked."""
    first, second = ([zipkin(one) for one in run_rows(n)] for n in (1, 2))
    paths = {
        "/api/v2/traces": (200, JSON, json.dumps([first, second, []]).encode()),
        f"/api/v2/trace/{1:032x}": (200, JSON, json.dumps(first).encode()),
        f"/api/v2/trace/{2:032x}": (200, JSON, json.dumps(second).encode()),
    }
    with serving(paths=paths) as server:
        yield server


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ({}, [""]),
        ({"group": "group-1"}, ["gen_ai.conversation.id%3Dgroup-1"]),
        ({"run_id": f"{1:016x}"}, [f"itemtrace.run.id%3D{1:016x}"]),
        (
            {"model": "model-1"},
            ["gen_ai.request.model%3Dmodel-1", "gen_ai.response.model%3Dmodel-1"],
        ),
        ({"agent": "this and that"}, [""]),
        ({"agent": "a=b"}, [""]),
    ],
)
def test_searches(two_runs, query, asked):
    """A criterion is a search for a tag where Zipkin's words allow it; what is found is checked."""
    with ZipkinStore(f"zipkin://{two_runs.where}?service=desk", clock=clock) as store:
        runs = [run.trace_id for run in store.runs(Query(**query))]
        expected = [f"{2:032x}", f"{1:032x}"] if not query else []
        if query.get("group") or query.get("run_id") or query.get("model"):
            expected = [f"{1:032x}"]
        assert runs == expected
        assert [trace for trace, _ in store.traces(Query(**query))] == expected
    searches = [
        path for path, _ in two_runs.asked if path.startswith("/api/v2/traces?")
    ]
    said = [
        path.partition("annotationQuery=")[2].partition("&")[0] for path in searches
    ]
    assert said == asked * 2
    assert all("serviceName=desk" in path for path in searches)


def test_times(two_runs):
    """The times of a query and `lookback` bound the search."""
    url = f"zipkin://{two_runs.where}"
    with ZipkinStore(f"{url}?lookback=1h", clock=clock) as store:
        list(store.runs())
    with ZipkinStore(url, clock=clock) as store:
        list(store.runs(Query(since_ns=START)))
    now = NOW // 10**6
    end = now + 86_400_000
    searches = [
        path for path, _ in two_runs.asked if path.startswith("/api/v2/traces?")
    ]
    assert [path.partition("?")[2] for path in searches] == [
        f"endTs={end}&lookback={end - now + 3_600_000}&limit=100",
        f"endTs={end}&lookback={end - START // 10**6}&limit=100",
    ]


@pytest.mark.parametrize("body", [b"<html>", b'{"a": 1}'])
def test_another_server(serving, body):
    """An answer that is no list names the port."""
    with serving((200, JSON, body)) as server:
        store = ZipkinStore(f"zipkin://{server.where}", clock=clock)
        with pytest.raises(
            SourceError, match=r"no list of spans .* expected Zipkin's port, 9411"
        ):
            list(store.runs())


def test_what_a_url_can_say():
    """Writing and a lookback without a unit are refused; closing does nothing."""
    with pytest.raises(SourceError, match="can only be read"):
        open_store("zipkin://host", write=True)
    with pytest.raises(ConfigError, match="lookback=2; expected a number with"):
        open_store("zipkin://host?lookback=2")
    open_store("zipkin://host").close()


def test_a_file_of_something_else(tmp_path):
    """A list of other objects is no trace."""
    path = tmp_path / "list.json"
    path.write_text('[{"id": 1}]')
    with pytest.raises(NotATrace):
        itemtrace.load(path)
