"""MLflow's REST API: pages, experiments, its additions, what else may answer."""

import json

import pytest

from itemtrace.errors import SourceError
from itemtrace.stores import Query, open_store
from itemtrace.stores.mlflow import MlflowStore, instant
from itemtrace.stores.otlp import read_json
from itemtrace.testing.store_contract import by_span, run_rows, run_summary


JSON = {"Content-Type": "application/json"}


def answer(value):
    """Returns an answer."""
    return (200, JSON, json.dumps(value).encode())


def trace(rows):
    """Returns a trace as MLflow has it: names in snake case, attributes of its own."""
    return {
        "trace": {
            "trace_info": {"trace_id": f"tr-{rows[0].trace_id}"},
            "spans": [
                {
                    "trace_id": row.trace_id,
                    "span_id": row.span_id,
                    "name": row.name,
                    "start_time_unix_nano": row.start_ns,
                    "end_time_unix_nano": row.end_ns,
                    "attributes": [
                        *(
                            {"key": key, "value": {"string_value": str(value)}}
                            for key, value in row.attributes.items()
                        ),
                        {
                            "key": "mlflow.traceRequestId",
                            "value": {"string_value": "tr-1"},
                        },
                    ],
                    "status": {},
                }
                for row in rows
            ],
        }
    }


def test_a_trace(serving):
    """A trace comes back without what MLflow adds."""
    with (
        serving(answer(trace(run_rows(1)))) as server,
        open_store(f"mlflow://{server.where}") as store,
    ):
        ((_, found),) = store.traces(Query(trace_ids=(f"{1:032x}",)))
        assert not any("mlflow." in key for row in found for key in row.attributes)
        assert list(store.runs(Query(trace_ids=(f"{1:032x}",)))) == [run_summary(1)]
        assert server.asked[0][0] == f"/api/3.0/mlflow/traces/get?trace_id=tr-{1:032x}"


@pytest.mark.parametrize("body", [answer({}), (404, JSON, b"{}")])
def test_no_such_trace(serving, body):
    """A trace that is not there gives nothing."""
    with serving(body) as server, open_store(f"mlflow://{server.where}") as store:
        assert list(store.traces(Query(trace_ids=("a" * 32,)))) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [(b"<html>", "no object"), (b"[]", "no object"), (b"", "no object")],
)
def test_another_server(serving, body, said):
    """An answer that is no object names the port."""
    with (
        serving((200, JSON, body)) as server,
        open_store(f"mlflow://{server.where}") as store,
        pytest.raises(SourceError, match=rf"{said} for .* port, 5000"),
    ):
        list(store.traces(Query(trace_ids=("a" * 32,))))


def test_searches(monkeypatch):
    """All experiments or a named one are searched, page by page, the newest first."""
    asked = []
    given = {
        ("/api/2.0/mlflow/experiments/search", None): {
            "experiments": [{"experiment_id": "0"}, {"experiment_id": "7"}]
        },
        ("/api/3.0/mlflow/traces/search", None): {
            "traces": [{"trace_id": "tr-a", "request_time": "2026-11-30T14:00:00Z"}],
            "next_page_token": "next",
        },
        ("/api/3.0/mlflow/traces/search", "next"): {
            "traces": [
                {"trace_id": "tr-b", "request_time": "2026-11-30T15:00:00Z"},
                {"trace_id": "tr-c"},
            ]
        },
    }

    class Answers:
        """Answers each request by its path and page."""

        def request(self, method, path, headers, body):
            said = json.loads(body)
            asked.append((method, path, said))
            found = given[(path, said.get("page_token"))]
            return type("Answer", (), {"body": json.dumps(found).encode()})

    store = MlflowStore("mlflow://host")
    monkeypatch.setattr(store, "http", Answers())
    assert list(store.found(Query())) == ["b", "a", "c"]
    places = asked[1][2]["locations"]
    assert [place["mlflow_experiment"]["experiment_id"] for place in places] == [
        "0",
        "7",
    ]
    store = MlflowStore("mlflow://host?experiment=3")
    monkeypatch.setattr(store, "http", Answers())
    asked.clear()
    assert list(store.found(Query(tool="x"))) == ["b", "a", "c"]
    assert [path for _, path, _ in asked] == ["/api/3.0/mlflow/traces/search"] * 2


def test_rows_are_what_the_json_says():
    """Ids in base64 and times as numbers are read as in any OTLP JSON."""
    rows = run_rows(1)
    spans = trace(rows)["trace"]["spans"]
    read = list(read_json({"resource_spans": [{"scope_spans": [{"spans": spans}]}]}))
    assert [row.span_id for row in by_span(read)] == sorted(row.span_id for row in rows)


def test_only_read():
    """Opening it to write names the endpoint and the header for spans."""
    with pytest.raises(SourceError, match="x-mlflow-experiment-id=0"):
        open_store("mlflow://host", write=True)


def test_times_without_a_zone():
    """A time without a zone is UTC; none at all is the oldest."""
    assert instant(None) == instant("1970-01-01T00:00:00Z")
    assert instant("2026-11-30T14:00:01") == instant("2026-11-30T14:00:01+00:00")
