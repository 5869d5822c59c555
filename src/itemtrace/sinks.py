"""Where spans go: an existing provider, an OTLP endpoint, the local store, or several of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from itemtrace.errors import ConfigError
from itemtrace.stores import WritableStore, open_store


if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.sdk.trace.export import SpanExporter

    from itemtrace.capture.metrics import Metrics
    from itemtrace.capture.sinks import Sink

OTLP_ENDPOINTS: Final = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
)
STORE_DELAY_MS: Final = 200
"""How long a span may wait before it is in the local store; a write costs about 1 ms."""


def make_sink(
    *,
    exporter: SpanExporter | None = None,
    tracer_provider: Any = None,
    store: str | Path | WritableStore | bool | None = None,
    metrics: Metrics | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Sink:
    """Returns where spans go.

    In this order: nothing with `OTEL_SDK_DISABLED=true`; the given provider; the given exporter or
    store; a provider that the application has set; OTLP when an endpoint or `OTEL_TRACES_EXPORTER=otlp`
    is in the environment; else the local store. `store=` can be added to each.

    Raises:
        ConfigError: Arguments that exclude each other.
        SourceError: The store cannot be opened for writing.
    """
    from opentelemetry.trace import NoOpTracerProvider

    from itemtrace.capture.sinks import Sink

    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Sink(
            NoOpTracerProvider(),
            owned=False,
            describe="nowhere (OTEL_SDK_DISABLED is true)",
        )
    if exporter is not None and tracer_provider is not None:
        msg = "give exporter= or tracer_provider=, not both: add the exporter to your provider"
        raise ConfigError(msg)
    existing = tracer_provider
    if existing is None and exporter is None and store is None:
        existing = _application_provider()
    if existing is not None:
        given = tracer_provider is not None
        return _with_existing(existing, store, metrics, given=given)
    return _own(exporter, store, metrics, environ)


def _application_provider() -> Any:
    from opentelemetry.trace import (
        NoOpTracerProvider,
        ProxyTracerProvider,
        get_tracer_provider,
    )

    current = get_tracer_provider()
    if isinstance(current, ProxyTracerProvider | NoOpTracerProvider):
        return None
    return current


def _with_existing(
    provider: Any, store: Any, metrics: Metrics | None, *, given: bool
) -> Sink:
    from itemtrace.capture.sinks import Sink

    described = (
        "the tracer provider that was given"
        if given
        else "the application's tracer provider"
    )
    if not store:
        return Sink(provider, owned=False, describe=described)
    opened = _open(store)
    processor = _store_processor(opened, metrics)
    provider.add_span_processor(processor)
    return Sink(
        provider,
        owned=False,
        describe=f"{described} and {opened.url}",
        store=opened.url,
        added=[processor],
    )


def _own(
    exporter: SpanExporter | None,
    store: Any,
    metrics: Metrics | None,
    environ: Mapping[str, str],
) -> Sink:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import NoOpTracerProvider

    from itemtrace.capture.sinks import SdkTraceIds, Sink

    places: list[str] = []
    processors: list[Any] = []
    if exporter is not None:
        name = type(exporter).__name__
        processors.append(BatchSpanProcessor(_counted(exporter, name, metrics)))
        places.append(type(exporter).__name__)
    elif _wants_otlp(environ):
        otlp = _counted(_otlp_exporter(environ), "otlp", metrics)
        processors.append(BatchSpanProcessor(otlp))
        places.append("the OTLP endpoint of the environment")
    url = ""
    if store or (not processors and store is not False):
        opened = _open(store or None)
        processors.append(_store_processor(opened, metrics))
        url = opened.url
        places.append(url)
    if not processors:
        return Sink(
            NoOpTracerProvider(),
            owned=False,
            describe="nowhere (store=False and no endpoint)",
        )
    provider: TracerProvider = TracerProvider(id_generator=SdkTraceIds())
    for processor in processors:
        provider.add_span_processor(processor)
    return Sink(provider, owned=True, describe=" and ".join(places), store=url)


def _wants_otlp(environ: Mapping[str, str]) -> bool:
    exporters = environ.get("OTEL_TRACES_EXPORTER", "").split(",")
    if "none" in exporters:
        return False
    return "otlp" in exporters or any(environ.get(name) for name in OTLP_ENDPOINTS)


def _otlp_exporter(environ: Mapping[str, str]) -> SpanExporter:
    """Returns the OTLP exporter of the protocol that the environment names (http/protobuf else)."""
    protocol = environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"
    )
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
            OTLPSpanExporter as GrpcExporter,
        )

        return GrpcExporter()
    if protocol != "http/protobuf":
        msg = f"OTLP protocol {protocol!r} is not supported; set http/protobuf or grpc"
        raise ConfigError(msg)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
        OTLPSpanExporter,
    )

    return OTLPSpanExporter()


def _open(store: Any) -> WritableStore:
    if store is True:
        store = None
    if store is None or isinstance(store, str | Path):
        return open_store(store, write=True)
    given: WritableStore = store
    return given


def _counted(
    exporter: SpanExporter, name: str, metrics: Metrics | None
) -> SpanExporter:
    if metrics is None:
        return exporter
    from itemtrace.capture.metrics import CountedExporter

    return CountedExporter(exporter, name, metrics)


def _store_processor(store: WritableStore, metrics: Metrics | None) -> Any:
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from itemtrace.capture.sinks import StoreExporter

    exporter = _counted(StoreExporter(store), "store", metrics)
    return BatchSpanProcessor(exporter, schedule_delay_millis=STORE_DELAY_MS)
