# pyright: basic
# Raw items and SDK objects are JSON values and Any at this edge
"""One run and its spans: what hooks and callbacks say of it, put into records and onto spans."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opentelemetry import trace as otel_trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from itemtrace import semconv
from itemtrace.capture import calls, tools
from itemtrace.capture.frame import Frame
from itemtrace.capture.privacy import Privacy
from itemtrace.capture.spans import Attributes, SpanContextInfo, error_type, own_start
from itemtrace.codec import canonical


if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from itemtrace.capture.tree import OpenSpan, OpenTrace, Tree
    from itemtrace.codec.record import Record


@dataclass
class Given:
    """What the runner seam knows before a run starts.

    Attributes:
        capture: `full`, or `spans` when only tracing callbacks are there.
        agent: The starting agent, or its name.
        input: The caller's input; None for a resumed run.
        options: What the caller gave beside it.
        parent: The run that this one is nested in.
        parent_call: The tool call that started it.
        resumed: The decisions of a resumed run.
        streamed: Whether it streams.
        content: False when `trace_include_sensitive_data` is off.
        model: `RunConfig.model`, which goes before the agents' own.
        settings: `RunConfig.model_settings`.
        merged: Stored and new items, as a session callback got them.
    """

    capture: str = "full"
    agent: Any = None
    input: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    parent: Recording | None = None
    parent_call: str | None = None
    resumed: list[dict[str, Any]] | None = None
    streamed: bool = False
    content: bool = True
    model: Any = None
    settings: Any = None
    merged: tuple[list[Any], list[Any]] | None = None


class Recording:
    """A run that is being recorded.

    Attributes:
        given: What was known before it started.
        frame: Its records; None until the first span of it, and for ever in an unsampled trace.
        call: The open model call and its spans.
        tools: The tool calls at work.
        failures: What could not be recorded before there was a frame.
        last_agent: Known from spans alone: the agent that ended last.
        broken: Known from spans alone: whether something ended the run.
    """

    def __init__(self, given: Given, tree: Tree) -> None:
        self.given = given
        self.tree = tree
        self.frame: Frame | None = None
        self.trace: OpenTrace | None = None
        self.call = calls.ModelCalls(self)
        self.tools = tools.ToolCalls(self)
        self.content = given.content and tree.settings.content
        self.children: dict[str | None, int] = {}
        self.waiting_calls: set[str] = set()
        self.ended = False
        self.last_agent: str | None = None
        self.broken = False
        self._failures = 0
        self._parent: Context | None = None
        self._info = SpanContextInfo()
        self._begun = False

    @property
    def failures(self) -> int:
        """How often something of this run could not be recorded."""
        return self._failures

    @failures.setter
    def failures(self, count: int) -> None:
        self._failures = count
        if self.frame is not None:
            self.frame.failures = count

    # --- begin ------------------------------------------------------------------

    def begin(self, opened: OpenTrace, parent: OpenSpan | None) -> None:
        """Writes the first record, once, when the first span of the run is about to start."""
        if self._begun:
            return
        self._begun = True
        self.trace = opened
        self._parent = (
            otel_trace.set_span_in_context(parent.otel) if parent else opened.context
        )
        name = (
            self.given.agent
            if isinstance(self.given.agent, str)
            else getattr(self.given.agent, "name", None)
        )
        self._info = SpanContextInfo(
            group_id=opened.shared.group,
            agent_name=name,
            vocabularies=self.tree.settings.vocabularies,
        )
        span = self.start_span("run_start", parent_context=self._parent)
        try:
            if span.is_recording():
                run_id = f"{span.get_span_context().span_id:016x}"
                # named in its trace or its parent first of all: a run that is lost is missed
                place = self._place(run_id, opened, parent)
                self._begin_on(span, run_id, opened, place)
        finally:
            span.end()

    def _begin_on(
        self,
        span: otel_trace.Span,
        run_id: str,
        opened: OpenTrace,
        place: Mapping[str, Any],
    ) -> None:
        name = self._info.agent_name
        privacy = Privacy(content=self.content, redactors=self.tree.settings.redact)
        ascii_only = self.tree.settings.profile.ascii
        frame = Frame(run_id, opened.shared, privacy, ascii=ascii_only)
        frame.failures = self._failures
        if self.tree.metrics is not None:
            nested = self.given.parent is not None
            frame.metrics = self.tree.metrics.run(frame, name, nested=nested)
        records = frame.begin({**self._begin_body(frame, name), **place})
        self.frame = frame
        attributes: Attributes = {
            semconv.ITEMTRACE_RUN_ID: run_id,
            semconv.ITEMTRACE_RUN_CAPTURE: self.given.capture,
        }
        if name:
            attributes[semconv.GEN_AI_AGENT_NAME] = name
        span.set_attributes(attributes)
        self.tree.writer.put(span, records, own_start(self._info))

    def _begin_body(self, frame: Frame, agent: str | None) -> dict[str, Any]:
        shared, given = frame.shared, self.given
        trace = {"id": shared.sdk_id, "name": shared.name, "group": shared.group}
        if shared.metadata and self.content:
            trace["metadata"] = frame.privacy.value(shared.metadata)
        body: dict[str, Any] = {
            **calls.versions(),
            "capture": given.capture,
            "started": frame.started,
            "trace": {key: value for key, value in trace.items() if value is not None},
            "agent": agent,
            "input": given.input,
            "options": given.options or None,
            "streamed": given.streamed or None,
            "withheld": None if self.content else True,
        }
        if given.resumed is not None:
            body["resumed"] = self._resumed(frame, given.resumed)
        return body

    def _place(
        self, run_id: str, opened: OpenTrace, parent: OpenSpan | None
    ) -> dict[str, Any]:
        """Returns where the run stands: under another one, or after the root run before it."""
        above = self.given.parent
        if above is None or above.frame is None:
            roots = opened.shared.roots
            roots.append(run_id)
            return {"after": roots[-2]} if len(roots) > 1 else {}
        above.frame.children.append(run_id)
        call = self.given.parent_call
        number = above.children.get(call, 0)
        above.children[call] = number + 1
        place: dict[str, Any] = {"run": above.frame.id, "n": number}
        if call is not None:
            place["call"] = call
        elif parent is not None:
            place["span"] = parent.data.type
        return {"parent": place}

    def _resumed(self, frame: Frame, decisions: list[dict[str, Any]]) -> dict[str, Any]:
        waiting = frame.shared.waiting
        call = self.given.parent_call
        keys = [(call, str(decision.get("call"))) for decision in decisions]
        runs = [waiting[key] for key in keys if key in waiting]
        for decision in decisions:
            if "message" in decision:
                decision["message"] = frame.privacy.value(decision["message"])
        body: dict[str, Any] = {"decisions": decisions}
        if runs:
            body["run"] = runs[0]
        return body

    # --- what spans want to know -----------------------------------------------------

    def handoff_tool(self) -> str | None:
        """Returns the name of the tool that the model called for the latest handoff."""
        for entry in self.frame.latest_calls() if self.frame is not None else ():
            if entry.type == "handoff_call_item" and isinstance(entry.raw, dict):
                name = entry.raw.get("name")
                return name if isinstance(name, str) else None
        return None

    def span_ended(self, span: OpenSpan) -> None:
        """Learns from a span what the runner seam would say: who was last, whether it failed."""
        if span.data.type == "agent":
            self.last_agent = span.data.name
        if span.data.type in ("task", "agent", "turn") and span.error:
            self.broken = True

    # --- spans of our own -----------------------------------------------------------

    def start_span(
        self,
        name: str,
        *,
        parent_context: Context | None = None,
        start_ns: int | None = None,
    ) -> otel_trace.Span:
        """Starts a span for a record that the SDK has no span for."""
        context = parent_context or self._parent or Context()
        attributes = own_start(self._info)
        return self.tree.writer.tracer.start_span(
            name, context, SpanKind.INTERNAL, attributes, start_time=start_ns
        )

    def emit(
        self,
        name: str,
        records: Sequence[Record],
        *,
        parent: OpenSpan | None = None,
        at_ns: int | None = None,
    ) -> None:
        """Writes records on a short span of their own."""
        context = otel_trace.set_span_in_context(parent.otel) if parent else None
        span = self.start_span(name, parent_context=context, start_ns=at_ns)
        try:
            self.tree.writer.put(span, records, own_start(self._info))
        finally:  # a span of no duration is reported as faulty by some backends
            span.end(None if at_ns is None else at_ns + 1)

    # --- end --------------------------------------------------------------------------

    def finish(
        self,
        body: Callable[[Frame], Mapping[str, Any]],
        status: str,
        failed: Callable[[BaseException], None],
    ) -> None:
        """Writes the end and the seal.

        Args:
            body: Gives the body of the `end` record.
            status: `completed`, `interrupted`, `failed` or `cancelled`.
            failed: Called when the body cannot be made; the seal then says so.
        """
        if self.frame is None or self.ended:
            return
        frame = self.frame
        records: list[Record] = []
        more: dict[str, Any] = {}
        try:
            self.call.flush()
            records += self.tools.flush(frame)
            self.ended = True
            more = dict(body(frame))
        except Exception as error:  # noqa: BLE001 - without a seal the whole ledger would look cut off
            failed(error)
        self.ended = True
        end: dict[str, Any] = {"status": status, "end": frame.since(), **more}
        if frame.children:
            end["children"] = frame.children
        records += frame.make("end", end)
        records += frame.seal()
        span = self.start_span("run_end")
        try:
            span.set_attributes(self._summary(frame, status, more))
            self.tree.writer.put(span, records, own_start(self._info))
        finally:
            span.end()
        if frame.metrics is not None:
            frame.metrics.ended(end, otel_trace.set_span_in_context(span))

    def _summary(self, frame: Frame, status: str, end: Mapping[str, Any]) -> Attributes:
        found: Attributes = {
            semconv.ITEMTRACE_RUN_ID: frame.id,
            semconv.ITEMTRACE_RUN_STATUS: status,
            semconv.ITEMTRACE_RUN_ITEMS: _count(end.get("items") or ()),
            semconv.ITEMTRACE_RUN_STARTED_NS: frame.started,
            semconv.ITEMTRACE_RUN_CAPTURE: self.given.capture,
        }
        name = self._info.agent_name
        if name:
            found[semconv.GEN_AI_AGENT_NAME] = name
        if self.given.streamed:
            found[semconv.ITEMTRACE_RUN_STREAMED] = True
        if self.given.parent is not None and self.given.parent.frame is not None:
            found[semconv.ITEMTRACE_RUN_PARENT] = self.given.parent.frame.id
        sums = [
            sum(part)
            for part in zip(*(usage[:4] for usage in frame.usages), strict=True)
        ]
        if sums:
            found[semconv.ITEMTRACE_USAGE_REQUESTS] = sums[0]
            found[semconv.ITEMTRACE_USAGE_INPUT_TOKENS] = sums[1]
            found[semconv.ITEMTRACE_USAGE_OUTPUT_TOKENS] = sums[2]
            found[semconv.ITEMTRACE_USAGE_TOTAL_TOKENS] = sums[3]
        return found

    def release(self) -> None:
        """Lets go of the run's objects; a context that outlives the run may still hold this one."""
        self.ended = True
        self.call.drop()
        self.call = calls.ModelCalls(self)
        self.tools = tools.ToolCalls(self)
        if self.frame is not None:
            self.frame.forget()
        self.given = Given(
            capture=self.given.capture, parent=None, content=self.given.content
        )


def failure(error: BaseException, privacy: Privacy) -> dict[str, Any]:
    """Returns an exception as it may be recorded."""
    kind = canonical.type_name(error)
    found: dict[str, Any] = {
        "type": error_type(error),
        "message": privacy.value(str(error)),
    }
    if found["type"] != kind:
        found["class"] = kind
    cause = error.__cause__
    if cause is not None:
        text = privacy.value(str(cause))
        found["cause"] = {"type": canonical.type_name(cause), "message": text}
    return found


def _count(items: Sequence[Any]) -> int:
    return sum(entry[1] if isinstance(entry, list) else 1 for entry in items)
