"""Where spans go, for every environment and argument; over real OTLP receivers on loopback."""

import gzip
import threading
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
import pytest
from agents import Agent, Runner, function_tool
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1 import (
    trace_service_pb2 as messages,
)
from opentelemetry.proto.collector.trace.v1 import (
    trace_service_pb2_grpc as service,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracerProvider

import itemtrace
from itemtrace.capture.guard import HEALTH
from itemtrace.errors import ConfigError, SourceError
from itemtrace.rebuild import rebuild
from itemtrace.sinks import make_sink
from itemtrace.stores import open_store
from itemtrace.stores.otlp import read_proto
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.truth import differences


SETTINGS = (
    "OTEL_SDK_DISABLED", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_TRACES_EXPORTER",
    "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME",
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
)  # fmt: skip


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path, sdk_processors):
    """Starts from an environment without settings and with a local store of its own."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ITEMTRACE_STORE", str(tmp_path / "local.db"))
    HEALTH.reset()
    yield monkeypatch
    itemtrace.uninstall()
    HEALTH.reset()


@function_tool
async def look(text: str) -> str:
    """Looks."""
    return f"found {text}: " + "日本語 " * 900


async def run_once():
    """Runs an agent with one tool call and long text; returns the result."""
    script = {"m": [[function_call("look", "call_1", text="ä😀")], [message("Found.")]]}
    async with FakeProvider(script) as fake:
        agent = Agent(name="Looker", model=fake.responses_model("m"), tools=[look])
        return await Runner.run(agent, "Look.")


def proved(ledger, result):
    """Asserts that a ledger is the run."""
    assert ledger.gaps == ()
    (run,) = ledger.runs
    assert differences(run, result) == []


# --- where it goes -------------------------------------------------------------


def sink(**arguments):
    """Makes a sink, closes it, and returns it."""
    made = make_sink(**arguments)
    made.shutdown(1)
    return made


def test_nothing_set_is_the_local_store(tmp_path):
    """Without arguments and environment spans go to the local store."""
    made = sink(environ={})
    path = str(tmp_path / "local.db")
    assert (made.owned, made.store, made.describe) == (True, path, path)


@pytest.mark.parametrize("value", ["true", "True", " TRUE "])
def test_disabled(value):
    """OTEL_SDK_DISABLED=true records nothing, whatever else is set."""
    made = sink(environ={"OTEL_SDK_DISABLED": value}, store=True)
    assert type(made.provider) is NoOpTracerProvider
    assert made.describe == "nowhere (OTEL_SDK_DISABLED is true)"
    assert made.store == ""


@pytest.mark.parametrize(
    "environ",
    [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"},
        {"OTEL_TRACES_EXPORTER": "otlp"},
        {"OTEL_TRACES_EXPORTER": "console,otlp"},
    ],
)
def test_otlp_of_the_environment(environ):
    """An endpoint or the exporter's name sends spans there and not to the local store."""
    made = sink(environ=environ)
    assert (made.describe, made.store) == ("the OTLP endpoint of the environment", "")


def test_none_is_no_otlp(tmp_path):
    """OTEL_TRACES_EXPORTER=none turns the endpoint off; the local store is what is left."""
    environ = {
        "OTEL_TRACES_EXPORTER": "none",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x",
    }
    assert sink(environ=environ).describe == str(tmp_path / "local.db")


def test_both(tmp_path):
    """`store=` is added to the endpoint."""
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    made = sink(environ=environ, store=tmp_path / "more.db")
    assert (
        made.describe
        == f"the OTLP endpoint of the environment and {tmp_path / 'more.db'}"
    )


def test_no_store_and_no_endpoint_is_nowhere():
    """`store=False` without anything else records nothing, and says so."""
    made = sink(environ={}, store=False)
    assert made.describe == "nowhere (store=False and no endpoint)"


@pytest.mark.parametrize(
    "name", ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"]
)
def test_unknown_protocol(name):
    """A protocol that Python cannot send is refused, with those it can."""
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", name: "http/json"}
    with pytest.raises(
        ConfigError, match=r"'http/json' is not supported; set http/protobuf or grpc"
    ):
        make_sink(environ=environ)


def test_exporter_and_provider_exclude_each_other():
    """One of them is enough."""
    with pytest.raises(ConfigError, match="exporter= or tracer_provider=, not both"):
        make_sink(exporter=InMemorySpanExporter(), tracer_provider=TracerProvider())


def test_a_store_that_can_only_be_read_is_refused(tmp_path):
    """A place that spans cannot be written to is no sink."""
    with pytest.raises((ConfigError, SourceError)):
        make_sink(store=tmp_path / "traces.xyz", environ={})


def test_given_exporter():
    """An exporter gets a provider of its own."""
    made = sink(exporter=InMemorySpanExporter(), environ={})
    assert (made.describe, made.owned) == ("InMemorySpanExporter", True)


def test_given_provider_with_a_store(tmp_path):
    """The store is added to the provider and taken out again, the provider stays open."""
    provider = TracerProvider(shutdown_on_exit=False)
    before = provider._active_span_processor._span_processors
    made = make_sink(tracer_provider=provider, store=tmp_path / "a.db", environ={})
    assert (
        made.describe == f"the tracer provider that was given and {tmp_path / 'a.db'}"
    )
    assert len(provider._active_span_processor._span_processors) == 1
    made.shutdown(1)
    assert provider._active_span_processor._span_processors == before


