"""What frames the work: trace, task, turn and agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from opentelemetry.trace import SpanKind

from itemtrace import semconv
from itemtrace.capture.messages import field
from itemtrace.capture.spans.base import (
    Attributes,
    Named,
    SpanContextInfo,
    Start,
    keep_alive,
    named,
    operation,
    put,
    register,
    strings,
)
from itemtrace.capture.spans.usage import put_sums
from itemtrace.codec import canonical


if TYPE_CHECKING:
    from collections.abc import Mapping


DEFAULT_WORKFLOW: Final = "Agent workflow"
"""The SDK's name for a trace that got none: no meaningful name, so it is never emitted."""


def workflow_name(trace_name: str | None, first_agent: str | None = None) -> str | None:
    """Returns `gen_ai.workflow.name`: the application's name, else the first agent's, else None."""
    if trace_name and trace_name != DEFAULT_WORKFLOW:
        return trace_name
    return first_agent or None


def workflow_start(
    trace_id: str, info: SpanContextInfo, metadata: Mapping[str, Any] | None = None
) -> Start:
    """Returns the start of a trace's root span.

    `info.agent_name`, if known, is the first agent. When it becomes known later, the caller sets
    `workflow_name(...)` as name and attribute.

    Args:
        trace_id: The SDK's trace id.
        info: With the trace's name as `workflow`.
        metadata: The trace's metadata.
    """
    name = workflow_name(info.workflow, info.agent_name)
    attributes = operation("invoke_workflow", info)
    put(attributes, semconv.GEN_AI_WORKFLOW_NAME, name)
    put(attributes, semconv.ITEMTRACE_SDK_TRACE_ID, trace_id)
    if metadata and info.content:
        attributes[semconv.ITEMTRACE_TRACE_METADATA] = canonical.dumps(
            info.shown(dict(metadata))
        )
    return Start(named("invoke_workflow", name), SpanKind.INTERNAL, attributes)


def task_start(data: Any, info: SpanContextInfo) -> Start:
    """One run; its first agent is known later, so the keep-alive may come at the end."""
    attributes = keep_alive(info)
    name = workflow_name(field(data, "name"))
    if name != info.workflow:
        put(attributes, semconv.ITEMTRACE_TASK_NAME, name)
    return Start("task", SpanKind.INTERNAL, attributes)


def task_end(data: Any, info: SpanContextInfo) -> Named:
    """The sums of the run."""
    attributes = keep_alive(info)
    put_sums(attributes, field(data, "usage"))
    return Named("task", attributes)


def turn_start(data: Any, info: SpanContextInfo) -> Start:
    """One turn: there are many, so only what nothing else says."""
    attributes = keep_alive(info, field(data, "agent_name"))
    put(attributes, semconv.ITEMTRACE_TURN_INDEX, field(data, "turn"))
    return Start("turn", SpanKind.INTERNAL, attributes)


def turn_end(data: Any, info: SpanContextInfo) -> Named:  # noqa: ARG001 - a handler
    """Nothing: its tokens are those of the model calls below it, and there are many turns."""
    return Named("turn", {})


def agent_start(data: Any, info: SpanContextInfo) -> Start:
    """An agent at work; its model is left off, since a run may use another."""
    attributes = operation("invoke_agent", info)
    put(attributes, semconv.GEN_AI_AGENT_NAME, data.name)
    output_type = field(data, "output_type")
    if output_type and output_type != "str":
        attributes[semconv.GEN_AI_OUTPUT_TYPE] = "json"
        attributes[semconv.ITEMTRACE_AGENT_OUTPUT_TYPE] = output_type
    return Start(named("invoke_agent", data.name), SpanKind.INTERNAL, attributes)


def agent_end(data: Any, info: SpanContextInfo) -> Named:
    """Tools and handoffs, which the SDK fills in late, and the sums that the seam knows."""
    attributes: Attributes = {}
    put(attributes, semconv.ITEMTRACE_AGENT_TOOLS, strings(field(data, "tools")))
    put(attributes, semconv.ITEMTRACE_AGENT_HANDOFFS, strings(field(data, "handoffs")))
    if info.call:
        put_sums(attributes, info.call.usage)
        if info.call.finish_reason:
            reasons = [info.call.finish_reason]
            attributes[semconv.GEN_AI_RESPONSE_FINISH_REASONS] = reasons
    return Named(named("invoke_agent", data.name), attributes)


register("task", task_start, task_end)
register("turn", turn_start, turn_end)
register("agent", agent_start, agent_end)
