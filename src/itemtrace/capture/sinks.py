"""Spans on their way out: as rows, into a store, through a provider that is ours or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import INVALID_SPAN_CONTEXT

from itemtrace.capture.calls import versions
from itemtrace.capture.guard import HEALTH
from itemtrace.capture.tree import WANTED_TRACE_ID
from itemtrace.codec.spans import SpanRow
from itemtrace.errors import ItemTraceError


if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Tracer


SCOPE: Final = "itemtrace"
"""Name of the instrumentation scope of our spans."""


class RowSink(Protocol):
    """What takes rows: a writable store."""

    def write(self, rows: Iterable[SpanRow]) -> int:
        """Writes rows; returns how many."""
        ...

    def close(self) -> None:
        """Closes it."""
        ...


def row_of(span: ReadableSpan) -> SpanRow:
    """Returns an ended OpenTelemetry span as a span row."""
    context = span.get_span_context() or INVALID_SPAN_CONTEXT
    parent = span.parent
    scope = span.instrumentation_scope
    return SpanRow(
        trace_id=f"{context.trace_id:032x}",
        span_id=f"{context.span_id:016x}",
        parent_id=f"{parent.span_id:016x}" if parent is not None else "",
        name=span.name,
        kind=span.kind.name,
        start_ns=span.start_time or 0,
        end_ns=span.end_time or 0,
        attributes=dict(span.attributes or {}),
        status=span.status.status_code.name,
        status_message=span.status.description or "",
        events=tuple(
            {
                "name": e.name,
                "time_ns": e.timestamp,
                "attributes": dict(e.attributes or {}),
            }
            for e in span.events
        ),
        links=tuple(
            {
                "trace_id": f"{link.context.trace_id:032x}",
                "span_id": f"{link.context.span_id:016x}",
                "attributes": dict(link.attributes or {}),
            }
            for link in span.links
        ),
        resource=dict(span.resource.attributes),
        scope=scope.name if scope is not None else "",
        scope_version=(scope.version or "") if scope is not None else "",
        dropped_attributes=span.dropped_attributes,
    )


class StoreExporter(SpanExporter):
    """Writes spans into a store; a store that refuses is counted and logged once."""

    def __init__(self, store: RowSink) -> None:
        self._store = store

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Writes a batch in one transaction."""
        try:
            self._store.write([row_of(span) for span in spans])
        except ItemTraceError as error:
            HEALTH.failed("the local store", error)
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Closes the store."""
        self._store.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the interface
        """Nothing waits here."""
        return True


class SdkTraceIds(RandomIdGenerator):
    """Gives root spans the SDK's own trace id, so that one id finds a run in both places."""

    def generate_trace_id(self) -> int:
        """Returns the wanted id, else a random one."""
        return WANTED_TRACE_ID.get() or super().generate_trace_id()


class Sink:
    """A tracer provider, and whether it is ours to flush and close.

    Attributes:
        provider: The provider.
        owned: True when itemtrace made it.
        store: The local store that it writes to, if there is one.
        describe: One line for people: where spans go.
    """

    def __init__(
        self,
        provider: Any,
        *,
        owned: bool,
        describe: str,
        store: str = "",
        added: Sequence[Any] = (),
    ) -> None:
        self.provider = provider
        self.owned = owned
        self.describe = describe
        self.store = store
        self._added = tuple(added)

    def tracer(self) -> Tracer:
        """Returns the tracer of itemtrace's spans."""
        tracer: Tracer = self.provider.get_tracer(SCOPE, versions()["version"])
        return tracer

    def flush(self, timeout: float) -> bool:
        """Sends what has ended; returns whether all of it was taken in time."""
        flush = getattr(self.provider, "force_flush", None)
        return bool(flush(int(timeout * 1000))) if flush is not None else True

    def shutdown(self, timeout: float) -> None:
        """Flushes; closes the provider if it is ours, else what we added to it."""
        self.flush(timeout)
        if self.owned:
            self.provider.shutdown()
            return
        for processor in self._added:
            processor.shutdown()
            _take_out(self.provider, processor)


def _take_out(provider: Any, processor: Any) -> None:
    """Takes a processor out of a provider, which has no public way for it.

    opentelemetry/sdk/trace/__init__.py keeps them as a tuple in
    `_active_span_processor._span_processors`.
    """
    multi = getattr(provider, "_active_span_processor", None)
    processors = getattr(multi, "_span_processors", None)
    if isinstance(processors, tuple):
        multi._span_processors = tuple(p for p in processors if p is not processor)  # type: ignore[union-attr]
