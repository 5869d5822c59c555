"""OpenInference, as its own processor for the Agents SDK writes it (Phoenix, Arize)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.ledger.parts import is_sequence, mapping, sequence
from itemtrace.rebuild.foreign import content
from itemtrace.rebuild.foreign.steps import (
    Dialect,
    Raw,
    Step,
    count,
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


KIND: Final = "openinference.span.kind"


def recognises(row: SpanRow) -> bool:
    """Every span has its kind."""
    return KIND in row.attributes


def read(row: SpanRow) -> Step:
    """Returns the step of a span by its kind."""
    step = Step(
        row=row, error=error_of(row), group=text(row.attributes.get("session.id"))
    )
    reader = KINDS.get(str(row.attributes[KIND]))
    if reader is not None:
        reader(step, row)
    return step


def _agent(step: Step, row: SpanRow) -> None:
    step.name = text(row.attributes.get("agent.name"))
    step.kind = "agent" if step.name else "trace"
    if step.kind == "trace":
        step.name = row.name
        step.metadata = mapping(parsed(row.attributes.get("metadata"))) or None


def _chain(step: Step, row: SpanRow) -> None:
    if row.name not in ("turn", "mcp_tools"):
        step.kind, step.name = "run", row.name


def _tool(step: Step, row: SpanRow) -> None:
    name = text(row.attributes.get("tool.name"))
    given, got = row.attributes.get("input.value"), row.attributes.get("output.value")
    if name is None and row.name.startswith("handoff"):
        step.kind, step.name, step.target = "handoff", text(given), text(got)
        return
    step.kind, step.name = "tool", name or row.name
    step.arguments, step.result = text(given), got
    step.call_id = text(row.attributes.get("tool.id"))


def _model(step: Step, row: SpanRow) -> None:
    said = row.attributes
    step.kind = "model"
    step.model = text(said.get("llm.request.model_name"))
    step.response_model = text(said.get("llm.response.model_name")) or text(
        said.get("llm.model_name")
    )
    step.usage = usage(said)
    step.tools = _tools(said)
    answer = parsed(said.get("output.value"))
    if mapping(answer).get("object") == "response":
        _response(step, mapping(answer))
    elif isinstance(answer, list):
        step.api, step.model = "chat_completions", step.model or step.response_model
        step.output = content.from_chat(answer)[1]
    else:
        step.output = (
            content.from_chat(messages(said, "llm.output_messages."))[1] or None
        )
    _input(step, row)


def _response(step: Step, response: Raw) -> None:
    step.api = "responses"
    step.output = without_nulls(sequence(response.get("output")))
    step.response_id = text(response.get("id"))
    step.response_model = text(response.get("model")) or step.response_model
    step.system = text(response.get("instructions"))
    step.usage = usage_of(without_nulls(response.get("usage"))) or step.usage


def _input(step: Step, row: SpanRow) -> None:
    given = row.attributes.get("input.value")
    sent = (
        parsed(given)
        if row.attributes.get("input.mime_type") == "application/json"
        else given
    )
    if step.api == "responses" and isinstance(sent, str | list):
        step.input = content.items_of(sent)
        return
    flat = not is_sequence(sent)
    chat = messages(row.attributes, "llm.input_messages.") if flat else sequence(sent)
    system, items = content.from_chat(chat)
    step.system = step.system or system
    step.input = items or None
    if flat:
        step.lacks.append(
            "whole inputs: what is there was read from flattened messages"
        )


def usage(said: Any) -> list[Any] | None:
    """Returns the usage in token counts."""
    given = count(said.get("llm.token_count.prompt"))
    got = count(said.get("llm.token_count.completion"))
    total = count(said.get("llm.token_count.total")) or given + got
    if not total:
        return None
    cached = count(said.get("llm.token_count.prompt_details.cache_read"))
    thought = count(said.get("llm.token_count.completion_details.reasoning"))
    details = {"cached_tokens": cached} if cached else {}
    return [
        1,
        given,
        got,
        total,
        details,
        {"reasoning_tokens": thought} if thought else {},
    ]


SCHEMA: Final = re.compile(r"llm\.tools\.\d+\.tool\.json_schema")


def _tools(said: Any) -> str | None:
    found = [parsed(value) for key, value in said.items() if SCHEMA.fullmatch(key)]
    return canonical.dumps(found) if found else None


LEAF: Final = re.compile(r"(\d+)\.message\.(.+)")
CALL: Final = re.compile(
    r"tool_calls\.(\d+)\.tool_call\.(?:function\.)?(id|name|arguments)"
)
CONTENT: Final = re.compile(r"contents\.(\d+)\.message_content\.text")


def messages(said: Any, prefix: str) -> list[Raw]:
    """Returns chat messages of flattened ones, in order."""
    found: dict[int, Raw] = {}
    for key, value in said.items():
        match = LEAF.fullmatch(key[len(prefix) :]) if key.startswith(prefix) else None
        if match:
            _leaf(found.setdefault(int(match[1][:6]), {}), match[2], value)
    return [_chat(found[number]) for number in sorted(found)]


def _leaf(message: Raw, key: str, value: Any) -> None:
    call, block = CALL.fullmatch(key), CONTENT.fullmatch(key)
    if call:
        calls = message.setdefault("calls", {})
        calls.setdefault(int(call[1][:6]), {})[call[2]] = value
    elif block:
        message.setdefault("blocks", {})[int(block[1][:6])] = str(value)
    elif key in ("role", "content", "tool_call_id"):
        message[key] = value


def _chat(message: Raw) -> Raw:
    calls, blocks = message.pop("calls", {}), message.pop("blocks", {})
    if calls:
        message["tool_calls"] = [
            {
                "id": call.get("id"),
                "function": {
                    "name": call.get("name"),
                    "arguments": call.get("arguments", "{}"),
                },
            }
            for _, call in sorted(calls.items())
        ]
    if blocks and "content" not in message:
        message["content"] = "\n".join(told for _, told in sorted(blocks.items()))
    return message


KINDS: Final[dict[str, Callable[[Step, Any], None]]] = {
    "AGENT": _agent,
    "CHAIN": _chain,
    "TOOL": _tool,
    "LLM": _model,
}
"""Kind -> what reads the rest of the span."""

register(
    Dialect(
        "OpenInference",
        recognises,
        read,
        lacks=("ids of tool calls on the spans that executed them",),
    )
)
