"""Where metrics go: the application's meter provider, or one of ours as the environment says."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from itemtrace.errors import ConfigError, MissingExtra


if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricReader

EXPORTERS: Final = "OTEL_METRICS_EXPORTER"
"""`otlp`, `prometheus`, `console`, several of them with commas, or `none`; unset is off."""

PROMETHEUS_HOST: Final = "OTEL_EXPORTER_PROMETHEUS_HOST"
PROMETHEUS_PORT: Final = "OTEL_EXPORTER_PROMETHEUS_PORT"
METADATA: Final = "ITEMTRACE_METRICS_METADATA"
"""Keys of a trace's metadata that may be attributes of `itemtrace.runs`, with commas."""


@dataclass
class Meters:
    """A meter provider.

    Attributes:
        provider: Makes meters.
        describe: Where metrics go, for people.
        flushers: What sends what was measured, each within some milliseconds. A reader that waits to
            be asked is none: the Prometheus reader would give what it was flushed, and again.
        closers: What ends what is ours, in order.
    """

    provider: MeterProvider
    describe: str
    flushers: list[Callable[[float], object]] = field(
        default_factory=list[Callable[[float], object]]
    )
    closers: list[Callable[[], object]] = field(
        default_factory=list[Callable[[], object]]
    )

    def flush(self, timeout: float) -> bool:
        """Sends what was measured; returns whether all of it was taken in time."""
        return all(flush(timeout * 1000) for flush in self.flushers)

    def close(self) -> None:
        """Ends what is ours; a provider of the application stays as it is."""
        for closer in self.closers:
            closer()


def make_meters(
    wanted: bool | MeterProvider | None, environ: Mapping[str, str] = os.environ
) -> Meters | None:
    """Returns where metrics go, or None when they are off.

    Args:
        wanted: A provider, used as it is; True for the application's or one of ours; False for
            none; None for what `OTEL_METRICS_EXPORTER` says, off when it is not set.
        environ: The environment.

    Raises:
        ConfigError: `OTEL_METRICS_EXPORTER` names an exporter that is not known.
        MissingExtra: It names one whose package is not there.
    """
    named = [name.strip() for name in environ.get(EXPORTERS, "").split(",")]
    names = [name for name in named if name]
    off = wanted is False or "none" in names or _disabled(environ)
    if off or (wanted is None and not names):
        return None
    if wanted is not None and wanted is not True:
        return _of_application(wanted, "the meter provider that was given")
    existing = _application_provider()
    if existing is not None:
        return _of_application(existing, "the application's meter provider")
    return _own(names or ["otlp"], environ)


def metadata_keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the keys that `ITEMTRACE_METRICS_METADATA` allows."""
    named = environ.get(METADATA, "").split(",")
    return tuple(name.strip() for name in named if name.strip())


def _disabled(environ: Mapping[str, str]) -> bool:
    return environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"


def _application_provider() -> Any:
    from opentelemetry.metrics import NoOpMeterProvider, get_meter_provider

    current = get_meter_provider()
    # what stands there until the application sets one is of a private class, without `force_flush`
    unset = isinstance(current, NoOpMeterProvider) or not hasattr(
        current, "force_flush"
    )
    return None if unset else current


def _of_application(provider: Any, describe: str) -> Meters:
    flush = getattr(provider, "force_flush", None)
    return Meters(provider, describe, [] if flush is None else [flush])


def _own(names: list[str], environ: Mapping[str, str]) -> Meters:
    from opentelemetry.sdk.metrics import MeterProvider

    readers: list[MetricReader] = []
    places: list[str] = []
    flushers: list[Callable[[float], object]] = []
    closers: list[Callable[[], object]] = []
    for name in names:
        make = _READERS.get(name)
        if make is None:
            msg = f"{EXPORTERS}={name!r} is not known; choose of {', '.join(_READERS)}, none"
            raise ConfigError(msg)
        reader, place, close = make(environ)
        readers.append(reader)
        if name not in _PULLED:
            flushers.append(reader.force_flush)
        places.append(place)
        closers += close
    provider = MeterProvider(metric_readers=readers, shutdown_on_exit=False)
    where = " and ".join(places)
    return Meters(provider, where, flushers, [provider.shutdown, *closers])


Made = tuple["MetricReader", str, list[Callable[[], object]]]


def _otlp(environ: Mapping[str, str]) -> Made:
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    protocol = environ.get("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL") or environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"
    )
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (
            OTLPMetricExporter as GrpcExporter,
        )

        return PeriodicExportingMetricReader(GrpcExporter()), "OTLP", []
    if protocol != "http/protobuf":
        msg = f"OTLP protocol {protocol!r} is not supported; set http/protobuf or grpc"
        raise ConfigError(msg)
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import (
        OTLPMetricExporter,
    )

    return PeriodicExportingMetricReader(OTLPMetricExporter()), "OTLP", []


def _prometheus(environ: Mapping[str, str]) -> Made:
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from prometheus_client import start_http_server
    except ImportError as error:
        package = "opentelemetry-exporter-prometheus"
        raise MissingExtra(package, "metrics") from error
    host = environ.get(PROMETHEUS_HOST, "localhost")
    given = environ.get(PROMETHEUS_PORT, "9464")
    if not given.isdecimal():
        msg = f"{PROMETHEUS_PORT}={given!r} is no port; give a number"
        raise ConfigError(msg)
    try:
        server, thread = start_http_server(int(given), host)
    except OSError as error:
        msg = f"{host}:{given} cannot serve metrics ({error}); set {PROMETHEUS_PORT}"
        raise ConfigError(msg) from error
    reader = PrometheusMetricReader()
    where = f"http://{host}:{server.server_port}/metrics"
    return reader, where, [server.shutdown, server.server_close, thread.join]


def _console(_: Mapping[str, str]) -> Made:
    from opentelemetry.sdk.metrics.export import (
        ConsoleMetricExporter,
        PeriodicExportingMetricReader,
    )

    return PeriodicExportingMetricReader(ConsoleMetricExporter()), "the console", []


_PULLED: Final = frozenset({"prometheus"})

_READERS: Final[dict[str, Callable[[Mapping[str, str]], Made]]] = {
    "otlp": _otlp,
    "prometheus": _prometheus,
    "console": _console,
}
"""A name in `OTEL_METRICS_EXPORTER` -> what makes its reader."""
