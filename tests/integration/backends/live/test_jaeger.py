"""The real Jaeger: what is sent comes back exact through both of its APIs."""

import re
import secrets
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import itemtrace
from itemtrace.cli import app
from itemtrace.errors import SourceError, TraceNotFound
from itemtrace.stores import Query, open_store
from itemtrace.stores.base import EVERYTHING
from itemtrace.stores.http import Http, endpoint_of
from itemtrace.stores.otlp import write_json
from itemtrace.testing import servers
from itemtrace.testing.demo import run_demo
from itemtrace.testing.store_contract import StoreContract, by_span, row, run_rows
from itemtrace.testing.strategies import hard_values as any_hard_values
from itemtrace.testing.synthetic import RunWriter, rows_of


pytestmark = pytest.mark.backend("jaeger")


@pytest.fixture(params=["v3", "legacy"])
def source(request, jaeger):
    """Gives the URL of the Jaeger, to be read by each of its APIs."""
    return f"jaeger://{jaeger.address('query')}?api={request.param}"


def stored(source, trace_ids):
    """Returns the rows that a source has of some traces, and what could not be read."""
    with open_store(source) as store:
        found = store.traces(Query(trace_ids=trace_ids))
        return {trace_id: by_span(rows) for trace_id, rows in found}, store.problems


def values_of(ledger):
    """Returns the values of a ledger's one run, as text: NaN equals nothing."""
    (run,) = ledger.runs
    return [repr(item.raw["value"]) for item in run.items]


def lasting(sent):
    """Returns a row as Jaeger keeps it: a span that takes no time gets a nanosecond."""
    return replace(sent, end_ns=max(sent.end_ns, sent.start_ns + 1))


