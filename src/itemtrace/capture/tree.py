"""The SDK's traces and spans as OpenTelemetry spans: parents, the current span, their ends."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace as otel_trace
from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode, Tracer

from itemtrace import semconv
from itemtrace.capture import spans
from itemtrace.capture.privacy import Privacy
from itemtrace.capture.records import TraceShared
from itemtrace.capture.spans import CallInfo, End, SpanContextInfo
from itemtrace.capture.writer import Writer


if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itemtrace.capture.metrics import Metrics
    from itemtrace.capture.recording import Recording
    from itemtrace.codec.record import Record
    from itemtrace.config import Settings

ENDED_TRACES: Final = 1_024
"""How many ended traces are remembered, so that a resumed run finds its trace."""

WANTED_TRACE_ID: ContextVar[int | None] = ContextVar("itemtrace_trace_id", default=None)
"""What our own id generator gives the next root span (`sinks.SdkTraceIds`)."""

_SDK_TRACE_ID = re.compile(r"trace_([0-9a-f]{32})")


def trace_id_of(sdk_id: str) -> int:
    """Returns the OpenTelemetry trace id of an SDK trace id.

    Its 32 hex digits where it has them (agents/tracing/util.py, `gen_trace_id`); the SDK takes any
    string, so anything else is hashed.
    """
    match = _SDK_TRACE_ID.fullmatch(sdk_id)
    number = int(match.group(1), 16) if match else 0
    return number or int.from_bytes(
        sha256(sdk_id.encode("utf-8", "replace")).digest()[:16], "big"
    )


@dataclass(slots=True)
class OpenTrace:
    """A trace of the SDK.

    Attributes:
        shared: What its runs share.
        context: The parent of its spans.
        span: The root span while it is open.
        before: What was current when it started.
        named: Whether the root has its workflow's name.
        spans_only: The run of a trace whose runner is not seen.
    """

    shared: TraceShared
    context: Context
    span: otel_trace.Span | None = None
    before: Context | None = None
    named: bool = True
    spans_only: Recording | None = None


@dataclass(slots=True)
class OpenSpan:
    """A span of the SDK that has not ended, or whose end is held back.

    Attributes:
        id: The SDK's span id.
        data: The SDK's span data.
        otel: The OpenTelemetry span.
        parent: The SDK's parent, if it is open.
        trace: Its trace.
        recording: The run it belongs to, if that is recorded.
        before: What was current when it started.
        info: Where it stands.
        start_ns: When it started.
        usage: Sums of the model calls below an agent span.
        calls: How many spans of each type are below an agent span; kept with metrics only.
    """

    id: str
    data: Any
    otel: otel_trace.Span
    parent: OpenSpan | None
    trace: OpenTrace
    recording: Recording | None
    before: Context
    info: SpanContextInfo
    start_ns: int
    error: Any = None
    end_ns: int | None = None
    usage: dict[str, int] = field(default_factory=dict[str, int])
    calls: dict[str, int] | None = None


class Tree:
    """All open spans, keyed by the SDK's ids, never by ambient state.

    Attributes:
        settings: How runs are recorded.
        metrics: What measures them; None when metrics are off.
    """

    def __init__(
        self,
        tracer: Callable[[], Tracer],
        settings: Settings,
        metrics: Metrics | None = None,
    ) -> None:
        self.settings = settings
        self.metrics = metrics
        redactors = settings.redact
        self._redaction = (
            Privacy(content=True, redactors=redactors) if redactors else None
        )
        self._tracer = tracer
        self._writer: Writer | None = None
        self._spans: dict[str, OpenSpan] = {}
        self._traces: dict[str, OpenTrace] = {}
        self._ended: OrderedDict[str, OpenTrace] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def writer(self) -> Writer:
        """The writer of records; its tracer is taken when first needed."""
        if self._writer is None:
            self._writer = Writer(self._tracer(), self.settings.profile)
        return self._writer

    def open_count(self) -> int:
        """Returns how many traces and spans are open."""
        return len(self._spans) + len(self._traces)

    def get(self, span_id: str) -> OpenSpan | None:
        """Returns an open span by the SDK's id."""
        return self._spans.get(span_id)

    # --- traces ---------------------------------------------------------------

    def start_trace(self, sdk_trace: Any, content: bool | None = None) -> None:
        """Opens the root span of a trace and makes it current.

        Args:
            sdk_trace: The SDK's trace.
            content: Whether the run that opens it shows content; None when it is no run.
        """
        shared = self._shared(sdk_trace)
        info = self._info(shared, content)
        start = spans.workflow_start(shared.sdk_id, info, shared.metadata)
        before = otel_context.get_current()
        token = WANTED_TRACE_ID.set(trace_id_of(shared.sdk_id))
        try:
            span = self.writer.tracer.start_span(
                start.name, kind=start.kind, attributes=start.attributes
            )
        finally:
            WANTED_TRACE_ID.reset(token)
        context = otel_trace.set_span_in_context(span, before)
        named = semconv.GEN_AI_WORKFLOW_NAME in start.attributes
        opened = OpenTrace(shared, context, span, before, named)
        with self._lock:
            earlier = self._traces.get(shared.sdk_id) or self._ended.pop(
                shared.sdk_id, None
            )
            if earlier is not None:
                shared.roots, shared.blobs = earlier.shared.roots, earlier.shared.blobs
                shared.waiting = earlier.shared.waiting
            self._traces[shared.sdk_id] = opened
        otel_context.attach(context)

    def end_trace(self, trace_id: str) -> OpenTrace | None:
        """Takes a trace off the open ones; its root span is to be ended by `end_root`."""
        with self._lock:
            opened = self._traces.pop(trace_id, None)
            if opened is None:
                return None
            self._remember(trace_id, opened)
        return opened

    def _remember(self, trace_id: str, opened: OpenTrace) -> None:
        self._ended[trace_id] = opened
        while len(self._ended) > ENDED_TRACES:
            self._ended.popitem(last=False)

    def end_root(self, opened: OpenTrace, records: Sequence[Record]) -> None:
        """Ends the root span of a trace."""
        span, opened.span = opened.span, None
        if span is None:
            return
        try:
            self._leave(span, opened.before)
            if span.is_recording():
                self.writer.put(span, records, {})
        finally:
            span.end()
            if self.metrics is not None:
                self.metrics.trace(span)
            opened.before = None
            # late spans need its ids only; the span itself holds all its attributes
            ended = otel_trace.NonRecordingSpan(span.get_span_context())
            opened.context = otel_trace.set_span_in_context(ended, Context())

    def trace_of(self, sdk_span: Any) -> OpenTrace:
        """Returns the trace of a span: open, ended, or one whose start nobody saw (a resume)."""
        trace_id = sdk_span.trace_id
        with self._lock:
            known = self._traces.get(trace_id) or self._ended.get(trace_id)
            if known is not None:
                return known
        return self._unseen(trace_id)

    def _unseen(self, trace_id: str) -> OpenTrace:
        from agents.tracing import get_current_trace

        current = get_current_trace()
        if current is not None and current.trace_id == trace_id:
            shared = self._shared(current)
        else:
            shared = TraceShared(trace_id, "", None, None)
        opened = OpenTrace(shared, otel_context.get_current())
        with self._lock:
            self._remember(trace_id, opened)
        return opened

    def _shared(self, sdk_trace: Any) -> TraceShared:
        metadata = getattr(sdk_trace, "metadata", None)
        return TraceShared(
            sdk_id=sdk_trace.trace_id,
            name=sdk_trace.name,
            group=getattr(sdk_trace, "group_id", None),
            metadata=dict(metadata) if metadata else None,
        )

    def _info(
        self,
        shared: TraceShared,
        content: bool | None = None,
        agent: str | None = None,
        call: CallInfo | None = None,
    ) -> SpanContextInfo:
        settings = self.settings
        return SpanContextInfo(
            group_id=shared.group,
            agent_name=agent,
            workflow=shared.name,
            content=settings.content if content is None else content,
            messages=settings.messages,
            compat=settings.compat,
            vocabularies=settings.vocabularies,
            privacy=self._redaction,
            call=call,
        )

    # --- spans ----------------------------------------------------------------

    def start(  # noqa: PLR0913, PLR0917 - what one span is made of
        self, sdk_id: str, data: Any, parent_id: str | None, opened: OpenTrace,
        recording: Recording | None, call: CallInfo | None = None, start_ns: int | None = None,
    ) -> OpenSpan:  # fmt: skip
        """Starts the OpenTelemetry span of an SDK span; `attach` makes it current."""
        parent = self._spans.get(parent_id) if parent_id else None
        agent = (
            data.name
            if data.type == "agent"
            else parent.info.agent_name
            if parent
            else None
        )
        content = recording.content if recording else None
        info = self._info(opened.shared, content, agent, call)
        start = spans.on_start(data, info)
        before = otel_context.get_current()
        if parent is None:
            context = opened.context
        elif otel_trace.get_current_span(before) is parent.otel:
            context = before
        else:
            context = otel_trace.set_span_in_context(parent.otel, before)
        token = (
            None if parent else WANTED_TRACE_ID.set(trace_id_of(opened.shared.sdk_id))
        )
        try:
            otel = self.writer.tracer.start_span(
                start.name, context, start.kind, start.attributes, start_time=start_ns
            )
        finally:
            if token is not None:
                WANTED_TRACE_ID.reset(token)
        moment = getattr(otel, "start_time", None) or start_ns or 0
        if self.metrics is not None and not moment:
            moment = time.time_ns()  # not sampled, and measured all the same
        span = OpenSpan(
            sdk_id, data, otel, parent, opened, recording, before, info, moment
        )
        self._spans[sdk_id] = span
        if agent and not opened.named:
            self._name_workflow(opened, agent)
        return span

    def _name_workflow(self, opened: OpenTrace, agent: str) -> None:
        opened.named = True
        if opened.span is not None:
            opened.span.update_name(f"invoke_workflow {agent}")
            opened.span.set_attribute(semconv.GEN_AI_WORKFLOW_NAME, agent)

    def attach(self, span: OpenSpan) -> None:
        """Makes a span current, so that a database call inside a tool becomes its child."""
        otel_context.attach(otel_trace.set_span_in_context(span.otel, span.before))

    def leave(self, span: OpenSpan) -> None:
        """Takes a span off the open ones and makes what was before it current again."""
        self._spans.pop(span.id, None)
        self._leave(span.otel, span.before)

    def _leave(self, otel: otel_trace.Span, before: Context | None) -> None:
        """Goes back to what was current, if the span still is.

        Spans may end in another task than they started in, where a token of `attach` would be
        refused; setting the earlier context does the same in every task.
        """
        if before is not None and otel_trace.get_current_span() is otel:
            otel_context.attach(before)

    def finish(
        self, span: OpenSpan, records: Sequence[Record] = (), end_ns: int | None = None
    ) -> None:
        """Ends the OpenTelemetry span with all that is known by now; the ledger goes on last."""
        otel = span.otel
        try:
            if otel.is_recording():
                try:
                    end = spans.on_end(span.data, span.info, span.error)
                    self._close(otel, end, span)
                    for more in end.more:
                        otel.set_attributes(more(self.writer.room(otel, records)))
                finally:  # the ledger does not depend on what is there for eyes
                    if records:
                        self.writer.put(otel, records, spans.own_start(span.info))
        finally:
            otel.end(end_ns)
            if self.metrics is not None:
                self.metrics.span(span)

    def _close(self, otel: otel_trace.Span, end: End, span: OpenSpan) -> None:
        if end.name != getattr(otel, "name", end.name):
            otel.update_name(end.name)
        if (
            span.recording is not None
            and span.recording.frame is not None
            and span.data.type in _FOUND_BY_RUN
        ):
            end.attributes[semconv.ITEMTRACE_RUN_ID] = span.recording.frame.id
        otel.set_attributes(end.attributes)
        if end.error_type is not None:
            otel.set_status(Status(StatusCode.ERROR, end.message))


_FOUND_BY_RUN: Final = frozenset({"agent"})
"""Types of spans that carry the run's id, for search; on the many others it would cost bytes."""
