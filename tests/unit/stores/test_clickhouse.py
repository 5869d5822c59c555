"""ClickHouse: what is asked of it, over HTTP and in process, and what it may answer."""

import builtins
import itertools
import json
import logging
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar
from urllib.parse import parse_qsl, urlsplit

import pytest

import itemtrace
from itemtrace.errors import ConfigError, MissingExtra, NotATrace, SourceError
from itemtrace.rebuild import rebuild
from itemtrace.semconv import ITEMTRACE_RUN_ID
from itemtrace.stores import Query, open_store
from itemtrace.stores.clickhouse import ClickHouseStore
from itemtrace.stores.clickhouse.rows import flat
from itemtrace.stores.clickhouse.statements import NEEDED, quoted
from itemtrace.testing.otel_traces import Layout, create, embedded, insert
from itemtrace.testing.store_contract import by_span, row, run_rows, run_summary
from itemtrace.testing.synthetic import TRACE_ID, RunWriter, rows_of


numbers = itertools.count()
LAYOUTS = pytest.mark.parametrize(
    "layout", list(Layout), ids=lambda layout: layout.name
)


@pytest.fixture
def database():
    """Gives the name of an empty database."""
    name = f"unit{next(numbers)}"
    embedded().command(f"CREATE DATABASE {name}")
    yield name
    embedded().command(f"DROP DATABASE {name}")


def open_embedded(database, more=""):
    """Opens a store on the embedded ClickHouse."""
    return ClickHouseStore(
        f"clickhouse://me:hunter2@host/{database}{more}", client=embedded()
    )


def recorded():
    """Returns the rows of a small sealed run, no one of which names the run in an attribute."""
    run = RunWriter("00000000000000a1")
    run.add(
        "begin", started=1, agent="Desk", input='Grüße "it1;" \u2028', capture="full"
    )
    run.add("end", status="completed", items=[])
    run.seal()
    return [
        replace(row, start_ns=10**18, end_ns=10**18) for row in rows_of(run.records)
    ]


class Server(ThreadingHTTPServer):
    """Keeps what was asked of it."""

    asked: ClassVar[list[tuple[str, dict[str, str], str]]] = []


class Handler(BaseHTTPRequestHandler):
    """ClickHouse's HTTP interface in front of the embedded one."""

    def do_POST(self):
        """Runs a query with its parameters."""
        sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
        asked = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        Server.asked.append((sql, asked, self.headers["Authorization"]))
        for name, value in asked.items():
            if name.startswith("param_"):
                text = value.replace("\\", "\\\\").replace("'", "\\'")
                embedded().command(f"SET {name} = '{text}'")
        status, answer = 200, b""
        try:
            answer = embedded().raw_query(sql)
        except Exception as error:  # noqa: BLE001 - a server answers whatever went wrong
            status, answer = 500, str(error).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format, *args):  # noqa: A002 - its name there
        """Keeps the terminal quiet."""


