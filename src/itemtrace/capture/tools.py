# pyright: basic
# Raw items and SDK objects are JSON values and Any at this edge
"""The tool calls of one run: which span is which call, and what it gave.

A function span names no call. In `on_tool_start` the current span is that call's span and the
context has its id, which is exact for parallel calls too; where no hook says it, the order of the
calls in the response does, and the span says that it did.
"""

from __future__ import annotations

from asyncio import CancelledError
from dataclasses import dataclass
from time import time_ns as now_ns
from typing import TYPE_CHECKING, Any

from itemtrace.capture.items import Recorded, differs


if TYPE_CHECKING:
    from itemtrace.capture.frame import Frame
    from itemtrace.capture.recording import Recording
    from itemtrace.capture.tree import OpenSpan
    from itemtrace.codec.record import Record

_NOTHING = object()


@dataclass(slots=True)
class ToolCall:
    """A tool at work."""

    call_id: str | None
    tool: Any = None
    result: Any = _NOTHING
    source: str | None = None
    ran: bool = True


class ToolCalls:
    """Span ids of tools -> their calls."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._calls: dict[str, ToolCall] = {}
        self._open: dict[str, OpenSpan] = {}
        self._taken: set[tuple[int, str]] = set()

    def span_started(self, span: OpenSpan) -> None:
        """The span of a tool opens; a hook may say later which call it is."""
        self._open[span.id] = span

    def flush(self, frame: Frame) -> list[Record]:
        """Returns a record for each tool that is still at work when its run ends."""
        records: list[Record] = []
        for span in list(self._open.values()):
            call = self._calls.pop(span.id, None) or self._by_order(frame, span)
            records += self._records(frame, span, call, self._origin(frame, call))
        self._open.clear()
        return records

    def started(self, span_id: str, call_id: str | None, tool: Any) -> None:
        """A hook says that a tool starts."""
        self._calls[span_id] = ToolCall(call_id, tool)

    def result(self, span_id: str, result: Any) -> None:
        """A hook says what a tool gave."""
        call = self._calls.get(span_id)
        if call is not None:
            call.result = result

    def nested(self, span_id: str, call_id: str) -> None:
        """A nested run names the call that started it; a continuation has no other hook."""
        self._calls.setdefault(span_id, ToolCall(call_id, source="nested run"))

    def call_of(self, span_id: str) -> str | None:
        """Returns the call id of a tool at work, by its span."""
        call = self._calls.get(span_id)
        return call.call_id if call is not None else None

    def span_ended(self, span: OpenSpan) -> None:
        """Writes what a tool gave, or that it gave nothing, and ends its span."""
        frame = self._recording.frame
        if frame is None or self._recording.ended:
            self._recording.tree.finish(span, (), span.end_ns)
            return
        self._open.pop(span.id, None)
        call = self._calls.pop(span.id, None) or self._by_order(frame, span)
        origin = self._origin(frame, call)
        if origin is not None:
            self._taken.add((origin.seq, call.call_id or ""))
        info = span.info.call
        if info is not None:
            info.tool_call_id = call.call_id
            info.call_id_source = call.source
            info.executed = None if call.ran else False
        records = self._records(frame, span, call, origin)
        self._recording.tree.finish(span, records, span.end_ns)

    def _records(
        self, frame: Frame, span: OpenSpan, call: ToolCall, origin: Recorded | None
    ) -> list[Record]:
        times = {
            "start": max(0, (span.start_ns - frame.started) // 1000),
            "end": max(0, ((span.end_ns or now_ns()) - frame.started) // 1000),
        }
        error = self._error(frame, span)
        raw = self._raw(call, origin)
        if raw is not None:
            tool: dict[str, Any] = {"ran": list(times.values())}
            if error:
                tool["error"] = error
            if _name(origin) != span.data.name:
                tool["name"] = span.data.name
            extra = {"output": call.result} if differs(call.result, raw) else None
            recorded, records = frame.item(
                raw,
                "tool_call_output_item",
                span.info.agent_name,
                extra=extra,
                tool=tool,
                output=call.result,
            )
            recorded.predicted = True
            frame.unseen.append(recorded)
            return records
        status = self._status(span, call)
        if status == "cancelled" and span.info.call is not None:
            span.info.call.error = CancelledError("the tool did not end")
        body: dict[str, Any] = {
            "call": call.call_id,
            "name": span.data.name,
            "agent": span.info.agent_name,
            **times,
            "status": status,
            "error": error,
        }
        if call.call_id is None or self._recording.given.capture == "spans":
            body["arguments"] = frame.privacy.value(span.data.input)
            body["output"] = frame.privacy.value(span.data.output)
        return frame.make(
            "tool", {key: value for key, value in body.items() if value is not None}
        )

    def _raw(self, call: ToolCall, origin: Recorded | None) -> dict[str, Any] | None:
        """Returns the output item as the SDK will make it; the next input and the result check it.

        Only for plain function calls: other families and tools with an output schema have shapes
        of their own, and are recorded where they are seen first.
        """
        if (
            call.result is _NOTHING
            or origin is None
            or origin.raw.get("type") != "function_call"
        ):
            return None
        if isinstance(origin.source, dict) or getattr(
            call.tool, "output_json_schema", None
        ):
            return None
        from agents import ItemHelpers

        return dict(ItemHelpers.tool_call_output_item(origin.source, call.result))

    def _status(self, span: OpenSpan, call: ToolCall) -> str:
        if span.error:
            return "failed"
        if call.result is not _NOTHING:
            return "completed"
        if self._recording.given.capture == "spans":
            return "pending" if span.data.output is None else "completed"
        if not call.ran:
            return "pending" if span.data.output is None else "rejected"
        return (
            "pending" if call.call_id in self._recording.waiting_calls else "cancelled"
        )

    def _error(self, frame: Frame, span: OpenSpan) -> dict[str, Any] | None:
        if not span.error:
            return None
        data = span.error.get("data")
        found = {"type": "_OTHER", "message": span.error.get("message"), "data": data}
        if not frame.privacy.content:
            found = {"type": "_OTHER"}
        found = {
            key: frame.privacy.value(value) if key != "type" else value
            for key, value in found.items()
        }
        return {key: value for key, value in found.items() if value}

    def _origin(self, frame: Frame, call: ToolCall) -> Recorded | None:
        """Returns the record of the call itself: the latest with its id."""
        if call.call_id is None:
            return None
        for recorded in reversed(frame.recorded):
            raw = recorded.raw
            if (
                recorded.call is not None
                and isinstance(raw, dict)
                and raw.get("call_id") == call.call_id
            ):
                return recorded
        return None

    def _by_order(self, frame: Frame, span: OpenSpan) -> ToolCall:
        """Finds the call of a span that no hook spoke of: the first of that name not yet taken."""
        for recorded in frame.recorded:
            raw = recorded.raw
            if (
                recorded.call is None
                or not isinstance(raw, dict)
                or "call_id" not in raw
            ):
                continue
            if (
                _name(recorded) != span.data.name
                or (recorded.seq, raw["call_id"]) in self._taken
            ):
                continue
            if (
                span.data.input is not None
                and raw.get("arguments", span.data.input) != span.data.input
            ):
                continue
            return ToolCall(
                raw["call_id"],
                source="order",
                ran=self._recording.given.capture == "spans",
            )
        return ToolCall(
            None, source="unknown", ran=self._recording.given.capture == "spans"
        )


def _name(recorded: Recorded | None) -> str | None:
    if recorded is None or not isinstance(recorded.raw, dict):
        return None
    raw = recorded.raw
    name = raw.get("name")
    if not isinstance(name, str):
        return str(raw.get("type", "")).removesuffix("_call") or None
    space = raw.get("namespace")
    return f"{space}.{name}" if isinstance(space, str) and space != name else name
