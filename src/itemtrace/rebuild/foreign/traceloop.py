"""Traceloop's OpenLLMetry: the GenAI conventions, with spans that say their kind in its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemtrace.ledger.parts import mapping
from itemtrace.rebuild.foreign import content, genai
from itemtrace.rebuild.foreign.steps import Dialect, Raw, Step, parsed, register, text


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.codec.spans import SpanRow


KIND: Final = "traceloop.span.kind"


def recognises(row: SpanRow) -> bool:
    """A span that says its kind, or has messages in its older form."""
    return KIND in row.attributes or "gen_ai.prompt.0.role" in row.attributes


def read(row: SpanRow) -> Step:
    """Returns the step of a span by its operation, and by its kind where it has none."""
    step = genai.read(row)
    kind = KINDS.get(str(row.attributes.get(KIND)))
    if step.kind == "other" and kind is not None:
        kind(step, row)
    if "gen_ai.prompt.0.role" in row.attributes:
        genai.model(step, row)
        step.system, given = content.from_chat(_messages(row, "gen_ai.prompt."))
        step.input = step.input or given
        step.output = (
            step.output or content.from_chat(_messages(row, "gen_ai.completion."))[1]
        )
    return step


def _workflow(step: Step, row: SpanRow) -> None:
    step.kind, step.name = (
        "trace",
        text(row.attributes.get("traceloop.workflow.name")) or row.name,
    )


def _agent(step: Step, row: SpanRow) -> None:
    step.kind, step.name = "agent", _name(row)


def _tool(step: Step, row: SpanRow) -> None:
    step.kind, step.name = "tool", _name(row)
    given = mapping(parsed(row.attributes.get("traceloop.entity.input")))
    step.arguments = genai.as_text(given.get("inputs", given.get("input_str")))
    got = mapping(parsed(row.attributes.get("traceloop.entity.output")))
    step.result = got.get("output")


def _name(row: SpanRow) -> str:
    named = text(row.attributes.get("traceloop.entity.name"))
    return named or row.name.removesuffix(".tool").removesuffix(".agent")


def _messages(row: SpanRow, prefix: str) -> list[Raw]:
    found: dict[int, Raw] = {}
    for number, key, value in genai.numbered(row.attributes, prefix):
        message = found.setdefault(number, {"role": "assistant"})
        if key in ("role", "content", "tool_call_id"):
            message[key] = value
        elif key.startswith("tool_calls."):
            calls = message.setdefault("tool_calls", {})
            place, _, name = key.removeprefix("tool_calls.").partition(".")
            calls.setdefault(place, {})[name] = value
    for message in found.values():
        if "tool_calls" in message:
            message["tool_calls"] = [
                {"id": call.get("id"), "function": call}
                for call in message["tool_calls"].values()
            ]
    return [found[number] for number in sorted(found)]


KINDS: Final[dict[str, Callable[[Step, Any], None]]] = {
    "workflow": _workflow,
    "agent": _agent,
    "tool": _tool,
}
"""Kind -> what reads a span that has no operation."""

register(
    Dialect(
        "Traceloop",
        recognises,
        read,
        lacks=(
            "items as they were: messages of the conventions have no item ids and no encrypted reasoning",
            "arguments as they were written: they were parsed, and are JSON again",
            "reasoning, hosted tools, targets of handoffs, and the name of the workflow",
            "which call an input's tool call is: it has the item's id in place of the call's",
        ),
        also=("GenAI conventions",),
    )
)
