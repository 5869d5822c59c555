"""`install()` and `uninstall()`: one line that records every run, and one that undoes it.

Nothing here is done at import. The Agents SDK and the OpenTelemetry SDK are loaded when called.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from itemtrace.config import settings as read_settings
from itemtrace.sinks import make_sink


if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.sdk.trace.export import SpanExporter

    from itemtrace.capture.metrics import Metrics
    from itemtrace.capture.processor import Processor
    from itemtrace.capture.runner import RunnerSeam
    from itemtrace.limits import Profile
    from itemtrace.stores import WritableStore

METRICS_EXPORTER: Final = "OTEL_METRICS_EXPORTER"
"""Unset is off (docs/metrics.md)."""

Redactor = Callable[[dict[str, Any]], dict[str, Any] | None]


class Installation:
    """What `install()` put in.

    Attributes:
        describe: One line for people: where spans go.
        store: URL of the local store that is written, or empty.
        metrics: Where metrics go, or empty when they are off.
    """

    def __init__(
        self,
        processor: Processor,
        seam: RunnerSeam,
        removed: tuple[Any, ...],
    ) -> None:
        self._processor = processor
        self._seam = seam
        self._removed = removed

    def __repr__(self) -> str:
        return f"<itemtrace records to {self.describe}>"

    @property
    def describe(self) -> str:
        """Where spans go."""
        return self._processor.sink.describe

    @property
    def store(self) -> str:
        """URL of the local store that is written, or empty."""
        return self._processor.sink.store

    @property
    def metrics(self) -> str:
        """Where metrics go, or empty when they are off."""
        measured = self._processor.tree.metrics
        return measured.meters.describe if measured is not None else ""

    def flush(self, timeout: float) -> bool:
        """Sends what has ended; returns whether all was taken in time."""
        taken = self._processor.sink.flush(timeout)
        measured = self._processor.tree.metrics
        return (measured is None or measured.meters.flush(timeout)) and taken

    def remove(self) -> None:
        """Takes everything out again."""
        self._seam.remove()
        self._processor.enabled = False
        _swap_processors(out=self._processor, back=self._removed)
        self._processor.shutdown()


_lock = threading.Lock()
_installed: Installation | None = None


def install(  # noqa: PLR0913 - one keyword for each thing a user may choose
    *,
    exporter: SpanExporter | None = None,
    tracer_provider: Any = None,
    store: str | Path | WritableStore | bool | None = None,
    messages: str | None = None,
    redact: Sequence[Redactor] = (),
    profile: str | Profile | None = None,
    compat: bool = False,
    conventions: Sequence[str] | None = None,
    state: bool = True,
    keep_openai_exporter: bool = True,
    metrics: bool | MeterProvider | None = None,
    prices: str | Path | Mapping[str, Any] | None = None,
) -> Installation:
    """Records every run of the Agents SDK from now on, with its content.

    Where spans go: the given provider or exporter; else a provider that the application has set; else
    the OTLP endpoint of the environment (`OTEL_EXPORTER_OTLP_ENDPOINT`); else the local store. `store=`
    adds the local store (`True`) or another one to these.

    Calling it again changes nothing and returns the first installation; `uninstall()` first to change
    settings.

    Args:
        exporter: An OpenTelemetry span exporter.
        tracer_provider: An OpenTelemetry tracer provider, used as it is.
        store: Path or URL of a store, a store, `True` for the local one, `False` for none.
        messages: Readable copies in `gen_ai.*` attributes: `delta` (default), `full` or `off`.
        redact: Functions over raw items, applied before anything is recorded.
        profile: How records are cut to fit a backend, a name in `itemtrace.limits.PROFILES`.
        compat: Emit the older GenAI names beside the newer ones.
        conventions: `("genai", "openinference")` also writes OpenInference's attributes, for Phoenix
            and Arize; the default is `("genai",)`.
        state: Keep the SDK's state of runs that wait for an approval, without the context object.
        keep_openai_exporter: False takes the SDK's own exporter to OpenAI out until `uninstall()`.
        metrics: A meter provider; True for the application's, or one of ours that sends OTLP; False for
            none; by default what `OTEL_METRICS_EXPORTER` says, and none when it is not set.
        prices: What tokens cost, a JSON file or its content (docs/metrics.md).

    Raises:
        ConfigError: A value is not known, or two exclude each other.
        SourceError: The store cannot be opened for writing.
    """
    global _installed  # noqa: PLW0603 - one installation in a process
    with _lock:
        if _installed is not None:
            return _installed
        chosen = read_settings(
            messages=messages,
            profile=profile,
            redact=redact,
            compat=compat,
            conventions=conventions,
            state=state,
        )
        measured = _metrics(metrics, prices, compat=compat)
        try:
            sink = make_sink(
                exporter=exporter,
                tracer_provider=tracer_provider,
                store=store,
                metrics=measured,
            )
        except BaseException:
            if measured is not None:
                measured.meters.close()
            raise
        from agents.tracing import add_trace_processor

        from itemtrace.capture.processor import Processor
        from itemtrace.capture.runner import RunnerSeam

        processor = Processor(chosen, sink, measured)
        removed = () if keep_openai_exporter else _take_out_openai_exporter()
        add_trace_processor(processor)
        seam = RunnerSeam(processor.tree)
        seam.put()
        _installed = Installation(processor, seam, removed)
        atexit.register(_at_exit)
        return _installed


def uninstall() -> None:
    """Stops recording, sends what has ended, and puts back exactly what was there."""
    global _installed
    with _lock:
        installed, _installed = _installed, None
    if installed is not None:
        installed.remove()
        atexit.unregister(_at_exit)


def flush(timeout: float = 30.0) -> bool:
    """Sends what has ended; call it before a process is frozen or killed.

    Args:
        timeout: Seconds.

    Returns:
        Whether all was taken in time; True when nothing is installed.
    """
    installed = _installed
    return installed.flush(timeout) if installed is not None else True


def health() -> dict[str, int]:
    """Returns what itemtrace could not do so far: place -> count. Empty when all went well."""
    from itemtrace.capture.guard import HEALTH

    return HEALTH.counts()


def ItemTraceProcessor(**options: Any) -> Processor:  # noqa: N802 - a class to its users
    """Returns a `TracingProcessor` for `add_trace_processor`, the door without the runner seam.

    It records all that tracing callbacks give; the ledger says that it was captured from spans only.

    Args:
        **options: `exporter`, `tracer_provider`, `store`, `messages`, `redact`, `profile`, `compat`,
            `conventions`, `metrics`, `prices`, as in `install`.
    """
    from itemtrace.capture.processor import Processor

    where = {
        name: options.pop(name)
        for name in ("exporter", "tracer_provider", "store")
        if name in options
    }
    wanted, prices = options.pop("metrics", None), options.pop("prices", None)
    compat = options.get("compat", False)
    measured = _metrics(wanted, prices, compat=compat)
    settings = read_settings(**options)
    return Processor(settings, lambda: make_sink(**where, metrics=measured), measured)


def _metrics(
    wanted: bool | MeterProvider | None,
    prices: str | Path | Mapping[str, Any] | None,
    *,
    compat: bool,
) -> Metrics | None:
    """Returns what measures; nothing of it is even imported when metrics are off."""
    if wanted is False or (wanted is None and not os.environ.get(METRICS_EXPORTER)):
        return None
    from itemtrace.capture.calls import versions
    from itemtrace.capture.metrics import (
        Metrics,
        MetricsSettings,
        make_meters,
        metadata_keys,
        read_prices,
    )

    table = prices or os.environ.get("ITEMTRACE_PRICES")
    settings = MetricsSettings(
        compat=compat,
        prices=read_prices(table) if table else None,
        metadata=metadata_keys(os.environ),
    )
    meters = make_meters(wanted)
    if meters is None:
        return None
    return Metrics(meters, versions()["version"], settings)


def _at_exit() -> None:
    installed = _installed
    if installed is not None:
        installed.flush(5.0)


def _multi() -> Any:
    """Returns the SDK's list of processors (agents/tracing/provider.py, `_multi_processor`)."""
    from agents.tracing import get_trace_provider

    return getattr(get_trace_provider(), "_multi_processor", None)


def _take_out_openai_exporter() -> tuple[Any, ...]:
    from agents.tracing.processors import default_processor

    openai = default_processor()
    multi = _multi()
    present = getattr(multi, "_processors", ())
    if openai not in present:
        return ()
    multi.set_processors(
        [processor for processor in present if processor is not openai]
    )
    return (openai,)


def _swap_processors(*, out: Any, back: tuple[Any, ...]) -> None:
    multi = _multi()
    present = getattr(multi, "_processors", None)
    if present is None:
        return
    kept = [processor for processor in present if processor is not out]
    multi.set_processors([*back, *kept])
