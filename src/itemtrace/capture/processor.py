"""The SDK's tracing callbacks into spans and, where the runner is not seen, into runs."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from agents.tracing import Span, Trace, TracingProcessor

from itemtrace.capture.guard import FRAME, HEALTH, guarded
from itemtrace.capture.recording import Given, Recording
from itemtrace.capture.sinks import Sink
from itemtrace.capture.spans import CallInfo
from itemtrace.capture.tree import OpenSpan, OpenTrace, Tree
from itemtrace.codec import canonical
from itemtrace.codec.record import Record, make


if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Tracer

    from itemtrace.capture.metrics import Metrics
    from itemtrace.config import Settings


_SEAM_FILLS: Final = frozenset({"agent", "function", "handoff", "guardrail"})


class Processor(TracingProcessor):
    """Turns every SDK span into an OpenTelemetry span, and records runs.

    Args:
        settings: How runs are recorded.
        sink: Where spans go, or what makes it when the first span comes.
        metrics: What measures runs; None when metrics are off.
    """

    def __init__(
        self,
        settings: Settings,
        sink: Sink | Callable[[], Sink],
        metrics: Metrics | None = None,
    ) -> None:
        self.settings = settings
        self._make: Callable[[], Sink] = (
            (lambda: sink) if isinstance(sink, Sink) else sink
        )
        self._sink = sink if isinstance(sink, Sink) else None
        self._lock = threading.Lock()
        self.tree = Tree(self._tracer, settings, metrics)
        self.enabled = True

    @property
    def sink(self) -> Sink:
        """Where spans go."""
        with self._lock:
            if self._sink is None:
                self._sink = self._make()
            return self._sink

    def _tracer(self) -> Tracer:
        return self.sink.tracer()

    # --- traces -----------------------------------------------------------------------

    @guarded("on_trace_start")
    def on_trace_start(self, trace: Trace) -> None:
        """Opens the root span."""
        if self.enabled:
            recording = FRAME.get()
            self.tree.start_trace(trace, recording.content if recording else None)

    @guarded("on_trace_end")
    def on_trace_end(self, trace: Trace) -> None:
        """Ends the root span; spans that come later are still children of it."""
        opened = self.tree.end_trace(trace.trace_id)
        if opened is None:
            return
        records: list[Record] = []
        try:
            if opened.spans_only is not None:
                _end_spans_only(opened.spans_only)
                opened.spans_only = None
            records = _trace_records(opened, self.settings)
        finally:
            self.tree.end_root(opened, records)

    # --- spans ------------------------------------------------------------------------

    @guarded("on_span_start")
    def on_span_start(self, span: Span[Any]) -> None:
        """Starts the OpenTelemetry span and makes it current."""
        if not self.enabled:
            return
        opened = self.tree.trace_of(span)
        parent = self.tree.get(span.parent_id) if span.parent_id else None
        data = span.span_data
        recording = (
            FRAME.get() or (parent.recording if parent else None) or opened.spans_only
        )
        recording = self._spans_only(recording, data, parent, opened)
        if recording is not None:
            recording.begin(opened, parent)
        call = CallInfo() if data.type in _SEAM_FILLS else None
        if data.type in ("response", "generation"):
            call = (recording.call.span_started() if recording else None) or CallInfo()
        started = self.tree.start(
            span.span_id, data, span.parent_id, opened, recording, call
        )
        if data.type == "function" and recording is not None:
            recording.tools.span_started(started)
        self.tree.attach(started)

    def _spans_only(
        self,
        recording: Recording | None,
        data: Any,
        parent: OpenSpan | None,
        opened: OpenTrace,
    ) -> Recording | None:
        """Returns the run of a span, a new one where a run starts that no seam saw."""
        if recording is not None and recording.given.capture == "full":
            return recording
        nested = parent is not None and parent.data.type == "function"
        starts = data.type == "task" or (
            data.type == "agent" and (recording is None or nested)
        )
        if not starts:
            return recording
        agent = getattr(data, "name", None) if data.type == "agent" else None
        given = Given(
            capture="spans", agent=agent, parent=recording if nested else None
        )
        made = Recording(given, self.tree)
        if not nested:
            opened.spans_only = made
        return made

    @guarded("on_span_end")
    def on_span_end(self, span: Span[Any]) -> None:
        """Ends the OpenTelemetry span, or holds its end back until the model's response is known."""
        opened = self.tree.get(span.span_id)
        if opened is None:
            return
        opened.end_ns = time.time_ns()
        opened.error = span.error
        try:
            self.tree.leave(opened)
            END.get(span.span_data.type, _finish)(self.tree, opened)
        except Exception:  # the guard counts it; the span must end all the same
            if opened.otel.is_recording():
                opened.otel.end(opened.end_ns)
            raise
        recording = opened.recording
        if recording is None or recording.given.capture == "full":
            return
        recording.span_ended(opened)
        above = opened.parent.recording if opened.parent else None
        kind = opened.data.type
        if above is recording or kind not in ("task", "agent"):
            return
        if kind == "task" or above is not None:  # else more agents of the run may come
            _end_spans_only(recording)
            if opened.trace.spans_only is recording:
                opened.trace.spans_only = None

    # --- life -------------------------------------------------------------------------

    def force_flush(self) -> None:
        """Sends what has ended; ends nothing."""
        self._flush(30.0)

    def shutdown(self, timeout: float | None = None) -> None:
        """Sends what has ended, within the timeout, and closes the sinks that are ours."""
        self._shutdown(30.0 if timeout is None else timeout)

    @guarded("force_flush")
    def _flush(self, timeout: float) -> None:
        if self._sink is not None:
            self._sink.flush(timeout)
        if self.tree.metrics is not None:
            self.tree.metrics.meters.flush(timeout)

    @guarded("shutdown")
    def _shutdown(self, timeout: float) -> None:
        if self._sink is not None:
            self._sink.shutdown(timeout)
        if self.tree.metrics is not None:
            self.tree.metrics.meters.close()


