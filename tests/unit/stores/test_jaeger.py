"""Answers of Jaeger, as they stand in its documentation and as it gives them when something is wrong."""

import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

import itemtrace
from itemtrace.codec.spans import SpanRow
from itemtrace.errors import ConfigError, NotATrace, SourceError
from itemtrace.ledger import GapCause
from itemtrace.stores import Query, open_store
from itemtrace.stores.jaeger import JaegerStore
from itemtrace.stores.otlp import is_jaeger, losses_of, read_jaeger, write_json
from itemtrace.testing.store_contract import START, row, run_rows
from itemtrace.testing.synthetic import RunWriter, rows_of


TRACE = "0000000000000abc" * 2
SPAN = {
    "traceID": TRACE,
    "spanID": "b7ad6b7169203331",
    "operationName": "chat gpt-5",
    "references": [
        {"refType": "CHILD_OF", "traceID": TRACE, "spanID": "1"},
        {"refType": "FOLLOWS_FROM", "traceID": "f" * 32, "spanID": "2" * 16},
    ],
    "startTime": 1_790_000_000_000_001,
    "duration": 2_500,
    "tags": [
        {"key": "otel.scope.name", "type": "string", "value": "itemtrace"},
        {"key": "otel.scope.version", "type": "string", "value": "1.0"},
        {"key": "text", "type": "string", "value": "{}"},
        {"key": "large", "type": "int64", "value": "9007199254740993"},
        {"key": "small", "type": "int64", "value": 7},
        {"key": "float", "type": "float64", "value": 1},
        {"key": "yes", "type": "bool", "value": True},
        {"key": "bytes", "type": "binary", "value": "AP8="},
        {"key": "split", "type": "string", "value": '["it1;a","it1;b"]'},
        {"key": "cut", "type": "string", "value": '["it1;a","it'},
        {"key": "odd", "type": "int64", "value": "seven"},
        {"key": "span.kind", "type": "string", "value": "client"},
        {"key": "otel.status_code", "type": "string", "value": "ERROR"},
        {"key": "error", "type": "bool", "value": True},
        {"key": "otel.status_description", "type": "string", "value": "it broke"},
    ],
    "logs": [
        {
            "timestamp": 1_790_000_000_000_002,
            "fields": [
                {"key": "event", "type": "string", "value": "retry"},
                {"key": "n", "type": "int64", "value": 2},
            ],
        }
    ],
    "processID": "p1",
    "warnings": ["clock skew adjustment disabled; not applying"],
}
PROCESSES = {
    "p1": {
        "serviceName": "desk",
        "tags": [{"key": "host.name", "type": "string", "value": "h"}],
    }
}
ROW = SpanRow(
    trace_id=TRACE,
    span_id="b7ad6b7169203331",
    parent_id="0000000000000001",
    name="chat gpt-5",
    kind="CLIENT",
    start_ns=1_790_000_000_000_001_000,
    end_ns=1_790_000_000_002_501_000,
    attributes={
        "text": "{}",
        "large": 9007199254740993,
        "small": 7,
        "float": 1.0,
        "yes": True,
        "bytes": b"\x00\xff",
        "split": ["it1;a", "it1;b"],
        "cut": '["it1;a","it',
        "odd": "seven",
    },
    status="ERROR",
    status_message="it broke",
    events=(
        {"name": "retry", "time_ns": 1_790_000_000_000_002_000, "attributes": {"n": 2}},
    ),
    links=({"trace_id": "f" * 32, "span_id": "2" * 16, "attributes": {}},),
    resource={"service.name": "desk", "host.name": "h"},
    scope="itemtrace",
    scope_version="1.0",
)


def traces(*spans, **more):
    """Returns an answer of the older API with one trace."""
    trace = {"traceID": TRACE, "spans": list(spans), "processes": PROCESSES, **more}
    return {"data": [trace], "errors": None}


def reply(value, status=200):
    """Returns an answer with a JSON value, or a text."""
    text = value if isinstance(value, str) else json.dumps(value)
    return status, {"Content-Type": "application/json"}, text.encode()


