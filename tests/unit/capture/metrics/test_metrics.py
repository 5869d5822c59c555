"""Metrics of real runs: what is emitted, with which attributes, and that nothing is when they are off."""

import subprocess
import sys
import threading
from collections import Counter
from typing import Any

import pytest
from agents import (
    Agent,
    RunConfig,
    Runner,
    RunState,
    add_trace_processor,
    custom_span,
    function_tool,
    generation_span,
    trace,
)
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

import itemtrace
from itemtrace import semconv_metrics
from itemtrace.capture.guard import HEALTH
from itemtrace.capture.metrics import Meters, instruments, metrics, points
from itemtrace.capture.tools import ToolCalls
from itemtrace.errors import ConfigError, SourceError
from itemtrace.semconv import KEYS
from itemtrace.semconv_metrics import ATTRIBUTES, METRICS
from itemtrace.testing.demo import run_demo
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder


class Reader:
    """Reads what a meter provider of its own was given."""

    def __init__(self):
        self.reader = InMemoryMetricReader()
        self.provider = MeterProvider([self.reader], shutdown_on_exit=False)

    def metrics(self):
        """Returns the metrics by name."""
        data: Any = self.reader.get_metrics_data()
        if data is None:
            return {}
        (resource,) = data.resource_metrics
        (scope,) = resource.scope_metrics
        assert scope.scope.name == "itemtrace"
        return {metric.name: metric for metric in scope.metrics}

    def values(self, name, *keys):
        """Returns the values of a metric by some attributes; the counts of a histogram."""
        found = Counter()
        metric = self.metrics().get(name)
        for point in metric.data.data_points if metric else ():
            value = getattr(point, "value", None)
            of = tuple(point.attributes.get(key) for key in keys)
            found[of] += point.count if value is None else value
        return dict(found)


@pytest.fixture
def reader():
    """A meter provider that is read in the test."""
    made = Reader()
    yield made
    made.provider.shutdown()


@pytest.fixture
def measure(sdk_processors, reader):
    """Installs itemtrace on a recorder, with metrics."""
    HEALTH.reset()
    with SpanRecorder() as recorder:

        def put(**options):
            given = {"tracer_provider": recorder.provider, "metrics": reader.provider}
            itemtrace.install(**{**given, **options})
            return recorder

        yield put
        itemtrace.uninstall()
        HEALTH.reset()


@function_tool(needs_approval=True)
async def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


@function_tool
async def look() -> str:
    """Looks."""
    return "seen"


NEEDS_MORE = {
    "gen_ai.client.inference.time_to_first_chunk",
    "gen_ai.client.operation.time_to_first_chunk",
    "gen_ai.client.inference.usage.cache_read.input_tokens",
    "gen_ai.client.inference.usage.cache_write.input_tokens",
    "itemtrace.model.retries",
    "itemtrace.sink.spans",
    "itemtrace.failures",
}
"""Metrics that the demo gives no value to; each is seen in a test of its own."""


async def test_emitted_is_registered_and_registered_is_emitted(measure, reader):
    """The demo emits the registry: names, units, buckets, and no attribute beside those listed."""
    prices = {"currency": "EUR", "models": {"desk-": {"input": 1, "output": 2}}}
    measure(compat=True, prices=prices)
    await run_demo()
    quiet = RunConfig(trace_include_sensitive_data=False)
    async with FakeProvider({"m": [[message("Hi.")]]}) as fake:
        agent = Agent(name="A", model=fake.responses_model("m"))
        await Runner.run(agent, "Hello", run_config=quiet)
    found = reader.metrics()
    assert set(METRICS) - set(found) == NEEDS_MORE
    for name, metric in found.items():
        wanted = METRICS[name]
        assert (metric.unit, metric.description) == (wanted.unit, wanted.brief)
        for point in metric.data.data_points:
            assert set(point.attributes) <= set(wanted.attributes), name
            assert None not in point.attributes.values()
            bounds = getattr(point, "explicit_bounds", ())
            assert tuple(bounds) == wanted.buckets