class TestRoundTrip:
    async def test_the_demo(self, jaeger, source, send_demo, protocol):
        """The demo comes back equal to what the SDK returned, without a gap."""
        demo = await send_demo(jaeger, protocol)
        ledgers = [itemtrace.load(source, trace_id=id_) for id_ in demo.trace_ids]
        assert demo.differences(ledgers) == []
        rows, problems = stored(source, demo.trace_ids)
        assert problems == []
        if source.endswith("v3"):
            assert rows == {id_: by_span(map(lasting, demo.rows[id_])) for id_ in rows}

    @pytest.mark.parametrize(
        "profile", ["portable", "ascii", "tempo-array", "unlimited"]
    )
    def test_hard_values(
        self, jaeger, source, send_values, hard_values, protocol, profile
    ):
        """Values that break things come back byte for byte, in every profile."""
        _, run = send_values(jaeger, protocol, profile=profile)
        ledger = itemtrace.load(source, run_id=run.run_id)
        assert ledger.exact
        assert values_of(ledger) == [repr(value) for value in hard_values]

    @settings(
        max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(values=st.lists(any_hard_values(), min_size=10, max_size=30))
    def test_any_values(self, jaeger, source, send_values, values):
        """Whatever a tool may return comes back."""
        sent, _ = send_values(jaeger, values=values)
        ledger = itemtrace.load(source, trace_id=sent.trace_ids[0])
        assert ledger.exact
        assert values_of(ledger) == [repr(value) for value in values]

    def test_sent_as_json(self, jaeger, source, hard_values):
        """OTLP as JSON, as our own writer makes it, arrives like protobuf."""
        run = RunWriter(f"{secrets.randbits(63):016x}")
        run.add("begin", capture="full", started=1, agent="Desk", input="go")
        for value in hard_values:
            raw = {"value": value}
            run.add("item", type="message_output_item", agent="Desk", raw=raw)
        run.add("end", status="completed", items=[[1, len(hard_values)]])
        run.seal()
        trace_id = f"{secrets.randbits(127):032x}"
        http = Http(endpoint_of(f"otlp://{jaeger.address('otlp_http')}", port=4318))
        http.request(
            "POST",
            "/v1/traces",
            headers={"Content-Type": "application/json"},
            body=write_json(rows_of(run.records, trace_id=trace_id)).encode(),
        )
        ledger = itemtrace.load(source, trace_id=trace_id)
        assert ledger.exact
        assert values_of(ledger) == [repr(value) for value in hard_values]

    async def test_a_trace_saved_by_the_page(self, jaeger, send_demo, tmp_path):
        """The file that the page's download gives is read like an OTLP file, packed or not."""
        demo = await send_demo(jaeger)
        http = Http(endpoint_of(f"jaeger://{jaeger.address('query')}", port=1))
        for number, trace_id in enumerate(demo.trace_ids):
            answer = http.get(f"/api/traces/{trace_id}", [("prettyPrint", "true")])
            (tmp_path / f"{number}.json").write_bytes(answer.body)
        ledgers = [itemtrace.load(tmp_path, trace_id=id_) for id_ in demo.trace_ids]
        assert demo.differences(ledgers) == []

    def test_types_of_attributes(self, jaeger, send_rows):
        """Attributes of any type come back as they were from v3, and the older API says its losses."""
        sent = row(
            0xABC,
            1,
            "typed",
            kind="CLIENT",
            status="ERROR",
            status_message="it broke",
            parent_id=f"{7:016x}",
            attributes={
                "large": 2**53 + 1,
                "float": 1.0,
                "yes": True,
                "list": ["a", "b"],
                "bytes": b"\x00\xff",
                "empty": "",
                "map": {"a": [1, None]},
            },
            events=(
                {
                    "name": "e",
                    "time_ns": 1_790_000_000_000_001_234,
                    "attributes": {"k": 1},
                },
            ),
            links=(
                {"trace_id": "a" * 32, "span_id": "b" * 16, "attributes": {"why": "x"}},
            ),
            resource={"service.name": "typed", "host": "h"},
            scope="s",
            scope_version="1",
            dropped_attributes=2,
        )
        send_rows(jaeger, [sent])
        base = f"jaeger://{jaeger.address('query')}"
        asked = (sent.trace_id,)
        assert stored(f"{base}?api=v3", asked) == ({sent.trace_id: [sent]}, [])
        assert stored(f"{base}?api=legacy", asked)[0][sent.trace_id] == [
            replace(
                sent,
                attributes={
                    **sent.attributes,
                    "list": '["a","b"]',
                    "map": '{"a":[1,null]}',
                },
                events=({**sent.events[0], "time_ns": 1_790_000_000_000_001_000},),
                links=({**sent.links[0], "attributes": {}},),
                dropped_attributes=0,
            )
        ]


class TestSearch:
    async def test_what_a_run_is_found_by(self, jaeger, source, send_demo):
        """Runs are found by id, group, agent, tool, model, status and time, newest first."""
        demo = await send_demo(jaeger)
        with open_store(f"{source}&service=order desk") as store:
            runs = [run for run in store.runs() if run.trace_id in demo.trace_ids]
            assert [run.started_ns for run in runs] == sorted(
                (run.started_ns for run in runs), reverse=True
            )
            last = runs[0]
            assert (last.group, last.status) == ("customer-4711", "completed")
            for query in (
                Query(run_id=last.run_id),
                Query(group=last.group),
                Query(agent=last.agents[0]),
                Query(model=last.models[0]),
                Query(status=last.status),
                Query(since_ns=last.started_ns, until_ns=last.ended_ns),
                Query(trace_ids=(last.trace_id,), run_id=last.run_id),
            ):
                assert last in list(store.runs(query)), query
                assert last.trace_id in [id_ for id_, _ in store.traces(query)], query
            assert list(store.runs(Query(run_id=last.run_id))) == [last]
            assert list(store.runs(Query(run_id="0" * 16))) == []
        tagged = f"{source}&service=order desk&tag=service.name:order desk"
        with open_store(tagged) as store:
            assert list(store.runs(Query(run_id=last.run_id))) == [last]
        with open_store(f"{tagged},no:such") as store:
            assert list(store.runs(Query(run_id=last.run_id))) == []
            assert list(store.runs(Query(until_ns=1))) == []
            assert store.problems == []

    def test_more_than_a_page(self, jaeger_binary, send_rows):
        """However many traces there are and however few a search gives, all are listed once."""
        rows = [r for number in range(1, 151) for r in run_rows(number)]
        named = [replace(r, resource={"service.name": "many"}) for r in rows]
        with servers.jaeger(jaeger_binary) as jaeger:
            send_rows(jaeger, named)
            with open_store(f"jaeger://{jaeger.address('query')}?page=7") as store:
                assert [run.run_id for run in store.runs()] == [
                    f"{number:016x}" for number in range(150, 0, -1)
                ]
                assert [id_ for id_, _ in store.traces(Query(limit=20))] == [
                    f"{number:032x}" for number in range(150, 130, -1)
                ]
                assert store.problems == []

    def test_nothing_there(self, source):
        """A trace or run that is not there is said so; a run id of nothing lists nothing."""
        with pytest.raises(TraceNotFound, match=f"no trace {'f' * 32}"):
            itemtrace.load(source, trace_id="f" * 32)
        with pytest.raises(TraceNotFound, match="no run abcd"):
            itemtrace.load(source, run_id="abcd")


class TestJaegerStore(StoreContract):
    """The contract, on a Jaeger of its own for each test."""

    SERVICE = {"service.name": "contract"}  # noqa: RUF012 - Jaeger searches by it

    @pytest.fixture
    def jaeger(self, jaeger_binary):
        """Gives an empty Jaeger."""
        with servers.jaeger(jaeger_binary) as server:
            yield server

    @pytest.fixture
    def source(self, jaeger):
        """Gives its URL."""
        return f"jaeger://{jaeger.address('query')}"

    @pytest.fixture(autouse=True)
    def _filling(self, jaeger, send_rows):
        def fill(rows):
            send_rows(
                jaeger, [replace(r, resource=r.resource or self.SERVICE) for r in rows]
            )

        self.send = fill

    def fill(self, source, rows):
        """Sends rows to Jaeger's OTLP endpoint, with a service where they have none."""
        self.send(list(rows))

    def stored(self, source, query=EVERYTHING):
        """Returns what is stored, without the service that `fill` put in."""
        return {
            trace_id: by_span(
                replace(r, resource={}) if r.resource == self.SERVICE else r
                for r in rows
            )
            for trace_id, rows in super().stored(source, query).items()
        }


class TestCommandLine:
    async def test_two_lines_and_show(self, jaeger, monkeypatch, sdk_processors):
        """What the README shows: an endpoint, `install()`, and `itemtrace show jaeger://`."""
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", jaeger.url("otlp_http"))
        monkeypatch.setenv("OTEL_SERVICE_NAME", "readme")
        installed = itemtrace.install()
        try:
            results = await run_demo()
        finally:
            itemtrace.uninstall()
        assert "OTLP" in installed.describe
        url = f"jaeger://{jaeger.address('query')}?service=readme"
        with open_store(url) as store:
            runs = [run for run in store.runs() if not run.nested]
        assert len(runs) == len(results)
        shown = CliRunner().invoke(app, ["show", url, runs[0].trace_id])
        assert shown.exit_code == 0, shown.output
        assert results[-1].final_output in re.sub(r"\s+", " ", shown.output)
        listed = CliRunner().invoke(app, ["runs", url])
        assert listed.exit_code == 0, listed.output
        assert runs[0].run_id[:8] in listed.output


class TestRefusals:
    def test_the_wrong_port(self, jaeger):
        """Another server than the query service is named as such."""
        with pytest.raises(SourceError, match="404 Not Found"):
            itemtrace.load(f"jaeger://{jaeger.address('otlp_http')}")
