"""Spans on their way out: rows, stores that refuse, and whose provider it is to close."""

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, NoOpTracerProvider, SpanKind, Status, StatusCode

from itemtrace.capture.guard import HEALTH
from itemtrace.capture.sinks import SdkTraceIds, Sink, StoreExporter, row_of
from itemtrace.capture.tree import WANTED_TRACE_ID, trace_id_of
from itemtrace.codec.spans import SpanRow
from itemtrace.errors import SourceError
from itemtrace.testing.recorder import SpanRecorder


def test_every_field_of_a_span():
    """A row has all that an OpenTelemetry span has."""
    with SpanRecorder(resource={"service.name": "desk"}) as recorder:
        tracer = recorder.provider.get_tracer("scope", "1.2")
        root = tracer.start_span("root", start_time=1)
        link = Link(root.get_span_context(), {"why": "x"})
        context = __import__("opentelemetry.trace").trace.set_span_in_context(root)
        span = tracer.start_span(
            "work", context, SpanKind.CLIENT, {"a": ["b"]}, links=[link], start_time=2
        )
        span.add_event("event", {"c": 1}, timestamp=3)
        span.set_status(Status(StatusCode.ERROR, "broke"))
        span.end(4)
        (found,) = recorder.rows()
    assert found == SpanRow(
        trace_id=f"{1:032x}",
        span_id=f"{2:016x}",
        parent_id=f"{1:016x}",
        name="work",
        kind="CLIENT",
        start_ns=2,
        end_ns=4,
        attributes={"a": ("b",)},
        status="ERROR",
        status_message="broke",
        events=({"name": "event", "time_ns": 3, "attributes": {"c": 1}},),
        links=(
            {
                "trace_id": f"{1:032x}",
                "span_id": f"{1:016x}",
                "attributes": {"why": "x"},
            },
        ),
        resource={"service.name": "desk"},
        scope="scope",
        scope_version="1.2",
    )


def test_a_plain_span():
    """What is not set is empty."""
    with SpanRecorder() as recorder:
        recorder.provider.get_tracer("scope").start_span("root", start_time=5).end(6)
        (found,) = (row_of(span) for span in recorder.spans())
    assert (
        found.parent_id,
        found.status,
        found.status_message,
        found.scope_version,
    ) == ("", "UNSET", "", "")
    assert (found.events, found.links, found.attributes) == ((), (), {})


class Store:
    """Keeps rows, or refuses them."""

    def __init__(self, error=None):
        self.error, self.rows, self.closed = error, [], False

    def write(self, rows):
        """Writes."""
        if self.error is not None:
            raise self.error
        self.rows += rows
        return len(self.rows)

    def close(self):
        """Closes."""
        self.closed = True


def test_store_exporter():
    """A batch is written as rows; the store is closed with the exporter."""
    store = Store()
    exporter = StoreExporter(store)
    with SpanRecorder() as recorder:
        recorder.provider.get_tracer("t").start_span("root").end()
        assert exporter.export(recorder.spans()) is SpanExportResult.SUCCESS
        assert store.rows == recorder.rows()
    assert exporter.force_flush()
    exporter.shutdown()
    assert store.closed


def test_a_store_that_refuses(caplog):
    """The failure is counted, and told once."""
    HEALTH.reset()
    exporter = StoreExporter(
        Store(SourceError("x.db is read-only; name another store"))
    )
    assert [exporter.export([]), exporter.export([])] == [SpanExportResult.FAILURE] * 2
    assert HEALTH.counts() == {"the local store": 2}
    assert caplog.text.count("x.db is read-only; name another store") == 1
    HEALTH.reset()


def test_trace_ids_are_the_sdk_s_own():
    """One id finds the run in both places; any other string has an id of its own."""
    digits = "0123456789abcdef0123456789abcdef"
    assert f"{trace_id_of(f'trace_{digits}'):032x}" == digits
    assert 0 < trace_id_of("mine") != trace_id_of("trace_" + "0" * 32) > 0
    ids = SdkTraceIds()
    token = WANTED_TRACE_ID.set(7)
    assert ids.generate_trace_id() == 7
    WANTED_TRACE_ID.reset(token)
    assert ids.generate_trace_id() > 2**64


def test_a_provider_of_others_is_flushed_only():
    """It goes on; what we added is shut down and taken out."""
    exporter, ours = InMemorySpanExporter(), InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    theirs = SimpleSpanProcessor(exporter)
    provider.add_span_processor(theirs)
    added = SimpleSpanProcessor(ours)
    provider.add_span_processor(added)
    Sink(provider, owned=False, describe="x", added=[added]).shutdown(1)
    provider.get_tracer("t").start_span("later").end()
    assert [span.name for span in exporter.get_finished_spans()] == ["later"]
    assert ours.get_finished_spans() == ()
    assert provider._active_span_processor._span_processors == (theirs,)


def test_our_own_provider_is_closed():
    """With all that hangs on it."""
    store = Store()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(StoreExporter(store)))
    sink = Sink(provider, owned=True, describe="x", store="y")
    sink.tracer().start_span("root").end()
    sink.shutdown(1)
    assert store.closed
    assert [row.scope for row in store.rows] == ["itemtrace"]


def test_a_provider_that_cannot_flush():
    """The API's own providers have nothing to send, and nothing to take out."""
    sink = Sink(
        NoOpTracerProvider(),
        owned=False,
        describe="x",
        added=[SimpleSpanProcessor(InMemorySpanExporter())],
    )
    assert sink.flush(1)
    sink.shutdown(1)