class TestJson:
    """Jaeger's own JSON."""

    def test_a_span(self):
        """Everything of a span finds its field of a row."""
        (found,) = read_jaeger(traces(SPAN))
        assert repr(found) == repr(ROW)

    def test_an_embedded_process(self):
        """The process may stand in the span, and the parent may be named the older way."""
        span = {
            "spanID": "1",
            "parentSpanID": "2",
            "process": {"serviceName": "desk"},
            "tags": [{"key": "otel.library.name", "value": "lib"}],
        }
        assert list(read_jaeger({"traceID": "abc", "spans": [span]})) == [
            SpanRow(
                trace_id=f"{'abc':0>32}",
                span_id=f"{1:016x}",
                parent_id=f"{2:016x}",
                kind="",
                resource={"service.name": "desk"},
                scope="lib",
            )
        ]

    def test_times_that_are_none(self):
        """A time that is no number is unknown."""
        span = {**SPAN, "startTime": "soon", "duration": None}
        (found,) = read_jaeger(traces(span))
        assert (found.start_ns, found.end_ns) == (0, 0)

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (traces(), True),
            ([traces()["data"][0]], True),
            ({"data": None, "errors": []}, False),
            ({"data": ["service"]}, False),
            ({"resourceSpans": []}, False),
            ([], False),
            (7, False),
        ],
    )
    def test_what_it_is(self, value, expected):
        """Jaeger's format is known from OTLP and from other answers."""
        assert is_jaeger(value) is expected

    def test_losses(self):
        """What is missing is told from remarks about times."""
        span = {**SPAN, "warnings": ["3 spans dropped", *SPAN["warnings"]]}
        value = traces(span, warnings=["the trace was truncated"])
        value["errors"] = [{"code": 500, "msg": "shard 2 did not answer"}]
        assert list(losses_of(value)) == [
            "shard 2 did not answer",
            "the trace was truncated",
            "3 spans dropped",
        ]

    @pytest.mark.parametrize("suffix", [".json", ".jsonl"])
    def test_in_a_file(self, tmp_path, suffix):
        """A file that Jaeger's page saved is a source, on one line or indented."""
        path = tmp_path / f"trace{suffix}"
        path.write_text(
            json.dumps(traces(SPAN), indent=2 if suffix == ".json" else None)
        )
        with open_store(path) as store:
            ((trace_id, rows),) = store.traces()
            assert (trace_id, repr(list(rows))) == (TRACE, repr([ROW]))
            assert store.problems == []

    def test_other_answers_in_a_file(self, tmp_path):
        """A saved answer without traces is no trace."""
        path = tmp_path / "services.json"
        path.write_text('{"data": ["desk"], "total": 1}')
        with pytest.raises(NotATrace), open_store(path) as store:
            list(store.traces())


V3 = f"/api/v3/traces/{TRACE}"
LEGACY = f"/api/traces/{TRACE}"
NOT_FOUND = reply({"error": {"httpCode": 404, "message": "trace not found"}}, 404)
NO_V3 = (404, {"Content-Type": "text/plain"}, b"404 page not found\n")
PAGE = (200, {"Content-Type": "text/html"}, b"<!doctype html><html></html>")
OTLP = json.loads(write_json([row(1, 1)]))
BODY = reply({"result": OTLP})


def rows_in(server, trace_id=TRACE, **options):
    """Returns the rows that a store gives of a trace, and its problems."""
    query = "&".join(f"{name}={value}" for name, value in options.items())
    with JaegerStore(f"jaeger://{server.where}?{query}") as store:
        return store.trace(trace_id), store.problems