def test_attributes_are_documented():
    """Every attribute of a metric is one of spans, or has a line of its own."""
    used = {key for metric in METRICS.values() for key in metric.attributes}
    assert used - set(KEYS) == set(ATTRIBUTES)


async def test_older_names_need_compat(measure, reader):
    """Without `compat` the names that the conventions gave up are not there."""
    measure()
    await run_demo()
    assert {name for name in reader.metrics() if METRICS[name].compat} == set()


async def test_exemplars_link_to_traces(measure, reader):
    """A duration has an exemplar with the span that took so long."""
    recorder = measure()
    await run_demo()
    metric = reader.metrics()["gen_ai.execute_tool.duration"]
    linked = {
        f"{exemplar.span_id:016x}"
        for point in metric.data.data_points
        for exemplar in point.exemplars
    }
    tools = {r.span_id for r in recorder.rows() if r.name.startswith("execute_tool")}
    assert linked
    assert linked <= tools


OFF = """
import asyncio, sys
import itemtrace
from agents import set_trace_processors
from itemtrace.testing.recorder import SpanRecorder
from itemtrace.testing.demo import run_demo
set_trace_processors([])
with SpanRecorder() as recorder:
    installed = itemtrace.install(tracer_provider=recorder.provider, metrics={metrics})
    asyncio.run(run_demo())
    itemtrace.uninstall()
assert installed.metrics == ""
print([name for name in sys.modules if "itemtrace.capture.metrics" in name or "prometheus" in name])
"""


