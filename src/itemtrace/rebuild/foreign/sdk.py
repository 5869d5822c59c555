"""The Agents SDK's own exporter: span data as it posts it (`itemtrace.stores.agents_json` reads files)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from itemtrace.codec import canonical
from itemtrace.ledger.parts import mapping
from itemtrace.rebuild.foreign import content
from itemtrace.rebuild.foreign.genai import as_text
from itemtrace.rebuild.foreign.steps import (
    Dialect,
    Raw,
    Step,
    parsed,
    register,
    text,
    usage_of,
    without_nulls,
)


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.codec.spans import SpanRow


TRACE: Final = "agents.trace"
SPAN_DATA: Final = "agents.span_data"
ERROR: Final = "agents.error"


def recognises(row: SpanRow) -> bool:
    """A row that the store of such files made."""
    return SPAN_DATA in row.attributes or TRACE in row.attributes


def read(row: SpanRow) -> Step:
    """Returns the step of a span by the type of its data."""
    step = Step(row=row)
    error = mapping(parsed(row.attributes.get(ERROR)))
    if error:
        step.error = "", str(error.get("message") or "")
        step.error_data = mapping(error.get("data")) or None
    trace = mapping(parsed(row.attributes.get(TRACE)))
    if trace:
        step.kind, step.name = "trace", text(trace.get("workflow_name"))
        step.trace_id, step.group = text(trace.get("id")), text(trace.get("group_id"))
        step.metadata = mapping(trace.get("metadata")) or None
        return step
    data = mapping(parsed(row.attributes.get(SPAN_DATA)))
    inner = mapping(data.get("data"))
    reader = TYPES.get(str(inner.get("sdk_span_type") or data.get("type")))
    if reader is not None:
        reader(step, {**data, **inner} if "sdk_span_type" in inner else data)
    return step


def _task(step: Step, data: Raw) -> None:
    step.kind, step.name = "run", text(data.get("name"))


def _agent(step: Step, data: Raw) -> None:
    step.kind, step.name = "agent", text(data.get("name"))


def _tool(step: Step, data: Raw) -> None:
    step.kind, step.name = "tool", text(data.get("name"))
    step.arguments, step.result = as_text(data.get("input")), data.get("output")


def _handoff(step: Step, data: Raw) -> None:
    step.kind = "handoff"
    step.name, step.target = text(data.get("from_agent")), text(data.get("to_agent"))


def _response(step: Step, data: Raw) -> None:
    step.kind, step.api = "model", "responses"
    step.response_id = text(data.get("response_id"))
    step.usage = usage_of(without_nulls(data.get("usage")))


def _generation(step: Step, data: Raw) -> None:
    step.kind, step.api = "model", "chat_completions"
    step.model = text(data.get("model"))
    step.usage = usage_of(without_nulls(data.get("usage")))
    settings = mapping(without_nulls(data.get("model_config")))
    step.settings = canonical.dumps(settings) if settings else None
    if isinstance(data.get("input"), list):
        step.system, step.input = content.from_chat(data["input"])
    if isinstance(data.get("output"), list):
        step.output = content.from_chat(data["output"])[1]


TYPES: Final[dict[str, Callable[[Step, Raw], None]]] = {
    "task": _task,
    "agent": _agent,
    "function": _tool,
    "handoff": _handoff,
    "response": _response,
    "generation": _generation,
}
"""Type of span data -> what reads it."""

register(
    Dialect(
        "the SDK's exporter",
        recognises,
        read,
        lacks=(
            "input and output of Responses calls: their spans have the id and the usage",
            "ids of tool calls on the spans that executed them",
        ),
    )
)