class TestTrace:
    """One trace, whatever is answered."""

    def test_v3(self, serving):
        """OTLP comes from v3, asked for as it was sent."""
        with serving(paths={V3: BODY}) as server:
            assert rows_in(server) == ([row(1, 1)], [])
        ((path, _),) = server.asked
        assert path == f"{V3}?raw_traces=true&rawTraces=true"

    @pytest.mark.parametrize("api", ["auto", "v3"])
    def test_not_there(self, serving, api):
        """A trace that v3 does not know is not asked for again."""
        with serving(paths={V3: NOT_FOUND}) as server:
            assert rows_in(server, api=api) == ([], [])

    @pytest.mark.parametrize("answer", [NO_V3, PAGE, reply('{"result": {"reso')])
    def test_without_v3(self, serving, answer):
        """Where v3 is not, or answers nothing whole, the older API is asked."""
        with serving(paths={V3: answer, LEGACY: reply(traces(SPAN))}) as server:
            rows, problems = rows_in(server)
        assert (repr(rows), problems) == (repr([ROW]), [])
        assert server.asked[-1][0] == f"{LEGACY}?raw=true"

    def test_not_there_without_v3(self, serving):
        """The older API says in its own way that there is no such trace."""
        nothing = reply({"data": None, "errors": [{"code": 404, "msg": "none"}]}, 404)
        with serving(paths={LEGACY: nothing}) as server:
            assert rows_in(server, api="legacy") == ([], [])

    def test_only_v3(self, serving):
        """Told to use v3, it does not ask the older API."""
        with serving(paths={V3: NO_V3}) as server:
            assert rows_in(server, api="v3") == ([], [])

    def test_an_error_after_a_part(self, serving):
        """Parts that follow each other are one trace, and an error among them is a problem."""
        more = {"result": json.loads(write_json([row(1, 2)]))}
        error = {"error": {"grpcCode": 14, "message": "shard 2 did not answer"}}
        body = "\n".join(map(json.dumps, ({"result": OTLP}, more, error)))
        with serving(paths={V3: reply(body)}) as server:
            assert rows_in(server) == (
                [row(1, 1), row(1, 2)],
                [f"trace {TRACE}: shard 2 did not answer"],
            )

    def test_a_part_that_breaks_off(self, serving):
        """What came before the answer broke off is read, and that it did is a problem."""
        body = json.dumps({"result": OTLP}) + '\n{"result": {"resourceS'
        with serving(paths={V3: reply(body)}) as server:
            rows, problems = rows_in(server)
        assert rows == [row(1, 1)]
        assert problems == [
            f"trace {TRACE}: the answer breaks off after {len(body)} bytes"
        ]

    def test_an_error_alone(self, serving):
        """An answer that is only an error is one."""
        with (
            serving(paths={V3: reply({"error": "no disk"})}) as server,
            pytest.raises(SourceError, match=f"could not read trace {TRACE}: no disk"),
        ):
            rows_in(server)

    def test_warnings(self, serving):
        """Jaeger's warnings are no attributes; those about losses are problems."""
        said = ["2 spans dropped", "Negative duration detected"]
        warned = [
            row(1, 1, attributes={"a": 1, "@jaeger@warnings": said}),
            row(1, 2, attributes={"@jaeger@warnings": "truncated"}),
        ]
        body = {"result": json.loads(write_json(warned))}
        with serving(paths={V3: reply(body)}) as server:
            assert rows_in(server) == (
                [row(1, 1, attributes={"a": 1}), row(1, 2)],
                [f"trace {1:032x}: 2 spans dropped", f"trace {1:032x}: truncated"],
            )

    @pytest.mark.parametrize("answer", [PAGE, reply('{"data": [{"tra'), reply({})])
    def test_no_jaeger(self, serving, answer):
        """Another server, or half an answer, is an error that names the port to use."""
        with (
            serving(paths={LEGACY: answer}) as server,
            pytest.raises(SourceError, match=r"expected the port .*16686"),
        ):
            rows_in(server, api="legacy")

    def test_a_partial_answer_is_a_gap(self, serving):
        """What Jaeger left out of an answer is a gap of the ledger, with Jaeger's words."""
        run = RunWriter("00000000000000a1")
        run.add("begin", started=1, capture="full", agent="Desk", input="Hello")
        run.add("end", status="completed", items=[])
        run.seal()
        rows = [
            replace(made, trace_id=TRACE, start_ns=START, end_ns=START + 1)
            for made in rows_of(run.records, per_span=1)
        ]
        error = {"error": {"message": "shard 2 did not answer"}}
        parts = ({"result": json.loads(write_json(rows[:-1]))}, error)
        with serving(paths={V3: reply("\n".join(map(json.dumps, parts)))}) as server:
            ledger = itemtrace.load(f"jaeger://{server.where}", trace_id=TRACE)
        assert [gap.cause for gap in ledger.gaps if "shard 2" in gap.message] == [
            GapCause.CUT
        ]