@contextmanager
def served():
    """Gives the address of the HTTP interface and what was asked of it."""
    Server.asked.clear()
    with Server(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{server.server_port}", server.asked
        server.shutdown()
        thread.join()


@LAYOUTS
def test_a_ledger_comes_back(database, layout):
    """A sealed run is exact, found by its id though only its records name it."""
    create(embedded(), database, layout)
    rows = recorded()
    insert(embedded(), database, [*rows, *run_rows(1)], layout)
    with open_embedded(database) as store:
        found = itemtrace.load(store, run_id="00000000000000a1")
        assert [run.run_id for run in store.runs()] == [f"{1:016x}", "00000000000000a1"]
    assert found == rebuild(rows)
    assert found.exact
    assert found.trace_ids == (TRACE_ID,)


def test_over_http(database, monkeypatch):
    """The whole way through clickhouse-connect: credentials, parameters, pages, odd text."""
    create(embedded(), database, Layout.MAP, "it's `odd`")
    rows = run_rows(1, agent="O'Hara \\ \n日本")
    insert(embedded(), database, rows, Layout.MAP, "it's `odd`")
    monkeypatch.setenv("CLICKHOUSE_PASSWORD", "from the environment")
    with served() as (address, asked):
        url = f"clickhouse://me@{address}/{database}?table=it%27s+%60odd%60&timeout=20"
        with open_store(url) as store:
            (run,) = store.runs(Query(agent="O'Hara \\ \n日本"))
            assert run.agents == ("O'Hara \\ \n日本",)
            ((trace_id, found),) = store.traces(Query(trace_ids=(run.trace_id,)))
            assert len(list(found)) == len(rows)
            assert trace_id == run.trace_id
            assert (
                store.url
                == f"clickhouse://{address}/{database}?table=it%27s+%60odd%60&timeout=20"
            )
        given = [settings for sql, settings, _ in asked if "SpanId" in sql]
        assert [settings["wait_end_of_query"] for settings in given] == ["1"]
        # base64 of "me:from the environment"
        assert {header for _, _, header in asked} == {
            "Basic bWU6ZnJvbSB0aGUgZW52aXJvbm1lbnQ="
        }


def test_a_server_that_refuses():
    """What the server says is passed on, without the password."""
    with served() as (address, _), pytest.raises(SourceError) as caught:
        open_store(f"clickhouse://me:hunter2@{address}/nowhere?table=x")
    assert "database nowhere: no Timestamp, TraceId" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_no_server():
    """A server that is not there is one error, with what to look at, and nothing else is printed."""
    assert logging.getLogger("clickhouse_connect").handlers
    with pytest.raises(
        SourceError, match=r"127\.0\.0\.1:1/x\?timeout=1 cannot be read: .*look at host"
    ):
        open_store("clickhouse://me:hunter2@127.0.0.1:1/x?timeout=1")


def test_a_url_without_a_server():
    """A URL needs a host."""
    with pytest.raises(ConfigError, match="names no server"):
        open_store("clickhouse:///x")


def test_a_query_that_fails(database):
    """An error of a query later on is a SourceError too."""
    create(embedded(), database, Layout.MAP)
    with open_embedded(database) as store:
        embedded().command(f"DROP TABLE {database}.otel_traces")
        with pytest.raises(SourceError, match="UNKNOWN_TABLE"):
            list(store.traces())


def test_only_a_collector_writes(database):
    """Opening it to write says who writes it."""
    with pytest.raises(
        SourceError, match="can only be read; send spans to a Collector"
    ):
        open_store("clickhouse://me:hunter2@host/x", write=True)


def test_another_table(database):
    """A table that is not the exporter's is named with what it lacks."""
    embedded().command(
        f"CREATE TABLE {database}.spans (TraceId String, SpanName String) ENGINE = Memory"
    )
    with pytest.raises(
        NotATrace, match=r"no table spans .* no Timestamp, SpanId, SpanAttributes"
    ):
        open_embedded(database, "?table=spans")


def test_the_fewest_columns(database):
    """A view or an old table without the other columns is read as far as it goes."""
    create(embedded(), database, Layout.MAP)
    rows = run_rows(1)
    insert(embedded(), database, rows, Layout.MAP)
    embedded().command(
        f"CREATE VIEW {database}.few AS SELECT Timestamp, TraceId, SpanId, SpanName, "  # noqa: S608
        f"SpanAttributes, Duration FROM {database}.otel_traces"
    )
    with open_embedded(database, "?table=few") as store:
        assert not store.table.lookup
        ((_, found),) = store.traces()
        texts = {
            "itemtrace.run.items",
            "itemtrace.usage.input_tokens",
            "itemtrace.usage.output_tokens",
        }
        assert by_span(found) == by_span(
            replace(
                one,
                kind="",
                attributes={
                    k: str(v) if k in texts else v for k, v in one.attributes.items()
                },
            )
            for one in rows
        )
        assert list(store.runs()) == [run_summary(1)]


def test_many_pages(database, monkeypatch):
    """More traces than a page holds come each once, the newest first."""
    monkeypatch.setattr("itemtrace.stores.clickhouse.PAGE", 2)
    monkeypatch.setattr("itemtrace.stores.clickhouse.statements.PAGE", 2)
    create(embedded(), database, Layout.MAP)
    same = [replace(row(n, 1), start_ns=10**18, end_ns=10**18) for n in range(1, 6)]
    insert(embedded(), database, [*same, row(9, 1)], Layout.MAP)
    with open_embedded(database) as store:
        found = [trace_id for trace_id, _ in store.traces()]
        assert found == [f"{n:032x}" for n in (9, 5, 4, 3, 2, 1)]
        assert [t for t, _ in store.traces(Query(limit=3))] == found[:3]


def test_spans_that_the_lookup_table_does_not_know(database):
    """A trace that is older than the table beside it is read all the same."""
    create(embedded(), database, Layout.MAP)
    insert(embedded(), database, run_rows(1), Layout.MAP)
    embedded().command(f"TRUNCATE TABLE {database}.otel_traces_trace_id_ts")
    with open_embedded(database) as store:
        ((_, found),) = store.traces()
        assert len(list(found)) == 4


@LAYOUTS
def test_fractions_of_a_second(database, layout):
    """Spans that all start within a second are found by the times of their trace."""
    create(embedded(), database, layout)
    at = 1_796_048_826_910_189_059
    close = [replace(row(1, n), start_ns=at + n, end_ns=at + n) for n in range(3)]
    insert(embedded(), database, close, layout)
    with open_embedded(database) as store:
        ((_, found),) = store.traces(Query(since_ns=at, until_ns=at + 1))
        assert sorted(one.start_ns for one in found) == [at, at + 1, at + 2]
        assert list(store.traces(Query(since_ns=at + 1))) == []
        assert list(store.traces(Query(until_ns=at))) == []


def test_a_span_that_ends_before_it_starts(database):
    """Its duration goes round below zero in the table, and comes back."""
    create(embedded(), database, Layout.MAP)
    odd = row(1, 1, end_ns=0)
    insert(embedded(), database, [odd], Layout.MAP)
    with open_embedded(database) as store:
        ((_, found),) = store.traces()
        assert [(one.start_ns, one.end_ns) for one in found] == [(odd.start_ns, 0)]


def test_text_that_is_cut_through_a_character(database):
    """Bytes that are no UTF-8 are read, with a mark where they were."""
    create(embedded(), database, Layout.MAP)
    embedded().command(
        f"INSERT INTO {database}.otel_traces (Timestamp, TraceId, SpanName) "  # noqa: S608
        "VALUES (now(), 'a', unhex('E697A5E6'))"
    )
    with open_embedded(database) as store:
        ((_, found),) = store.traces()
        assert [one.name for one in found] == ["日\ufffd"]


def test_a_caller_keeps_its_client(database):
    """A store closes only the client that it made."""

    class Client:
        closed = 0

        def close(self):
            self.closed += 1

        def raw_query(self, *_, **__):
            columns = [{"name": name, "type": "String"} for name in NEEDED]
            return "\n".join(map(json.dumps, columns)).encode()

    client = Client()
    store = ClickHouseStore("clickhouse://host/x", client=client)
    store.close()
    assert client.closed == 0
    store.owns = True
    store.close()
    assert client.closed == 1


def test_nested_keys_are_joined():
    """JSON columns give keys with dots as nested objects, down to the values."""
    assert flat({"gen_ai": {"agent": {"name": "Desk"}, "x": [{"y": 1}]}, "z": {}}) == {
        "gen_ai.agent.name": "Desk",
        "gen_ai.x": [{"y": 1}],
    }


def test_names_are_quoted():
    """A backtick in a name ends no identifier."""
    assert quoted("a`b", "c\\") == "`a\\`b`.`c\\\\`"


def test_a_run_without_any_attribute_but_its_id(database):
    """An attribute alone is enough to list a run."""
    create(embedded(), database, Layout.JSON)
    lone = row(1, 1, attributes={str(ITEMTRACE_RUN_ID): f"{7:016x}"})
    insert(embedded(), database, [lone, row(2, 1)], Layout.JSON)
    with open_embedded(database) as store:
        assert [run.run_id for run in store.runs()] == [f"{7:016x}"]


def test_without_the_driver(monkeypatch):
    """The error names the extra to install."""
    real = builtins.__import__

    def without(name, *rest):
        if name == "clickhouse_connect":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"itemtrace\[clickhouse\]"):
        open_store("clickhouse://host/x")
