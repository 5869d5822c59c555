"""What a span of the tree gives to measure, sampled or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace as otel_trace
from opentelemetry.context import Context

from itemtrace import semconv
from itemtrace.capture import spans
from itemtrace.capture.metrics import points


if TYPE_CHECKING:
    from itemtrace.capture.tree import OpenSpan


_COUNTED: Final = {
    "response": points.INFERENCE_CALLS,
    "generation": points.INFERENCE_CALLS,
    "function": points.TOOL_CALLS,
}


def span_point(span: OpenSpan) -> points.Point | None:
    """Returns what to measure of an SDK span that has ended; None where that is nothing."""
    kind = span.data.type
    if kind not in points.HANDLERS:
        return None
    attributes = dict(getattr(span.otel, "attributes", None) or {})
    if not attributes:
        attributes = {
            **spans.on_start(span.data, span.info).attributes,
            **spans.on_end(span.data, span.info, span.error).attributes,
        }
    ended = span.end_ns or getattr(span.otel, "end_time", None) or span.start_ns
    attributes[points.AGENT] = span.info.agent_name
    counted = _COUNTED.get(kind)
    if counted and attributes.get(semconv.ITEMTRACE_TOOL_EXECUTED) is not False:
        _count(span, counted)
    if kind == "agent":
        calls = span.calls or {}
        for key in (points.INFERENCE_CALLS, points.TOOL_CALLS):
            attributes[key] = calls.get(key, 0)
    seconds = max(ended - span.start_ns, 0) / 1e9
    return points.Point(seconds, attributes, _context(span.otel))


def trace_point(span: otel_trace.Span) -> points.Point | None:
    """Returns what to measure of a trace's root span; None where it was not sampled."""
    attributes: dict[str, Any] = dict(getattr(span, "attributes", None) or {})
    started = getattr(span, "start_time", None)
    ended = getattr(span, "end_time", None)
    if started is None or ended is None:
        return None
    return points.Point((ended - started) / 1e9, attributes, _context(span))


def _count(span: OpenSpan, key: str) -> None:
    """Adds one to the nearest agent above."""
    above = span.parent
    while above is not None and above.data.type != "agent":
        above = above.parent
    if above is not None:
        if above.calls is None:
            above.calls = {}
        above.calls[key] = above.calls.get(key, 0) + 1


def _context(span: otel_trace.Span) -> Context:
    return otel_trace.set_span_in_context(span, Context())
