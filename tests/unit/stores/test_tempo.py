"""Tempo: traces in each of its formats, parts of traces, searches in TraceQL."""

import json
from base64 import b64encode
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

import itemtrace
from itemtrace.errors import ConfigError, SourceError
from itemtrace.ledger import GapCause
from itemtrace.rebuild import rebuild
from itemtrace.stores import Query, open_store
from itemtrace.stores.otlp import write_proto
from itemtrace.stores.tempo import TempoStore, fields_of, traceql
from itemtrace.testing.store_contract import SECOND, START, run_rows, run_summary
from itemtrace.testing.synthetic import TRACE_ID, RunWriter, rows_of


JSON = {"Content-Type": "application/json"}
PROTO = {"Content-Type": "application/protobuf"}
NOW = START + 3600 * SECOND


def clock():
    """A time after all spans."""
    return NOW


def recorded():
    """Returns the rows of a small sealed run."""
    run = RunWriter("00000000000000a1")
    run.add("begin", started=START, agent="Desk", input="Grüße", capture="full")
    run.add("end", status="completed", items=[])
    run.seal()
    rows = rows_of(run.records, per_span=1)
    return [replace(one, start_ns=START, end_ns=START) for one in rows]


def field(number, content):
    """Returns a field of bytes as protobuf has it."""
    size = len(content)
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
    return bytes([number << 3 | 2]) + length + content


def answer(rows, more=b""):
    """Returns a TraceByIDResponse: trace = 1, metrics = 2, status = 3, message = 4."""
    return field(1, write_proto(rows)) + field(2, b"") + more


def by_id(server, more=""):
    """Loads the recorded trace."""
    return itemtrace.load(f"tempo://{server.where}{more}", trace_id=TRACE_ID)


def test_v2_as_protobuf(serving):
    """The second API is asked for protobuf, for one tenant."""
    with serving((200, PROTO, answer(recorded()))) as server:
        found = by_id(server, "?tenant=acme")
        ((path, headers),) = server.asked
    assert found == rebuild(recorded())
    assert found.exact
    assert path == f"/api/v2/traces/{TRACE_ID}"
    assert headers["Accept"] == "application/protobuf"
    assert headers["X-Scope-Orgid"] == "acme"


def test_v1_where_there_is_no_v2(serving):
    """An older Tempo knows only the first API, whose protobuf is the trace itself."""
    paths = {
        f"/api/v2/traces/{TRACE_ID}": (404, {}, b"404 page not found"),
        f"/api/traces/{TRACE_ID}": (200, PROTO, write_proto(recorded())),
    }
    with serving(paths=paths) as server:
        assert by_id(server) == rebuild(recorded())
        assert by_id(server, "?api=v1") == rebuild(recorded())


def by_hand(rows, outer):
    """Returns Tempo's JSON: ids in base64, enums by name, an empty status, int64 as text."""
    spans = [
        {
            "traceId": "CvdlGRbNQ92ESOshHIAxnA==",
            "spanId": b64encode(bytes.fromhex(row.span_id)).decode(),
            "name": row.name,
            "kind": "SPAN_KIND_INTERNAL",
            "startTimeUnixNano": str(row.start_ns),
            "endTimeUnixNano": str(row.end_ns),
            "attributes": [
                {"key": key, "value": {"stringValue": value}}
                for key, value in row.attributes.items()
            ],
            "status": {},
        }
        for row in rows
    ]
    group = {
        "resource": {"attributes": []},
        "scopeSpans": [{"scope": {}, "spans": spans}],
    }
    return json.dumps(outer(group)).encode()


@pytest.mark.parametrize(
    ("path", "outer"),
    [
        ("/api/traces/", lambda group: {"batches": [group]}),
        (
            "/api/v2/traces/",
            lambda group: {"trace": {"resourceSpans": [group]}, "metrics": {}},
        ),
        (
            "/api/v2/traces/",
            lambda group: {"trace": {"resourceSpans": [group]}, "status": "COMPLETE"},
        ),
    ],
)
def test_json(serving, path, outer):
    """A proxy that gives JSON all the same is understood, of both APIs."""
    body = by_hand(recorded(), outer)
    with serving(
        (404, {}, b""), paths={f"{path}{TRACE_ID}": (200, JSON, body)}
    ) as server:
        found = by_id(server)
    assert found == rebuild(recorded())
    assert found.exact


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (
            PROTO,
            answer(recorded()[:1], b"\x18\x01" + field(4, b"trace exceeds max size")),
        ),
        (
            JSON,
            by_hand(
                recorded()[:1],
                lambda group: {
                    "trace": {"resourceSpans": [group]},
                    "status": "PARTIAL",
                    "message": "trace exceeds max size",
                },
            ),
        ),
    ],
)
def test_a_part_of_a_trace(serving, headers, body):
    """What Tempo calls partial is a problem of the source and a gap of the ledger."""
    with serving((200, headers, body)) as server:
        url = f"tempo://{server.where}"
        store = TempoStore(url, clock=clock)
        list(store.traces(Query(trace_ids=(TRACE_ID,))))
        list(store.traces(Query(trace_ids=(TRACE_ID,))))
        assert store.problems == [
            f"{url}: Tempo gave only a part of trace {TRACE_ID}: trace exceeds max size"
        ]
        cut = [gap for gap in by_id(server).gaps if gap.cause is GapCause.CUT]
        assert any("only a part" in gap.message for gap in cut)


