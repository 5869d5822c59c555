"""`install()` and `uninstall()`: put in once, taken out exactly."""

import threading

import pytest
import wrapt
from agents import Agent, Runner, add_trace_processor
from agents.run import AgentRunner
from agents.tracing import TracingProcessor, get_trace_provider
from agents.tracing.processors import default_processor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import itemtrace
from itemtrace.capture.guard import HEALTH
from itemtrace.errors import ConfigError, SourceError
from itemtrace.testing.items import message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder


class Other(TracingProcessor):
    """Somebody else's processor."""

    def on_trace_start(self, trace):
        """Does nothing."""

    on_trace_end = on_span_start = on_span_end = on_trace_start

    def shutdown(self):
        """Does nothing."""

    force_flush = shutdown


@pytest.fixture(autouse=True)
def out(sdk_processors, monkeypatch, tmp_path):
    """Ends without us, and with a local store of its own."""
    monkeypatch.setenv("ITEMTRACE_STORE", str(tmp_path / "local.db"))
    HEALTH.reset()
    yield
    itemtrace.uninstall()


def seen():
    """Returns what an installation may change."""
    names = ("run", "run_streamed", "run_sync")
    return (
        [AgentRunner.__dict__[name] for name in names],
        list(get_trace_provider()._multi_processor._processors),
        sorted(thread.name for thread in threading.enumerate()),
    )


def unchanged(before):
    """Asserts that all is as before, the very same objects."""
    now = seen()
    for was, found in zip(before[:2], now[:2], strict=True):
        assert len(was) == len(found)
        assert all(a is b for a, b in zip(was, found, strict=True))
    assert now[2] == before[2]


def test_taken_out_exactly():
    """The runner's functions and the processors are the very objects that were there."""
    add_trace_processor(Other())
    before = seen()
    itemtrace.install(exporter=InMemorySpanExporter())
    assert AgentRunner.__dict__["run"] is not before[0][0]
    itemtrace.uninstall()
    unchanged(before)


def test_cycles_leave_nothing():
    """Ten times in and out: no thread, no processor, no wrapper is left."""
    before = seen()
    for _ in range(10):
        itemtrace.install()
        itemtrace.uninstall()
    itemtrace.uninstall()
    unchanged(before)


def test_twice_is_once():
    """A second call gives the first installation, whatever it asks for."""
    first = itemtrace.install(exporter=InMemorySpanExporter())
    before = seen()
    assert itemtrace.install(messages="off") is first
    unchanged(before)
    assert repr(first) == "<itemtrace records to InMemorySpanExporter>"
    assert (first.describe, first.store) == ("InMemorySpanExporter", "")


async def test_wrapped_on_top():
    """Who wrapped after us keeps their wrapper; ours in it does nothing any more."""
    plain = AgentRunner.__dict__["run"]
    calls = []

    def theirs(wrapped, instance, args, kwargs):
        calls.append("theirs")
        return wrapped(*args, **kwargs)

    with SpanRecorder() as recorder:
        itemtrace.install(tracer_provider=recorder.provider)
        wrapt.wrap_function_wrapper("agents.run", "AgentRunner.run", theirs)
        wrapper = AgentRunner.__dict__["run"]
        try:
            itemtrace.uninstall()
            assert AgentRunner.__dict__["run"] is wrapper
            async with FakeProvider({"m": [[message("hi")]]}) as fake:
                agent = Agent(name="A", model=fake.responses_model("m"))
                result = await Runner.run(agent, "Hello")
        finally:
            AgentRunner.run = plain
        assert (calls, result.final_output) == (["theirs"], "hi")
        assert recorder.spans() == ()


def test_the_sdk_exporter_out_and_back():
    """`keep_openai_exporter=False` takes the uploader out, `uninstall` puts it in its place."""
    openai, other = default_processor(), Other()
    add_trace_processor(openai)
    add_trace_processor(other)
    before = seen()
    itemtrace.install(exporter=InMemorySpanExporter(), keep_openai_exporter=False)
    processors = get_trace_provider()._multi_processor._processors
    assert openai not in processors
    assert other in processors
    itemtrace.uninstall()
    unchanged(before)


def test_the_sdk_exporter_was_not_there():
    """Then there is nothing to take out or to put back."""
    before = seen()
    itemtrace.install(exporter=InMemorySpanExporter(), keep_openai_exporter=False)
    itemtrace.uninstall()
    unchanged(before)


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": "some"},
        {"profile": "tiny"},
        {"redact": ["no function"]},
        {"exporter": InMemorySpanExporter(), "tracer_provider": TracerProvider()},
    ],
)
def test_wrong_arguments_put_nothing_in(wrong):
    """What is refused leaves no trace."""
    before = seen()
    with pytest.raises(ConfigError):
        itemtrace.install(**wrong)
    unchanged(before)


def test_a_store_that_cannot_be_opened_puts_nothing_in(tmp_path):
    """Nor does a store that is none."""
    (tmp_path / "file").write_text("x")
    before = seen()
    with pytest.raises(SourceError):
        itemtrace.install(store=tmp_path / "file" / "a.db")
    unchanged(before)


async def test_the_processor_alone():
    """`ItemTraceProcessor` is a second door: spans only, and the ledger says so."""
    with SpanRecorder() as recorder:
        add_trace_processor(
            itemtrace.ItemTraceProcessor(
                tracer_provider=recorder.provider, messages="off"
            )
        )
        async with FakeProvider({"m": [[message("hi")]]}) as fake:
            agent = Agent(name="A", model=fake.responses_model("m"))
            await Runner.run(agent, "Hello")
        ledger = recorder.ledger()
    (run,) = ledger.runs
    assert [item.text for item in run.items] == ["hi"]
    assert ["only tracing callbacks" in gap.message for gap in ledger.gaps] == [True]
    assert itemtrace.health() == {}


def test_flush_without_installation():
    """There is nothing to send."""
    assert itemtrace.flush()


def test_flush_says_whether_all_was_taken():
    """A provider that cannot flush in time is reported."""

    class Stuck(TracerProvider):
        def force_flush(self, timeout_millis=30_000):
            asked.append(timeout_millis)
            return False

    asked = []
    itemtrace.install(tracer_provider=Stuck(shutdown_on_exit=False))
    assert itemtrace.flush(1.5) is False
    assert asked == [1_500]