@pytest.mark.parametrize("wanted", ["None", "False"])
def test_nothing_is_made_when_metrics_are_off(wanted):
    """Without `OTEL_METRICS_EXPORTER` not even the modules are imported."""
    done = subprocess.run(
        [sys.executable, "-c", OFF.format(metrics=wanted)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": ""},
    )
    assert done.stdout == "[]\n"


async def test_spans_that_are_not_sampled_are_measured(measure, reader):
    """Durations and tokens do not depend on the sampler; what is of the ledger does."""
    with_none = TracerProvider(sampler=ALWAYS_OFF)
    measure(tracer_provider=with_none)
    await run_demo()
    calls = reader.values("gen_ai.client.inference.duration", "gen_ai.response.model")
    assert calls == {("desk-mini",): 2, ("desk-large",): 4, ("translate-mini",): 2}
    tokens = reader.values("itemtrace.tokens", "gen_ai.agent.name")
    assert set(tokens) == {("Front desk",), ("Orders",), ("Translator",)}
    durations = reader.metrics()["gen_ai.execute_tool.duration"].data.data_points
    assert all(0 <= point.sum < 60 for point in durations)
    assert reader.values("itemtrace.runs") == {}
    assert itemtrace.health() == {}


async def test_metrics_from_tracing_callbacks_alone(sdk_processors, reader):
    """The processor without the runner seam measures too, and says that not all was captured."""
    with SpanRecorder() as recorder:
        processor = itemtrace.ItemTraceProcessor(
            tracer_provider=recorder.provider, metrics=reader.provider
        )
        add_trace_processor(processor)
        async with FakeProvider({"m": [[message("Hi.")]]}) as fake:
            await Runner.run(Agent(name="A", model=fake.responses_model("m")), "Hello")
        processor.shutdown()
    assert reader.values("itemtrace.runs", "gen_ai.agent.name") == {("A",): 1}
    causes = reader.values("itemtrace.gaps", "itemtrace.gap.cause")
    assert causes == {("not captured",): 1}


async def test_no_values_without_end(measure, reader, monkeypatch):
    """An attribute takes a number of values; what comes later is one other."""
    monkeypatch.setattr(instruments, "MOST_VALUES", 2)
    measure()
    script = {"m": [[message("Hi.")]] * 4}
    async with FakeProvider(script) as fake:
        for name in ("A", "B" * 500, "C", "A"):
            await Runner.run(Agent(name=name, model=fake.responses_model("m")), "Hello")
    assert reader.values("itemtrace.runs", "gen_ai.agent.name") == {
        ("A",): 2,
        ("B" * 120,): 1,
        ("(other)",): 1,
    }


async def test_metadata_is_let_through_by_name(measure, reader, monkeypatch):
    """Only the keys of `ITEMTRACE_METRICS_METADATA` become attributes."""
    monkeypatch.setenv("ITEMTRACE_METRICS_METADATA", "shop, absent")
    measure()
    await run_demo()
    (point, *_) = reader.metrics()["itemtrace.runs"].data.data_points
    keys = {key for key in point.attributes if key.startswith("itemtrace.trace.")}
    assert keys == {"itemtrace.trace.metadata.shop"}


async def test_redacted_and_failed_are_gaps(measure, reader):
    """A run that a redaction changed has one gap for it, and one for what failed."""
    recorder = measure(redact=[lambda item: {**item, "status": "gone"}])
    async with FakeProvider({"m": [[message("Hi.")]]}) as fake:
        await Runner.run(Agent(name="A", model=fake.responses_model("m")), "Hello")
    found = Counter((gap.cause.value,) for gap in recorder.ledger().gaps)
    assert reader.values("itemtrace.gaps", "itemtrace.gap.cause") == dict(found)


async def test_fault_of_the_recording_is_a_gap(measure, reader, monkeypatch):
    """What the guard caught is `not captured`, once for the run, and a failure at its place."""
    recorder = measure()

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(ToolCalls, "started", broken)
    script = {"m": [[function_call("look", "call_1")], [message("Hi.")]]}
    async with FakeProvider(script) as fake:
        agent = Agent(name="A", model=fake.responses_model("m"), tools=[look])
        await Runner.run(agent, "Hello")
    causes = [gap.cause.value for gap in recorder.ledger().gaps]
    assert "not captured" in causes
    assert reader.values("itemtrace.gaps", "itemtrace.gap.cause") == {
        ("not captured",): 1
    }
    (place,) = itemtrace.health()
    failures = reader.values("itemtrace.failures", "itemtrace.failure.place")
    assert failures == {(place,): itemtrace.health()[place]}


async def test_metrics_that_fail_change_no_ledger(measure, monkeypatch):
    """A fault in the metrics is counted and leaves the run and its ledger whole."""

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(instruments.Instruments, "add", broken)
    recorder = measure()
    await run_demo()
    assert recorder.ledger().exact
    assert set(itemtrace.health()) == {"metrics"}


def test_first_chunk_of_a_stream(reader):
    """A model span that knows when its first chunk came gives that time, under both names."""
    made = instruments.Instruments(
        reader.provider.get_meter("itemtrace"),
        compat=True,
        observe={"itemtrace.failures": lambda _: ()},
    )
    attributes = {"gen_ai.response.time_to_first_chunk": 0.5}
    points.model_call(made, points.Point(2.0, attributes, Context()), None)
    for name in ("inference", "operation"):
        metric = reader.metrics()[f"gen_ai.client.{name}.time_to_first_chunk"]
        assert [point.sum for point in metric.data.data_points] == [0.5]


def test_handoff_that_leads_nowhere(reader):
    """A handoff without a target is none."""
    made = instruments.Instruments(
        reader.provider.get_meter("itemtrace"),
        compat=False,
        observe={"itemtrace.failures": lambda _: ()},
    )
    attributes = {"itemtrace.handoff.from_agent": "A"}
    points.handoff(made, points.Point(2.0, attributes, Context()), None)
    assert reader.values("itemtrace.handoffs") == {}


async def test_span_types_that_have_no_metric(measure, reader):
    """A span of the application is no point, and a model call outside of agents is nobody's."""
    measure()
    with trace("t"), custom_span("mine"):
        pass
    with trace("t"), generation_span(model="m", usage={"input_tokens": 3}):
        pass
    tokens = reader.values("itemtrace.tokens", "gen_ai.agent.name")
    assert tokens == {(None,): 3}
    assert itemtrace.health() == {}


def test_store_that_cannot_be_opened(sdk_processors, monkeypatch):
    """What was started for metrics ends when the rest cannot be installed."""
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "prometheus")
    monkeypatch.setenv("OTEL_EXPORTER_PROMETHEUS_PORT", "0")
    before = threading.active_count()
    with pytest.raises(SourceError):
        itemtrace.install(store="/proc/nowhere/runs.db")
    assert threading.active_count() == before


