"""Phoenix's REST API: pages, projects, what it answers when something else is asked or there."""

import json

import pytest

from itemtrace.errors import SourceError
from itemtrace.stores import Query, open_store
from itemtrace.stores.phoenix import instant
from itemtrace.testing.store_contract import run_rows, run_summary


JSON = {"Content-Type": "application/json"}


def listing(data, cursor=None):
    """Returns an answer with one page."""
    return (200, JSON, json.dumps({"data": data, "next_cursor": cursor}).encode())


def any_value(value):
    """Returns a value as Phoenix has it: each alternative, all but one null."""
    names = ("string_value", "bool_value", "int_value", "double_value", "array_value")
    given = {str: "string_value", int: "int_value"}[type(value)]
    return {**dict.fromkeys(names), given: value}


def span(row):
    """Returns a span as Phoenix has it: numbers for times, no kind, no resource."""
    return {
        "trace_id": row.trace_id,
        "span_id": row.span_id,
        "parent_span_id": None,
        "name": row.name,
        "start_time_unix_nano": row.start_ns,
        "end_time_unix_nano": row.end_ns,
        "attributes": [
            {"key": key, "value": any_value(value)}
            for key, value in row.attributes.items()
        ],
        "events": None,
        "status": {"code": 0, "message": None},
    }


@pytest.fixture
def server(serving):
    """Gives a server with two projects, a run in each; a search finds both."""
    first, second = ([span(row) for row in run_rows(n)] for n in (1, 2))
    paths = {
        "/v1/projects": listing([{"id": "a/1"}, {"id": "b"}]),
        "/v1/projects/a%2F1/traces": listing(
            [{"trace_id": f"{1:032x}", "start_time": "2026-11-30T14:00:00+00:00"}]
        ),
        "/v1/projects/b/traces": listing(
            [
                {"trace_id": f"{2:032x}", "start_time": "2026-11-30T14:00:01"},
                {"trace_id": f"{2:032x}", "start_time": "2026-11-30T14:00:01"},
            ]
        ),
        "/v1/projects/a%2F1/spans/otlpv1": listing(first),
        "/v1/projects/b/spans/otlpv1": (404, {}, b"gone meanwhile"),
    }
    with serving(paths=paths) as running:
        running.second = listing(second)
        yield running


def test_all_projects(server):
    """All projects are listed together, the newest trace first; a lost one holds nothing."""
    with open_store(f"phoenix://{server.where}") as store:
        assert list(store.runs(Query(run_id=f"{1:016x}"))) == [run_summary(1)]
        server.paths["/v1/projects/b/spans/otlpv1"] = server.second
        server.paths["/v1/projects/a%2F1/spans/otlpv1"] = (404, {}, b"")
        assert list(store.runs(Query(status="completed"))) == [run_summary(2)]
    asked = [path for path, _ in server.asked if "otlpv1" in path]
    assert f"attribute=itemtrace.run.id%3A%22{1:016x}%22" in asked[0]
    assert any("name=run_start&name=run_end&limit=500" in path for path in asked)


def test_one_project(server):
    """A named project is the only one that is asked."""
    server.paths["/v1/projects/b/spans/otlpv1"] = server.second
    with open_store(f"phoenix://{server.where}?project=b") as store:
        assert [trace for trace, _ in store.traces()] == [f"{2:032x}"]
    assert {path.split("/")[3] for path, _ in server.asked} == {"b"}


def test_nothing_has_it(server):
    """A search without results asks for no trace."""
    server.paths["/v1/projects/a%2F1/spans/otlpv1"] = listing([])
    with open_store(f"phoenix://{server.where}") as store:
        assert list(store.runs(Query(model="m"))) == []
    assert not any("/traces" in path for path, _ in server.asked)


def test_pages(serving):
    """A cursor leads to the next page."""
    rows = run_rows(1)
    pages = [
        listing([span(row)], f"c{n}" if n < 3 else None) for n, row in enumerate(rows)
    ]
    with (
        serving(*pages) as running,
        open_store(f"phoenix://{running.where}?project=p") as store,
    ):
        ((_, found),) = store.traces(Query(trace_ids=(f"{1:032x}",)))
        assert [row.name for row in found] == [row.name for row in rows]
        assert [path.partition("cursor=")[2] for path, _ in running.asked] == [
            "",
            "c0",
            "c1",
            "c2",
        ]


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"data": 1}'])
def test_another_server(serving, body):
    """An answer that is no list names the port."""
    with (
        serving((200, JSON, body)) as running,
        open_store(f"phoenix://{running.where}") as store,
        pytest.raises(SourceError, match=r"no list for /v1/projects .* port, 6006"),
    ):
        list(store.runs())


def test_only_read():
    """Opening it to write names the endpoint for spans."""
    with pytest.raises(
        SourceError, match="OTEL_EXPORTER_OTLP_ENDPOINT=http://host:6006"
    ):
        open_store("phoenix://host", write=True)


def test_times_without_a_zone():
    """A time without a zone is UTC."""
    assert instant("2026-11-30T14:00:01") == instant("2026-11-30T14:00:01+00:00")
