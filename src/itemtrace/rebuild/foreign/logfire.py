"""Logfire: the SDK's span data, a JSON attribute for each field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemtrace.ledger.parts import mapping, sequence
from itemtrace.rebuild.foreign import content
from itemtrace.rebuild.foreign.genai import as_text
from itemtrace.rebuild.foreign.steps import (
    Dialect,
    Step,
    error_of,
    parsed,
    register,
    text,
    usage_of,
    without_nulls,
)


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.codec.spans import SpanRow


TEMPLATE: Final = "logfire.msg_template"
SCOPE: Final = "logfire.openai_agents"
NO_OUTPUT: Final = '"output":{"type":"null"}'


def recognises(row: SpanRow) -> bool:
    """A span of its instrumentation of the Agents SDK."""
    return row.scope == SCOPE or (
        TEMPLATE in row.attributes
        and ("agent_trace_id" in row.attributes or reader_of(row) is not None)
    )


def reader_of(row: SpanRow) -> Callable[[Step, SpanRow], None] | None:
    """Returns what reads a span, by the beginning of its message template."""
    template = str(row.attributes.get(TEMPLATE))
    return next((read for start, read in TEMPLATES if template.startswith(start)), None)


def read(row: SpanRow) -> Step:
    """Returns the step of a span by its message template."""
    step = Step(row=row, error=error_of(row))
    reader = reader_of(row)
    if reader is not None:
        reader(step, row)
    return step


def _trace(step: Step, row: SpanRow) -> None:
    said = row.attributes
    step.kind, step.name = "trace", text(said.get("name"))
    step.trace_id = text(said.get("agent_trace_id"))
    group = text(said.get("group_id"))
    step.group = None if group == "null" else group
    step.metadata = mapping(parsed(said.get("metadata"))) or None


def _task(step: Step, row: SpanRow) -> None:
    step.kind, step.name = "run", text(row.attributes.get("name"))


def _agent(step: Step, row: SpanRow) -> None:
    step.kind, step.name = "agent", text(row.attributes.get("name"))


def _tool(step: Step, row: SpanRow) -> None:
    said = row.attributes
    step.kind, step.name = "tool", text(said.get("name"))
    step.arguments, step.result = as_text(said.get("input")), said.get("output")
    if step.result == "null" and NO_OUTPUT in str(said.get("logfire.json_schema")):
        step.result = None  # a null, not the text of it


def _handoff(step: Step, row: SpanRow) -> None:
    step.kind = "handoff"
    step.name = text(row.attributes.get("from_agent"))
    step.target = text(row.attributes.get("to_agent"))


def _model(step: Step, row: SpanRow) -> None:
    said = row.attributes
    step.kind = "model"
    step.model = text(said.get("gen_ai.request.model"))
    step.response_model = text(said.get("gen_ai.response.model"))
    step.response_id = text(said.get("response_id"))
    step.usage = usage_of(without_nulls(parsed(said.get("usage"))))


def _response(step: Step, row: SpanRow) -> None:
    _model(step, row)
    step.api = "responses"
    response = mapping(parsed(row.attributes.get("response")))
    if response:
        step.output = without_nulls(sequence(response.get("output")))
        step.system = text(response.get("instructions"))
        step.tools = as_text(without_nulls(sequence(response.get("tools"))) or None)
    given = row.attributes.get("raw_input")
    sent = parsed(given)
    step.input = content.items_of(given if sent is None else sent)


def _chat(step: Step, row: SpanRow) -> None:
    _model(step, row)
    step.api = "chat_completions"
    given, got = (
        parsed(row.attributes.get("input")),
        parsed(row.attributes.get("output")),
    )
    if isinstance(given, list):
        step.system, step.input = content.from_chat(given)
    if isinstance(got, list):
        step.output = content.from_chat(got)[1]


TEMPLATES: Final[tuple[tuple[str, Callable[[Step, Any], None]], ...]] = (
    ("OpenAI Agents trace", _trace),
    ("Task: ", _task),
    ("Agent run: ", _agent),
    ("Function: ", _tool),
    ("Handoff: ", _handoff),
    ("Responses API", _response),
    ("Chat completion with", _chat),
)
"""Beginning of a message template -> what reads the span."""

register(
    Dialect(
        "Logfire",
        recognises,
        read,
        lacks=("ids of tool calls on the spans that executed them",),
    )
)