def asked_of(server, query, paths=(), clock=None, **options):
    """Lists runs and returns what was asked of `/api/traces`."""
    words = "&".join(f"{name}={value}" for name, value in options.items())
    more = {} if clock is None else {"clock": clock}
    with JaegerStore(f"jaeger://{server.where}?{words}", **more) as store:
        assert list(store.runs(query)) == []
    return [
        {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        for path, _ in server.asked
        if path.startswith("/api/traces?")
    ]


class TestSearch:
    """What is asked to find runs."""

    NOTHING = reply({"data": [], "errors": None})

    def test_each_service(self, serving):
        """Without a service in the source, each that Jaeger knows is asked for starts and ends."""
        paths = {"/api/services": reply({"data": ["a", "b"]})}
        with serving(self.NOTHING, paths=paths) as server:
            asked = asked_of(server, Query(), clock=lambda: START)
        assert {(one["service"], one["operation"]) for one in asked} == {
            (service, name) for service in "ab" for name in ("run_start", "run_end")
        }
        assert {
            (one["start"], one["end"], one["limit"], one["raw"]) for one in asked
        } == {("0", str(START // 1000 + 86_400_000_000), "20", "true")}

    def test_no_services(self, serving):
        """A Jaeger without services holds nothing."""
        with serving(paths={"/api/services": reply({"data": None})}) as server:
            assert asked_of(server, Query()) == []

    @pytest.mark.parametrize(
        ("query", "tags"),
        [
            ({"run_id": "r", "group": "g"}, [{"itemtrace.run.id": "r"}]),
            ({"group": "g"}, [{"gen_ai.conversation.id": "g"}]),
            ({"tool": "t", "agent": "a"}, [{"gen_ai.tool.name": "t"}]),
            (
                {"model": "m"},
                [{"gen_ai.request.model": "m"}, {"gen_ai.response.model": "m"}],
            ),
            ({"status": "failed"}, [{"itemtrace.run.status": "failed"}]),
            ({"status": "unsealed"}, [None, None]),
            ({"group": "g" * 251}, [None, None]),
            ({"group": "g" * 251, "agent": "ä"}, [{"gen_ai.agent.name": "ä"}]),
        ],
    )
    def test_the_narrowest_tag(self, serving, query, tags):
        """Jaeger is asked for the narrowest tag that all its storages index."""
        with serving(self.NOTHING) as server:
            asked = asked_of(server, Query(**query), service="desk")
        assert [json.loads(one.get("tags", "null")) for one in asked] == tags

    def test_tags_of_the_source(self, serving):
        """Tags in the source narrow every search."""
        with serving(self.NOTHING) as server:
            asked = asked_of(
                server, Query(group="g"), service="a", tag="env:prod,url:http://x,"
            )
        assert [json.loads(one["tags"]) for one in asked] == [
            {"env": "prod", "url": "http://x", "gen_ai.conversation.id": "g"}
        ]

    def test_times(self, serving):
        """Times bound the search; an end only where runs are found by their start."""
        query = Query(since_ns=5_000_000, until_ns=9_000_000)
        with serving(self.NOTHING) as server:
            asked = asked_of(server, query, clock=lambda: 0, service="desk")
        assert [(one["operation"], one["start"], one["end"]) for one in asked] == [
            ("run_start", "4999", "9001"),
            ("run_end", "4999", "86400000000"),
        ]

    def test_lookback(self, serving):
        """Without a time, `lookback` says how far back to search."""
        with serving(self.NOTHING) as server:
            asked = asked_of(
                server, Query(), clock=lambda: START, service="a", lookback="2h"
            )
        assert {one["start"] for one in asked} == {str(START // 1000 - 7_200_000_000)}

    def test_losses(self, serving):
        """What a search says it could not give is a problem, and the rest is listed."""
        tags = [
            {"key": key, "value": value}
            for key, value in run_rows(1)[0].attributes.items()
        ]
        span = {**SPAN, "operationName": "run_start", "tags": tags}
        value = traces(span) | {"errors": [{"msg": "shard 2 did not answer"}]}
        with (
            serving(reply(value)) as server,
            open_store(f"jaeger://{server.where}?service=a") as store,
        ):
            (run,) = store.runs()
            assert (run.run_id, run.trace_id, run.agent) == (
                f"{1:016x}",
                TRACE,
                "Agent 1",
            )
            assert store.problems == [f"{store.url}: shard 2 did not answer"]

    @pytest.mark.parametrize("answer", [PAGE, reply("[]")])
    def test_no_jaeger(self, serving, answer):
        """Another server is named as such."""
        with (
            serving(answer) as server,
            open_store(f"jaeger://{server.where}") as store,
            pytest.raises(SourceError, match="no JSON for /api/services"),
        ):
            list(store.runs())

    def test_several_traces(self, serving):
        """Traces that are named come newest first, each once, and so do their runs."""
        paths = {}
        for number in (1, 2):
            trace_id = f"{number:032x}"
            rows = run_rows(number)
            body = {"result": json.loads(write_json(rows))}
            paths[f"/api/v3/traces/{trace_id}"] = reply(body)
            spans = [
                {
                    "traceID": trace_id,
                    "spanID": made.span_id,
                    "operationName": made.name,
                    "startTime": made.start_ns // 1000,
                    "tags": [
                        {"key": key, "value": value}
                        for key, value in made.attributes.items()
                    ],
                }
                for made in rows
            ]
            trace = {"traceID": trace_id, "spans": spans, "processes": {}}
            paths[f"/api/traces/{trace_id}"] = reply({"data": [trace]})
        query = Query(trace_ids=(f"{1:032x}", f"{2:032x}", f"{1:032x}"))
        with (
            serving(NOT_FOUND, paths=paths) as server,
            open_store(f"jaeger://{server.where}") as store,
        ):
            assert [id_ for id_, _ in store.traces(query)] == [f"{2:032x}", f"{1:032x}"]
            assert [run.run_id for run in store.runs(query)] == [
                f"{2:016x}",
                f"{1:016x}",
            ]

    def test_traces_of_runs(self, serving):
        """Traces are found by a search and read whole; those that only seemed to match are left."""
        spans = [
            {
                "traceID": f"{number:032x}",
                "spanID": made.span_id,
                "operationName": made.name,
                "startTime": made.start_ns // 1000,
                "tags": [{"key": "gen_ai.tool.name", "value": "tool_1"}],
            }
            for number in (1, 2, 3)
            for made in run_rows(number)[:1]
        ]
        found = [{"traceID": one["traceID"], "spans": [one]} for one in spans]
        paths = {
            f"/api/v3/traces/{number:032x}": reply(
                {"result": json.loads(write_json(run_rows(number, tool=tool)))}
            )
            for number, tool in ((1, "tool_1"), (2, "other"))
        }
        paths["/api/traces"] = reply({"data": found})
        query = Query(tool="tool_1")
        with (
            serving(NOT_FOUND, paths=paths) as server,
            open_store(f"jaeger://{server.where}?service=a") as store,
        ):
            assert [trace_id for trace_id, _ in store.traces(query)] == [f"{1:032x}"]
            assert [trace_id for trace_id, _ in store.traces()] == [
                f"{2:032x}",
                f"{1:032x}",
            ]


class TestSource:
    """What a source may say."""

    def test_writing(self):
        """A Jaeger is written to over OTLP, and the error says so."""
        with pytest.raises(SourceError, match="OTEL_EXPORTER_OTLP_ENDPOINT"):
            open_store("jaeger://me:secret@host", write=True)

    @pytest.mark.parametrize(
        "option",
        [
            "api=v9",
            "page=0",
            "page=x",
            "lookback=soon",
            "lookback=3y",
            "tag=x",
            "tag=:x",
        ],
    )
    def test_options(self, option):
        """An option that means nothing is refused with what was expected."""
        with pytest.raises(ConfigError, match=f"{option}; expected"):
            open_store(f"jaeger://127.0.0.1?{option}")

    def test_the_url_of_a_store(self):
        """Credentials are not in the name of a store."""
        with open_store("jaeger+https://me:secret@host/base?page=3") as store:
            assert store.url == "jaeger+https://host/base?page=3"