def _finish(tree: Tree, span: OpenSpan) -> None:
    tree.finish(span, (), span.end_ns)


def _end_model(tree: Tree, span: OpenSpan) -> None:
    recording = span.recording
    if recording is None:
        tree.finish(span, (), span.end_ns)
    elif recording.given.capture == "spans":
        recording.call.from_span(span)
    elif not recording.call.hold(span):
        tree.finish(span, (), span.end_ns)


def _end_tool(tree: Tree, span: OpenSpan) -> None:
    if span.recording is None:
        tree.finish(span, (), span.end_ns)
    else:
        span.recording.tools.span_ended(span)


def _end_agent(tree: Tree, span: OpenSpan) -> None:
    if (
        span.recording is not None
        and span.recording.call.open
        and span.recording.given.capture == "full"
    ):
        span.recording.call.flush()
    if span.info.call is not None and span.usage:
        span.info.call.usage = span.usage
    tree.finish(span, (), span.end_ns)


def _end_handoff(tree: Tree, span: OpenSpan) -> None:
    if span.recording is not None and span.info.call is not None:
        span.info.call.handoff_tool = span.recording.handoff_tool()
    tree.finish(span, (), span.end_ns)


END: Final[dict[str, Callable[[Tree, OpenSpan], None]]] = {
    "response": _end_model,
    "generation": _end_model,
    "function": _end_tool,
    "agent": _end_agent,
    "handoff": _end_handoff,
}
"""What ends an SDK span type in a way of its own."""


def _end_spans_only(recording: Recording) -> None:
    last = recording.last_agent

    def body(frame: Any) -> dict[str, Any]:
        seqs = [entry.seq for entry in frame.recorded]
        found: dict[str, Any] = {"items": seqs}
        if last:
            found["last_agent"] = last
        return found

    def broke(error: BaseException) -> None:
        HEALTH.failed("the end of a run", error)
        recording.failures += 1

    try:
        recording.finish(body, "failed" if recording.broken else "completed", broke)
    finally:
        recording.release()


def _trace_records(opened: OpenTrace, settings: Settings) -> list[Record]:
    """Returns the record that names the root runs of a trace."""
    if opened.span is None or not opened.shared.roots:
        return []
    span_id = f"{opened.span.get_span_context().span_id:016x}"
    body = {"id": opened.shared.sdk_id, "runs": opened.shared.roots}
    return [
        make("trace", span_id, 0, canonical.dumps(body, ascii=settings.profile.ascii))
    ]