def test_text_cut_through_a_character(serving):
    """A value cut at 2,048 bytes costs its record, not the answer."""
    rows = recorded()
    body = answer(rows).replace("Grüße".encode(), "Grüße".encode()[:-2] + b"\xc3e")
    with serving((200, PROTO, body)) as server:
        found = by_id(server)
    assert not found.exact
    assert [run.run_id for run in found.runs] == ["00000000000000a1"]


def test_an_unknown_trace(serving):
    """404 of both APIs is a trace that is not there."""
    with serving((404, {}, b"trace not found")) as server:
        store = TempoStore(f"tempo://{server.where}", clock=clock)
        assert list(store.traces(Query(trace_ids=("a" * 32,)))) == []


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (JSON, b"<html>"),
        (JSON, b"[]"),
        (PROTO, b"<html>"),
        (PROTO, b"\x0a\x7f"),
        (PROTO, b"\x0a\x03abc"),
    ],
)
def test_another_server(serving, headers, body):
    """An answer that is no trace names the port."""
    with (
        serving((200, headers, body)) as server,
        pytest.raises(SourceError, match=r"answered no trace .* port, 3200"),
    ):
        by_id(server)


@pytest.fixture
def two_runs(serving):
    """Gives a server with two runs, whose search finds both whatever it is asked."""
    found = [
        {"traceID": f"{n:x}", "startTimeUnixNano": str(run_rows(n)[0].start_ns)}
        for n in (1, 2)
    ]
    paths = {
        "/api/search": (
            200,
            JSON,
            json.dumps({"traces": found, "metrics": {}}).encode(),
        ),
        **{
            f"/api/v2/traces/{n:032x}": (200, PROTO, answer(run_rows(n)))
            for n in (1, 2)
        },
    }
    with serving(paths=paths) as server:
        yield server


def test_runs_are_searched(two_runs):
    """Runs are found by TraceQL within the last week, and checked."""
    with TempoStore(f"tempo://{two_runs.where}", clock=clock) as store:
        assert list(store.runs()) == [run_summary(2), run_summary(1)]
        assert list(store.runs(Query(tool="tool_1"))) == [run_summary(1)]
        assert [t for t, _ in store.traces(Query(agent="Agent 2"))] == [f"{2:032x}"]
    asked = [
        parse_qs(urlsplit(path).query) for path, _ in two_runs.asked if "search" in path
    ]
    now = NOW // SECOND
    assert {one["q"][0] for one in asked} == {
        "{}",
        '{ span.gen_ai.tool.name = "tool_1" }',
        '{ span.gen_ai.agent.name = "Agent 2" }',
    }
    assert min(int(one["start"][0]) for one in asked) == now - 7 * 86_400
    assert max(int(one["end"][0]) for one in asked) == now + 86_401
    assert all(int(one["end"][0]) - int(one["start"][0]) <= 604_800 for one in asked)


def test_since(two_runs):
    """A query's own time replaces the lookback, in searches of a week each."""
    with TempoStore(f"tempo://{two_runs.where}?lookback=1h", clock=clock) as store:
        list(store.runs(Query(since_ns=START - 20 * 86_400 * SECOND)))
    asked = [
        parse_qs(urlsplit(path).query) for path, _ in two_runs.asked if "search" in path
    ]
    assert len(asked) == 4
    assert int(asked[-1]["start"][0]) == START // SECOND - 20 * 86_400


def test_traceql():
    """The narrowest criterion is asked for; quotes in it end no string."""
    assert traceql(Query()) == "{}"
    assert traceql(Query(group='a"b\\c\nd')) == (
        '{ span.gen_ai.conversation.id = "a\\"b\\\\c\\nd" }'
    )
    assert traceql(Query(model="m")) == (
        '{ span.gen_ai.request.model = "m" || span.gen_ai.response.model = "m" }'
    )
    assert (
        traceql(Query(status="failed")) == '{ name = "run_start" || name = "run_end" }'
    )


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b'{"traces": [{}]}', b'{"traces": [1]}']
)
def test_a_search_that_answers_something_else(serving, body):
    """An answer that is no search result is refused."""
    with serving((200, JSON, body)) as server:
        store = TempoStore(f"tempo://{server.where}", clock=clock)
        with pytest.raises(SourceError, match="no search result"):
            list(store.runs())


def test_an_empty_search(serving):
    """No traces at all is null in Go's JSON."""
    with serving((200, JSON, b'{"traces": null}')) as server:
        assert list(TempoStore(f"tempo://{server.where}", clock=clock).runs()) == []


def test_fields_of_a_message():
    """Numbers and bytes by their field; other wire types and cuts are refused."""
    assert fields_of(b"\x18\x01" + field(4, b"x")) == {3: 1, 4: b"x"}
    with pytest.raises(ValueError, match="wire type 1"):
        fields_of(b"\x09")
    with pytest.raises(ValueError, match="cut"):
        fields_of(b"\x0a\x05abc")


def test_what_a_url_can_say():
    """Writing, an unknown API and a lookback without a unit are refused."""
    with pytest.raises(SourceError, match="can only be read"):
        open_store("tempo://host", write=True)
    with pytest.raises(ConfigError, match="api=v3; expected one of auto, v2, v1"):
        open_store("tempo://host?api=v3")
    with pytest.raises(ConfigError, match="lookback=2; expected"):
        open_store("tempo://host?lookback=2")
