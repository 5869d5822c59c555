"""The GenAI semantic conventions, in attributes or in events, whoever wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.ledger.parts import is_mapping, is_sequence, mapping, sequence
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
)


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from itemtrace.codec.spans import SpanRow


OPERATION: Final = "gen_ai.operation.name"


def recognises(row: SpanRow) -> bool:
    """A span of an operation."""
    return OPERATION in row.attributes


def read(row: SpanRow) -> Step:
    """Returns the step of a span by its operation."""
    step = Step(
        row=row,
        error=error_of(row),
        group=text(row.attributes.get("gen_ai.conversation.id")),
    )
    reader = OPERATIONS.get(str(row.attributes.get(OPERATION)))
    if reader is not None:
        reader(step, row)
    return step


def _agent(step: Step, row: SpanRow) -> None:
    step.name = text(row.attributes.get("gen_ai.agent.name"))
    step.kind = "agent" if step.name else "trace"
    step.name = step.name or row.name


def _workflow(step: Step, row: SpanRow) -> None:
    step.kind = "trace"
    step.name = text(row.attributes.get("gen_ai.workflow.name")) or row.name


def _tool(step: Step, row: SpanRow) -> None:
    said = {
        **_in_events(row, "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
        **row.attributes,
    }
    step.kind, step.name = "tool", text(said.get("gen_ai.tool.name")) or row.name
    step.call_id = text(said.get("gen_ai.tool.call.id"))
    step.arguments = as_text(said.get("gen_ai.tool.call.arguments"))
    step.result = said.get("gen_ai.tool.call.result")


def as_text(value: Any) -> str | None:
    """Returns a text, or a structure as JSON text."""
    nested = is_mapping(value) or is_sequence(value)
    return canonical.dumps(value) if nested else text(value)


def _handoff(step: Step, row: SpanRow) -> None:
    said = row.attributes
    step.kind = "handoff"
    step.name = text(said.get("gen_ai.handoff.from_agent")) or text(
        said.get("gen_ai.agent.name")
    )
    step.target = text(said.get("gen_ai.handoff.to_agent"))


def model(step: Step, row: SpanRow) -> None:
    """Reads a model call: its facts, and its messages wherever they are."""
    said = row.attributes
    step.kind = "model"
    step.model = text(said.get("gen_ai.request.model"))
    step.response_id = text(said.get("gen_ai.response.id"))
    step.response_model = text(said.get("gen_ai.response.model"))
    step.api = text(said.get("openai.api.type"))
    step.usage = usage(said)
    told = {
        **_in_events(row, *CONTENT_KEYS),
        **{key: said[key] for key in CONTENT_KEYS if key in said},
    }
    step.tools = as_text(told.get(TOOLS))
    given, got = _messages(told, INPUT), _messages(told, OUTPUT)
    if given is None and got is None:
        given, got = _older_events(row)
    if given is not None:
        step.system, step.input = (
            content.from_parts(given) if _has_parts(given) else content.from_chat(given)
        )
    instructions = parsed(told.get(SYSTEM))
    step.system = content.joined(instructions) or step.system
    if got is not None:
        step.output = (
            content.from_parts(got) if _has_parts(got) else content.from_chat(got)
        )[1]
    if step.output is not None and content.has_repr(step.output):
        step.lacks.append(
            "some outputs: the recorder wrote Python reprs, kept here as texts"
        )


INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
SYSTEM: Final = "gen_ai.system_instructions"
TOOLS: Final = "gen_ai.tool.definitions"
CONTENT_KEYS: Final = (INPUT, OUTPUT, SYSTEM, TOOLS)


def _in_events(row: SpanRow, *keys: str) -> Raw:
    """Returns attributes that stand on events: `gen_ai.client.inference.operation.details` and others."""
    found: Raw = {}
    for event in row.events:
        said = mapping(event.get("attributes"))
        found |= {key: said[key] for key in keys if key in said}
    return found


def _messages(told: Mapping[str, Any], key: str) -> list[Any] | None:
    value = parsed(told.get(key))
    return sequence(value) if isinstance(value, list) else None


def _has_parts(messages: list[Any]) -> bool:
    return any(is_mapping(message) and "parts" in message for message in messages)


def _older_events(row: SpanRow) -> tuple[list[Any] | None, list[Any] | None]:
    """Returns the messages of the events of earlier conventions, as chat messages."""
    given: list[Any] = []
    got: list[Any] = []
    for event in row.events:
        name, said = str(event.get("name")), mapping(event.get("attributes"))
        whole = WHOLE.get(name)
        if whole is not None:
            (given if name.endswith("prompt") else got).extend(
                sequence(parsed(said.get(whole)))
            )
        elif name == "gen_ai.choice":
            got.append(
                _message("assistant", mapping(parsed(said.get("message"))) or said)
            )
        elif name in ROLES:
            given.append(_message(ROLES[name], said))
    return given or None, got or None


def _message(role: str, said: Raw) -> Raw:
    found: Raw = {
        "role": text(said.get("role")) or role,
        "content": said.get("content"),
    }
    if text(said.get("id")):
        found["tool_call_id"] = said["id"]
    calls = parsed(said.get("tool_calls"))
    return {**found, "tool_calls": calls} if calls else found


WHOLE: Final = {
    "gen_ai.content.prompt": "gen_ai.prompt",
    "gen_ai.content.completion": "gen_ai.completion",
}
"""Event that has all messages -> its attribute."""

ROLES: Final = {
    f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")
}
"""Event of one message -> role."""


def usage(said: Mapping[str, Any]) -> list[Any] | None:
    """Returns the usage in `gen_ai.usage.*`, older names included."""
    given = count(
        said.get("gen_ai.usage.input_tokens", said.get("gen_ai.usage.prompt_tokens"))
    )
    got = count(
        said.get(
            "gen_ai.usage.output_tokens", said.get("gen_ai.usage.completion_tokens")
        )
    )
    if not given and not got:
        return None
    cached = count(said.get("gen_ai.usage.cache_read.input_tokens"))
    thought = max(count(said.get(key)) for key in THOUGHT)
    details = {"cached_tokens": cached} if cached else {}
    return [
        1,
        given,
        got,
        given + got,
        details,
        {"reasoning_tokens": thought} if thought else {},
    ]


THOUGHT: Final = (
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
)

OPERATIONS: Final[dict[str, Callable[[Step, Any], None]]] = {
    "chat": model,
    "text_completion": model,
    "generate_content": model,
    "invoke_agent": _agent,
    "invoke_workflow": _workflow,
    "execute_tool": _tool,
    "handoff": _handoff,
    "agent_handoff": _handoff,
}
"""Operation -> what reads the rest of the span."""

register(
    Dialect(
        "GenAI conventions",
        recognises,
        read,
        lacks=(
            "items as they were: messages of the conventions have no item ids and no encrypted reasoning",
            "arguments as they were written: they were parsed, and are JSON again",
        ),
    )
)


def numbered(said: Mapping[str, Any], prefix: str) -> Iterator[tuple[int, str, Any]]:
    """Yields number, rest of the key and value of keys such as `gen_ai.prompt.0.role`."""
    for key, value in said.items():
        number, _, rest = (
            key[len(prefix) :].partition(".")
            if key.startswith(prefix)
            else ("", "", "")
        )
        if number.isdecimal() and len(number) < 7:
            yield int(number), rest, value