async def test_a_provider_of_the_application(monkeypatch):
    """A global provider is used as it is, and survives us."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    installed = itemtrace.install()
    assert installed.describe == "the application's tracer provider"
    result = await run_once()
    itemtrace.uninstall()
    with provider.get_tracer("app").start_as_current_span("later"):
        pass
    names = [span.name for span in exporter.get_finished_spans()]
    assert names[-1] == "later"
    assert result.final_output == "Found."
    assert "run_end" in names


async def test_store_objects_and_paths(tmp_path):
    """A path, a URL and an open store are written alike."""
    for store in (
        tmp_path / "a.db",
        f"sqlite:{tmp_path / 'b.db'}",
        open_store(tmp_path / "c.db", write=True),
    ):
        installed = itemtrace.install(store=store)
        result = await run_once()
        itemtrace.uninstall()
        proved(itemtrace.load(installed.store), result)


# --- OTLP over the wire ----------------------------------------------------------


class Receiver(ThreadingHTTPServer):
    """An OTLP/HTTP receiver that keeps what it got."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Post)
        self.bodies = []
        self.headers = []


class Post(BaseHTTPRequestHandler):
    """Answers as the OTLP specification says."""

    def do_POST(self):
        """Takes one export request."""
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.bodies.append((self.path, body))
        self.server.headers.append(dict(self.headers.items()))
        answer = messages.ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Says nothing."""


@pytest.fixture
def receiver():
    """Serves OTLP over HTTP on loopback."""
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def received(server):
    """Returns the rows that arrived."""
    return [row for _, body in server.bodies for row in read_proto(body)]


@pytest.mark.parametrize("compression", ["none", "gzip"])
async def test_over_http(receiver, environment, compression):
    """What arrives is the run; headers, service and resource of the environment are on it."""
    environment.setenv(
        "OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{receiver.server_port}"
    )
    environment.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=lamps")
    environment.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", compression)
    environment.setenv("OTEL_SERVICE_NAME", "desk")
    environment.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    itemtrace.install()
    result = await run_once()
    assert itemtrace.flush()
    itemtrace.uninstall()
    rows = received(receiver)
    proved(rebuild(rows), result)
    assert {path for path, _ in receiver.bodies} == {"/v1/traces"}
    assert {headers["x-tenant"] for headers in receiver.headers} == {"lamps"}
    assert {row.resource["service.name"] for row in rows} == {"desk"}
    assert {row.resource["deployment.environment.name"] for row in rows} == {"test"}


async def test_over_http_to_a_traces_endpoint(receiver, environment):
    """The endpoint for traces is used as it is."""
    url = f"http://127.0.0.1:{receiver.server_port}/custom"
    environment.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url)
    itemtrace.install()
    result = await run_once()
    itemtrace.uninstall()
    proved(rebuild(received(receiver)), result)
    assert {path for path, _ in receiver.bodies} == {"/custom"}


class Collector(service.TraceServiceServicer):
    """An OTLP/gRPC receiver that keeps what it got."""

    def __init__(self):
        self.bodies = []

    def Export(self, request, context):  # noqa: N802 - the service's own name
        """Takes one export request."""
        self.bodies.append(("", request.SerializeToString()))
        return messages.ExportTraceServiceResponse()


@pytest.mark.parametrize(
    "name", ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"]
)
async def test_over_grpc(environment, name):
    """The same over gRPC."""
    collector = Collector()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    service.add_TraceServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    environment.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    environment.setenv(name, "grpc")
    itemtrace.install()
    result = await run_once()
    itemtrace.uninstall()
    server.stop(0).wait()
    proved(rebuild(received(collector)), result)


# --- limits and sampling -----------------------------------------------------------


@pytest.mark.parametrize(
    "limits",
    [
        {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "12"},
        {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "20"},
        {"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "256"},
        {
            "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "1024",
            "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "30",
        },
    ],
)
async def test_within_the_limits_of_the_environment(environment, tmp_path, limits):
    """Whatever a span may hold, the ledger is whole: the rest is on continuation spans."""
    for name, value in limits.items():
        environment.setenv(name, value)
    itemtrace.install(store=tmp_path / "a.db")
    result = await run_once()
    itemtrace.uninstall()
    proved(itemtrace.load(tmp_path / "a.db"), result)
    assert itemtrace.health() == {}


@pytest.mark.parametrize(
    "profile", ["ascii", "elastic", "dash0", "tempo-array", "langfuse", "unlimited"]
)
async def test_every_profile(tmp_path, profile):
    """Each way to cut records gives the same run."""
    itemtrace.install(store=tmp_path / "a.db", profile=profile)
    result = await run_once()
    itemtrace.uninstall()
    proved(itemtrace.load(tmp_path / "a.db"), result)


async def test_values_too_short_for_any_record(environment, tmp_path):
    """The run goes on, the failure is counted, and no run is shown as exact."""
    environment.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "64")
    itemtrace.install(store=tmp_path / "a.db")
    result = await run_once()
    itemtrace.uninstall()
    assert result.final_output == "Found."
    assert itemtrace.health() != {}
    assert itemtrace.load(tmp_path / "a.db").runs == ()


async def test_a_sampler_that_takes_nothing(environment, tmp_path):
    """An unsampled run leaves nothing and costs nothing; it is no failure."""
    environment.setenv("OTEL_TRACES_SAMPLER", "always_off")
    itemtrace.install(store=tmp_path / "a.db")
    result = await run_once()
    itemtrace.uninstall()
    assert result.final_output == "Found."
    assert itemtrace.health() == {}
    assert itemtrace.load(tmp_path / "a.db").runs == ()