async def test_installation_says_where_metrics_go(measure, reader):
    """`install()` returns where, and flushing it flushes the metrics too."""
    measure()
    installed = itemtrace.install()
    assert installed.metrics == "the meter provider that was given"
    assert itemtrace.flush()


# --- approvals --------------------------------------------------------------------------


TWO = {
    "m": [
        [
            function_call("pay", "call_1", amount=1),
            function_call("pay", "call_2", amount=2),
        ],
        [message("Done.")],
    ]
}


async def test_approval_that_is_still_waited_for_is_asked_once(measure, reader):
    """A run resumed with one decision of two waits on; the other was not asked for again."""
    measure()
    async with FakeProvider(TWO) as fake:
        agent = Agent(name="A", model=fake.responses_model("m"), tools=[pay])
        paused = await Runner.run(agent, "Pay.")
        waiting = reader.values("itemtrace.approvals.waiting", "gen_ai.tool.name")
        assert waiting == {("pay",): 2}
        state = paused.to_state()
        state.approve(paused.interruptions[0])
        paused = await Runner.run(agent, state)
        waiting = reader.values("itemtrace.approvals.waiting", "gen_ai.tool.name")
        assert waiting == {("pay",): 1}
        state = paused.to_state()
        state.reject(paused.interruptions[0])
        await Runner.run(agent, state)
    key = "itemtrace.approval.decision"
    decided = reader.values("itemtrace.approvals", key)
    assert decided == {("requested",): 2, ("approved",): 1, ("rejected",): 1}
    assert reader.values("itemtrace.approvals.waiting") == {(): 0}
    assert reader.values("itemtrace.approval.wait", key) == {
        ("approved",): 1,
        ("rejected",): 1,
    }


async def test_approval_that_another_process_asked_for(measure, reader):
    """The decision counts; how long it took is not known here."""
    async with FakeProvider(TWO) as fake:
        agent = Agent(name="A", model=fake.responses_model("m"), tools=[pay])
        text = (await Runner.run(agent, "Pay.")).to_state().to_string()
        measure()
        state = await RunState.from_string(agent, text)
        for item in state.get_interruptions():
            state.approve(item)
        await Runner.run(agent, state)
    assert reader.values("itemtrace.approvals.waiting") == {(): -2}
    assert reader.values("itemtrace.approval.wait") == {}


def test_waiting_approvals_are_not_remembered_without_end(reader, monkeypatch):
    """The oldest is forgotten, and then has no waiting time."""
    monkeypatch.setattr(metrics, "MOST_WAITING", 1)
    now = iter([0, 5, 2_000_000_005])
    settings, meters = metrics.MetricsSettings(), Meters(reader.provider, "a test")
    made = metrics.Metrics(meters, "1", settings, lambda: next(now))
    made.asked("trace", "one")
    made.asked("trace", "two")
    assert made.waited("trace", "one") is None
    assert made.waited("trace", "two") == 2.0
    assert semconv_metrics.APPROVAL_WAIT.unit == "s"


def test_settings_that_are_wrong(sdk_processors, reader, monkeypatch):
    """A wrong price table is said at once, and nothing is installed."""
    monkeypatch.setenv("ITEMTRACE_PRICES", "/nowhere/prices.json")
    with pytest.raises(ConfigError, match=r"price table /nowhere/prices\.json"):
        itemtrace.install(store=False, metrics=reader.provider)
    assert itemtrace.flush()
