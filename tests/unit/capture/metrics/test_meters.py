"""Where metrics go: what the environment says, the application's provider, and what refuses."""

import socket
import sys
import threading
import urllib.request
from typing import Any

import opentelemetry.metrics
import pytest
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from itemtrace.capture.metrics import (
    CountedExporter,
    Meters,
    Metrics,
    MetricsSettings,
    make_meters,
)
from itemtrace.capture.metrics.meters import metadata_keys
from itemtrace.errors import ConfigError, MissingExtra
from itemtrace.sinks import make_sink


NAME = "OTEL_METRICS_EXPORTER"
PORT = "OTEL_EXPORTER_PROMETHEUS_PORT"


@pytest.mark.parametrize(
    ("wanted", "environ"),
    [
        (None, {}),
        (None, {NAME: ""}),
        (None, {NAME: "none"}),
        (False, {NAME: "otlp"}),
        (True, {NAME: "none"}),
        (True, {"OTEL_SDK_DISABLED": "true"}),
    ],
)
def test_off(wanted, environ):
    """Metrics are off unless they are asked for, and `none` or the disabled SDK win."""
    assert make_meters(wanted, environ) is None


@pytest.mark.parametrize(
    ("environ", "places"),
    [
        ({}, "OTLP"),
        ({NAME: "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTLP"),
        ({NAME: "console, otlp"}, "the console and OTLP"),
    ],
)
def test_pushed(environ, places, capsys):
    """A provider of ours sends what the environment names; it ends with its threads."""
    before = threading.active_count()
    made = make_meters(True, environ)
    assert made.describe == places
    assert len(made.flushers) == len(places.split(" and "))
    made.close()
    assert threading.active_count() == before


def test_prometheus():
    """The endpoint serves until it is closed, and a flush does not double what it serves."""
    before = threading.active_count()
    made = make_meters(None, {NAME: "prometheus", PORT: "0"})
    made.provider.get_meter("m").create_counter("c").add(1, {"a": "b"})
    assert made.flush(1)
    with urllib.request.urlopen(made.describe) as reply:  # noqa: S310 - our own
        lines = reply.read().decode().splitlines()
    assert len([line for line in lines if line.startswith("c_total{")]) == 1
    made.close()
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        (
            {NAME: "statsd"},
            "'statsd' is not known; choose of otlp, prometheus, console",
        ),
        ({NAME: "prometheus", PORT: "http"}, "'http' is no port"),
        (
            {NAME: "otlp", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/json"},
            "'http/json' is not supported",
        ),
    ],
)
def test_wrong_environment(environ, said):
    """What is not known is named."""
    with pytest.raises(ConfigError, match=said):
        make_meters(None, environ)


def test_port_is_taken():
    """A port that another process has is named, with the variable that changes it."""
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        environ = {NAME: "prometheus", PORT: str(taken.getsockname()[1])}
        with pytest.raises(ConfigError, match=f"cannot serve metrics.*set {PORT}"):
            make_meters(None, environ)


def test_no_prometheus_package(monkeypatch):
    """The extra that installs it is named."""
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.prometheus", None)
    with pytest.raises(MissingExtra, match=r"itemtrace\[metrics\]"):
        make_meters(None, {NAME: "prometheus"})


def test_providers_of_the_application(monkeypatch):
    """A given provider, or the one that the application set, is flushed and never closed."""
    provider = MeterProvider(shutdown_on_exit=False)
    given = make_meters(provider, {})
    assert (given.provider, given.describe) == (
        provider,
        "the meter provider that was given",
    )
    monkeypatch.setattr(opentelemetry.metrics, "get_meter_provider", lambda: provider)
    found = make_meters(True, {})
    assert (found.provider, found.closers) == (provider, [])
    assert found.describe == "the application's meter provider"
    assert found.flush(1)
    bare = make_meters(NoOpMeterProvider(), {})
    assert bare.flush(1)
    provider.shutdown()


def test_metadata_keys():
    """Keys stand between commas."""
    environ = {"ITEMTRACE_METRICS_METADATA": "shop, ,language"}
    assert metadata_keys(environ) == ("shop", "language")


class Exporter(SpanExporter):
    """An exporter that gives a result, or raises it."""

    def __init__(self, result):
        self.result = result
        self.closed = False

    def export(self, spans):
        """Does it."""
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def shutdown(self):
        """Remembers it."""
        self.closed = True

    def force_flush(self, timeout_millis=30_000):
        """Nothing waits here."""
        return True


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (SpanExportResult.SUCCESS, "taken"),
        (SpanExportResult.FAILURE, "refused"),
        (ConnectionError("gone"), "refused"),
    ],
)
def test_counted_exporter(result, outcome):
    """Spans are counted by what became of them; the exporter's own answer goes on."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    metrics = Metrics(Meters(provider, "a test"), "1", MetricsSettings())
    exporter = Exporter(result)
    counted = CountedExporter(exporter, "otlp", metrics)
    if isinstance(result, Exception):
        with pytest.raises(ConnectionError, match="gone"):
            counted.export([None, None])
    else:
        assert counted.export([None, None]) is result
    data: Any = reader.get_metrics_data()
    (resource,) = data.resource_metrics
    found = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    (point,) = found["itemtrace.sink.spans"].data.data_points
    assert (point.value, dict(point.attributes)) == (
        2,
        {"itemtrace.sink": "otlp", "itemtrace.sink.outcome": outcome},
    )
    assert counted.force_flush()
    counted.shutdown()
    assert exporter.closed
    provider.shutdown()


def test_sinks_are_counted_with_metrics_only(tmp_path):
    """The exporter is wrapped when there are metrics, and is itself when there are none."""
    provider = MeterProvider(shutdown_on_exit=False)
    metrics = Metrics(Meters(provider, "a test"), "1", MetricsSettings())
    kinds = []
    for given in (metrics, None):
        exporter = Exporter(SpanExportResult.SUCCESS)
        sink = make_sink(
            exporter=exporter, store=tmp_path / "s.db", metrics=given, environ={}
        )
        processors = sink.provider._active_span_processor._span_processors
        kinds += [type(p.span_exporter).__name__ for p in processors]
        sink.shutdown(1)
    assert kinds == ["CountedExporter"] * 2 + ["Exporter", "StoreExporter"]
    provider.shutdown()
