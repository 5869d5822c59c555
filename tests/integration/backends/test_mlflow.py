"""MLflow: what the real exporter sends to the real server comes back over its API."""

import time
import urllib.request

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

import itemtrace
from itemtrace.rebuild import rebuild
from itemtrace.stores import Query, open_store
from itemtrace.stores.otlp import write_proto


@pytest.fixture
def url(mlflow_server):
    """Gives the source of the running server."""
    return f"mlflow://{mlflow_server.address('http')}"


def export(server, spans):
    """Sends spans with OpenTelemetry's own exporter."""
    exporter = OTLPSpanExporter(
        f"{server.url('http')}/v1/traces", headers={"x-mlflow-experiment-id": "0"}
    )
    exporter.export(spans)
    exporter.shutdown()


def post(server, rows):
    """Sends rows that no SDK made."""
    headers = {"Content-Type": "application/x-protobuf", "x-mlflow-experiment-id": "0"}
    address = f"{server.url('http')}/v1/traces"
    request = urllib.request.Request(address, write_proto(rows), headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        assert answer.status == 200


def arrived(url, trace_ids, rows):
    """Waits until all spans are there: they are taken first and stored a moment later."""
    found = 0
    with open_store(url) as store:
        for _ in range(100):
            found = sum(
                len(list(r)) for _, r in store.traces(Query(trace_ids=trace_ids))
            )
            if found >= rows:
                return
            time.sleep(0.1)
    pytest.fail(f"{found} of {rows} spans arrived")


def test_the_demo_comes_back(recorded_demo, mlflow_server, url):
    """Every run of the demo is exact, and found by what it is about."""
    export(mlflow_server, recorded_demo.spans)
    expected = recorded_demo.ledger
    arrived(url, expected.trace_ids, len(recorded_demo.rows))
    with open_store(url) as store:
        found = itemtrace.load(store, query=Query(trace_ids=expected.trace_ids))
        assert found == expected
        assert found.exact
        ids = {run.run_id for run in expected.runs}
        for query in (
            Query(group="customer-4711"),
            Query(tool="find_order"),
            Query(agent="Front desk"),
            Query(model="desk-large"),
            Query(run_id=expected.runs[0].run_id),
            Query(status="completed"),
            Query(),
        ):
            runs = [run for run in store.runs(query) if run.run_id in ids]
            assert runs == sorted(runs, key=lambda run: -run.started_ns)
            assert runs
        assert store.problems == []


def test_hard_values_come_back(hard_rows, mlflow_server, url):
    """No value that is hard to store changes a ledger."""
    post(mlflow_server, hard_rows)
    trace_id = hard_rows[0].trace_id
    arrived(url, (trace_id,), len(hard_rows))
    found = itemtrace.load(url, trace_id=trace_id)
    assert found == rebuild(hard_rows)
    assert found.exact


def test_an_unknown_trace(url):
    """A trace that is not there gives nothing."""
    with open_store(url) as store:
        assert list(store.traces(Query(trace_ids=("f" * 32,)))) == []
