"""What has no operation in the conventions: handoffs, guardrails, custom and unknown spans."""

from __future__ import annotations

from typing import Any, Final

from opentelemetry.trace import SpanKind

from itemtrace import semconv
from itemtrace.capture.messages import field
from itemtrace.capture.spans.base import (
    Attributes,
    Handler,
    Named,
    SpanContextInfo,
    Start,
    keep_alive,
    named,
    put,
    register,
)
from itemtrace.codec import canonical


def handoff_start(data: Any, info: SpanContextInfo) -> Start:
    """The source; the SDK knows the target only at the end."""
    source = field(data, "from_agent")
    attributes = keep_alive(info, source)
    put(attributes, semconv.ITEMTRACE_HANDOFF_FROM_AGENT, source)
    return Start("handoff", SpanKind.INTERNAL, attributes)


def handoff_end(data: Any, info: SpanContextInfo) -> Named:
    """The target, also where the span failed: the first of several handoffs goes through."""
    attributes: Attributes = {}
    target = field(data, "to_agent")
    put(attributes, semconv.ITEMTRACE_HANDOFF_TO_AGENT, target)
    if info.call:
        put(attributes, semconv.ITEMTRACE_HANDOFF_TOOL_NAME, info.call.handoff_tool)
    return Named(named("handoff", target), attributes)


def guardrail_start(data: Any, info: SpanContextInfo) -> Start:
    """One check."""
    attributes = keep_alive(info)
    put(attributes, semconv.ITEMTRACE_GUARDRAIL_NAME, data.name)
    return Start(named("guardrail", data.name), SpanKind.INTERNAL, attributes)


def guardrail_end(data: Any, info: SpanContextInfo) -> Named:
    """What it found."""
    triggered = bool(field(data, "triggered"))
    attributes: Attributes = {semconv.ITEMTRACE_GUARDRAIL_TRIGGERED: triggered}
    if info.call:
        put(attributes, semconv.ITEMTRACE_GUARDRAIL_KIND, info.call.guardrail_kind)
    return Named(named("guardrail", data.name), attributes)


def custom_start(data: Any, info: SpanContextInfo) -> Start:
    """A span of the application, which may have any name: its type tells it from ours."""
    attributes = keep_alive(info)
    attributes[semconv.ITEMTRACE_SDK_SPAN_TYPE] = "custom"
    return Start(data.name or "custom", SpanKind.INTERNAL, attributes)


def custom_end(data: Any, info: SpanContextInfo) -> Named:
    """Its data, whole: the span is the only place that has it."""
    attributes: Attributes = {}
    content = field(data, "data")
    if content and info.content:
        attributes[semconv.ITEMTRACE_CUSTOM_DATA] = canonical.dumps(info.shown(content))
    return Named(data.name or "custom", attributes)


def unknown_start(data: Any, info: SpanContextInfo) -> Start:
    """A span type of a newer SDK."""
    attributes = keep_alive(info)
    attributes[semconv.ITEMTRACE_SDK_SPAN_TYPE] = data.type
    return Start(data.type, SpanKind.INTERNAL, attributes)


def unknown_end(data: Any, info: SpanContextInfo) -> Named:
    """All its fields."""
    attributes: Attributes = {}
    if info.content:
        attributes[semconv.ITEMTRACE_SDK_DATA] = canonical.dumps(
            info.shown(_fields(data))
        )
    return Named(data.type, attributes)


def _fields(data: Any) -> dict[str, Any]:
    slots = [name for kind in type(data).__mro__ for name in _slots(kind)]
    fields = {name: getattr(data, name) for name in slots if hasattr(data, name)}
    return {**fields, **getattr(data, "__dict__", {})}


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


UNKNOWN: Final = Handler(unknown_start, unknown_end)
"""The handler of every type that is not registered."""

register("handoff", handoff_start, handoff_end)
register("guardrail", guardrail_start, guardrail_end)
register("custom", custom_start, custom_end)
