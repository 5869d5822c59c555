"""MLflow, read over its REST API.

    mlflow://host:5000?experiment=0
    mlflow+https://user:token@mlflow.example.com

All experiments are read unless one is named by its id. MLflow gives a string back that looks like JSON
as what it says, which records avoid; all else comes back as it was. Spans reach it over OTLP with
the header `x-mlflow-experiment-id`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.errors import SourceError
from itemtrace.stores.base import Capabilities, FetchedStore, Query, register
from itemtrace.stores.http import Http, endpoint_of
from itemtrace.stores.otlp import read_json


if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemtrace.codec.spans import SpanRow


PORT: Final = 5000
PAGE: Final = 500
NOT_FOUND: Final = 404
PREFIX: Final = "tr-"
"""What MLflow puts before a trace id."""

OWN: Final = "mlflow."
"""How attributes begin that MLflow adds."""

TRACES: Final = "/api/3.0/mlflow/traces"
EXPERIMENTS: Final = "/api/2.0/mlflow/experiments/search"


@register("mlflow", "mlflow+http", "mlflow+https")
class MlflowStore(FetchedStore):
    """An MLflow tracking server; see the module."""

    capabilities = Capabilities()

    def __init__(self, source: str, *, write: bool = False) -> None:
        """Opens the store; it asks when it is read.

        Args:
            source: The URL.
            write: Refused.

        Raises:
            ConfigError: The URL cannot be used.
            SourceError: It was to be opened for writing.
        """
        endpoint = endpoint_of(source, port=PORT)
        self.url = endpoint.url
        if write:
            msg = (
                f"{self.url} can only be read; send spans to MLflow's OTLP endpoint: "
                "OTEL_EXPORTER_OTLP_ENDPOINT=http://host:5000 and "
                "OTEL_EXPORTER_OTLP_HEADERS=x-mlflow-experiment-id=0"
            )
            raise SourceError(msg, source=self.url)
        self.problems: list[str] = []
        self.http = Http(endpoint)
        self.named = endpoint.options.get("experiment")

    def pages(
        self, path: str, name: str, body: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """Gives what a search finds, page by page.

        Raises:
            SourceError: The answer is none of MLflow's.
        """
        token = ""
        while True:
            asked = {
                **body,
                "max_results": PAGE,
                **({"page_token": token} if token else {}),
            }
            answer = self.http.request(
                "POST",
                path,
                headers={"Content-Type": "application/json"},
                body=canonical.dumps(asked).encode(),
            )
            page = self.parsed(answer.body, path)
            yield from page.get(name) or ()
            token = str(page.get("next_page_token") or "")
            if not token:
                return

    def experiments(self) -> list[str]:
        """Returns the ids of the experiments to read."""
        if self.named:
            return [self.named]
        return [
            str(one["experiment_id"])
            for one in self.pages(EXPERIMENTS, "experiments", {})
        ]

    def trace(self, trace_id: str) -> list[SpanRow]:
        """Returns the rows of a trace; none if it is not there."""
        path = f"{TRACES}/get"
        answer = self.http.get(
            path, [("trace_id", f"{PREFIX}{trace_id}")], allowed={NOT_FOUND}
        )
        if answer.status == NOT_FOUND:
            return []
        spans: list[dict[str, Any]] = (
            dict(self.parsed(answer.body, path).get("trace") or {}).get("spans") or []
        )
        for span in spans:
            given: list[dict[str, Any]] = span.get("attributes") or []
            span["attributes"] = [
                pair for pair in given if not str(pair.get("key")).startswith(OWN)
            ]
        return list(
            read_json({"resource_spans": [{"scope_spans": [{"spans": spans}]}]})
        )

    def found(self, query: Query) -> Iterator[str]:
        """Gives the ids of all traces, newest start first: MLflow does not search attributes of others."""
        del query
        ids = self.experiments()
        places = [
            {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": one}}
            for one in ids
        ]
        asked = {"locations": places, "order_by": ["timestamp_ms DESC"]}
        listed = [
            (
                instant(trace.get("request_time")),
                str(trace["trace_id"]).removeprefix(PREFIX),
            )
            for trace in self.pages(f"{TRACES}/search", "traces", asked)
        ]
        listed.sort(key=lambda pair: pair[0], reverse=True)
        yield from dict.fromkeys(trace_id for _, trace_id in listed)

    def parsed(self, body: bytes, path: str) -> dict[str, Any]:
        """Returns the object in an answer.

        Raises:
            SourceError: It is none.
        """
        try:
            value: Any = json.loads(body)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            msg = f"{self.url} answered no object for {path}; expected MLflow's port, {PORT}"
            raise SourceError(msg, source=self.url)
        return value  # pyright: ignore[reportUnknownVariableType]

    def close(self) -> None:
        """Holds nothing open."""


def instant(value: object) -> datetime:
    """Returns the time in a list of traces."""
    found = datetime.fromisoformat(str(value or "1970-01-01"))
    return found if found.tzinfo else found.replace(tzinfo=UTC)
