"""Real servers, and what is sent to them: the demo, and values that break things."""

import importlib.util
import secrets
import sys
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpExporter,
)
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator

import itemtrace
from itemtrace.capture.sinks import row_of
from itemtrace.limits import PROFILES
from itemtrace.stores.base import plain_row
from itemtrace.stores.http import Http, endpoint_of
from itemtrace.stores.otlp import write_proto
from itemtrace.testing import servers, synthetic, truth
from itemtrace.testing.demo import run_demo
from itemtrace.testing.recorder import SpanRecorder


ROOT = Path(__file__).parents[4]

HARD = (
    *("", " ", "\x00", "\ud800", "\udfff tail", "\ud83d\ude00", "😀", "e\u0301", "\u2028\u2029"),
    *("\ufeff", "\uffff", "\x7f\x85", '"\\/', "null", "NaN", "日本語テキスト" * 700, "ß" * 3_001),
    *(1, 1.0, -0.0, 2**53 + 1, 2**63, -(2**64) - 1, 10**40, 1e-320, True, None),
    *(float("nan"), float("-inf"), b"\x00\xff", [], {}, [[]], {"": {"a.b": [None, {"c ": 1}]}}),
    *({"b": 1, "a": [1.0, "1"]}, (1, 2), {1: "one"}, {"$it": "x"}, "</script>", "x" * 70_000),
)  # fmt: skip
"""Values that a backend, an encoder or a parser was seen to break."""


class UniqueIds(IdGenerator):
    """Ids that no test repeats: hypothesis seeds the generator that OpenTelemetry uses."""

    def generate_trace_id(self):
        """Returns a trace id."""
        return secrets.randbits(127) + 1

    def generate_span_id(self):
        """Returns a span id."""
        return secrets.randbits(63) + 1


@pytest.fixture(scope="session")
def root():
    """Gives the root of the repository, where shipped configuration is."""
    return ROOT


@pytest.fixture(scope="session")
def backends():
    """Gives the program that builds the servers and knows where they are."""
    name = "itemtrace_backends"
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / "backends.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def jaeger_binary(backends):
    """Gives the real Jaeger, or skips."""
    return servers.require_backend("Jaeger", backends.BACKENDS["jaeger"].path())


@pytest.fixture(scope="session")
def collector_binary(backends):
    """Gives the real Collector, or skips."""
    return servers.require_backend("Collector", backends.BACKENDS["collector"].path())


@pytest.fixture(scope="session")
def jaeger(jaeger_binary):
    """Gives one Jaeger with its storage in memory, for all tests of a process."""
    with servers.jaeger(jaeger_binary) as server:
        yield server


@pytest.fixture(params=["http", "grpc"])
def protocol(request):
    """Gives each protocol of OTLP that has a real exporter."""
    return request.param


def exporter_to(server, protocol):
    """Returns OpenTelemetry's own exporter to a server."""
    if protocol == "grpc":
        return GrpcExporter(endpoint=server.address("otlp_grpc"), insecure=True)
    return HttpExporter(endpoint=f"{server.url('otlp_http')}/v1/traces")


class Sent:
    """What was sent, to compare with what comes back.

    Attributes:
        rows: The spans, as a store gives them back, by trace.
        results: The SDK's results, where they come from runs.
    """

    def __init__(self, spans, results=()):
        self.rows = {}
        for span in spans:
            row = plain_row(row_of(span))
            self.rows.setdefault(row.trace_id, []).append(row)
        self.results = list(results)

    @property
    def trace_ids(self):
        """The traces, in the order in which their first span ended."""
        return tuple(self.rows)

    def differences(self, ledgers):
        """Returns what differs between ledgers and the SDK's results, gaps included."""
        runs = [run for ledger in ledgers for run in ledger.runs]
        found = [gap for ledger in ledgers for gap in ledger.gaps]
        if len(runs) != len(self.results):
            found.append(f"{len(runs)} runs, expected {len(self.results)}")
        for run, result in zip(runs, self.results, strict=False):
            found += truth.differences(run, result)
        return found


@pytest.fixture
def send_demo(sdk_processors):
    """Runs the demo with a real exporter, beside a recorder that keeps what was sent."""

    async def send(server, protocol="http"):
        resource = {"service.name": "order desk"}
        with SpanRecorder(resource=resource, ids=UniqueIds()) as recorder:
            exporter = exporter_to(server, protocol)
            recorder.provider.add_span_processor(BatchSpanProcessor(exporter))
            itemtrace.install(tracer_provider=recorder.provider)
            try:
                results = await run_demo()
            finally:
                itemtrace.uninstall()
        return Sent(recorder.spans(), results)

    return send


@pytest.fixture
def send_values():
    """Sends one run whose items hold values, with a real exporter; gives what was sent and the run."""

    def send(server, protocol="http", values=HARD, profile="portable"):
        run = synthetic.RunWriter(f"{UniqueIds().generate_span_id():016x}")
        run.add("begin", capture="full", started=1, agent="Desk", input="go")
        for value in values:
            raw = {"value": value}
            run.add("item", type="message_output_item", agent="Desk", raw=raw)
        run.add("end", status="completed", items=[[1, len(values)]])
        run.seal()
        rows = synthetic.rows_of(run.records, profile=PROFILES[profile])
        resource = {"service.name": "values"}
        with SpanRecorder(resource=resource, ids=UniqueIds()) as recorder:
            exporter = exporter_to(server, protocol)
            recorder.provider.add_span_processor(BatchSpanProcessor(exporter))
            tracer = recorder.provider.get_tracer("itemtrace", "1.0")
            with tracer.start_as_current_span("values"):
                for row in rows:
                    known = {"itemtrace.run.id": run.run_id, **row.attributes}
                    tracer.start_span(row.name, attributes=known).end()
        return Sent(recorder.spans()), run

    return send


@pytest.fixture
def hard_values():
    """Gives what `send_values` sends unless told otherwise."""
    return HARD


@pytest.fixture
def send_rows():
    """Sends rows as they are, as OTLP over HTTP."""

    def send(server, rows):
        source = f"otlp://{server.address('otlp_http')}"
        headers = {"Content-Type": "application/x-protobuf"}
        http = Http(endpoint_of(source, port=4318, environ={}))
        http.request("POST", "/v1/traces", (), headers, write_proto(rows))

    return send
