"""Readable copies of what a model saw and said, in the words of the GenAI conventions.

They are for the eyes of people who use a trace viewer. The ledger never depends on them: they leave
out what the conventions cannot say, and they are shortened to a byte limit. Items may be mappings or
typed objects; nothing is dumped as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemtrace.capture.messages.content import Part
from itemtrace.capture.messages.fields import field
from itemtrace.capture.messages.fit import (
    LIMIT,
    MARK,
    fit_json,
    fit_messages,
    fit_parts,
    fit_text,
    fit_value,
)
from itemtrace.capture.messages.parts import (
    PARTS,
    is_client_call,
    item_parts,
    item_type,
    register,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


__all__ = [
    "LIMIT",
    "MARK",
    "PARTS",
    "Message",
    "Part",
    "after_answer",
    "definitions_json",
    "field",
    "fit_json",
    "fit_text",
    "fit_value",
    "input_json",
    "input_messages",
    "is_client_call",
    "item_type",
    "new_items",
    "output_json",
    "output_message",
    "register",
    "system_json",
]

Message = dict[str, Any]

_LEAST_BYTES = 40  # the shortest message is longer, so older items cannot fit
_HOSTED_OUTPUTS = frozenset({"shell_call_output"})


def input_messages(items: str | Iterable[Any]) -> list[Message]:
    """Returns the messages of a model's input, in its order.

    Items that a model made and that follow each other are one assistant message, since one choice
    is one message; a tool's answer is a message with role `tool`.
    """
    if isinstance(items, str):
        return [{"role": "user", "parts": [{"type": "text", "content": items}]}]
    messages: list[Message] = []
    for item in items:
        parts = item_parts(item)
        if not parts:
            continue
        role = _role(item, parts)
        if role == "assistant" and messages and messages[-1]["role"] == role:
            messages[-1]["parts"].extend(parts)
        else:
            messages.append({"role": role, "parts": parts})
    return messages


def output_message(items: Iterable[Any], finish_reason: str) -> Message:
    """Returns the one assistant message of a response.

    Args:
        items: The response's output items, or one chat message.
        finish_reason: As in a message: `stop`, `tool_call`, `length`, ...
    """
    parts: list[Part] = []
    for item in items:
        made = item_parts(item)
        if item_type(item) in _HOSTED_OUTPUTS:
            made = [_hosted(part) for part in made]
        parts.extend(made)
    return {"role": "assistant", "parts": parts, "finish_reason": finish_reason}


def after_answer(items: str | Sequence[Any]) -> str | Sequence[Any]:
    """Returns the items without those at their head that a model made: they were shown as output."""
    if isinstance(items, str):
        return items
    for at, item in enumerate(items):
        parts = item_parts(item)
        if parts and _role(item, parts) != "assistant":
            return items[at:]
    return ()


def new_items(items: str | Sequence[Any]) -> str | Sequence[Any]:
    """Returns what follows the last item that a model made: what is new when nobody counted."""
    if isinstance(items, str):
        return items
    for at in range(len(items) - 1, -1, -1):
        parts = item_parts(items[at])
        if parts and _role(items[at], parts) == "assistant":
            return items[at + 1 :]
    return items


def input_json(
    items: str | Sequence[Any], limit: int = LIMIT
) -> tuple[str | None, bool]:
    """Returns `gen_ai.input.messages`, None if there is none, and whether it was shortened."""
    most = limit // _LEAST_BYTES
    recent = items if isinstance(items, str) else items[-most:]
    messages = input_messages(recent)
    if not messages:
        return None, False
    text, cut = fit_messages(messages, limit)
    return text, cut or len(recent) < len(items)


def output_json(
    items: Iterable[Any], finish_reason: str, limit: int = LIMIT
) -> tuple[str, bool]:
    """Returns `gen_ai.output.messages`, and whether it was shortened."""
    return fit_messages([output_message(items, finish_reason)], limit)


def system_json(instructions: str, limit: int = LIMIT) -> tuple[str, bool]:
    """Returns `gen_ai.system_instructions`, and whether it was shortened."""
    return fit_parts([{"type": "text", "content": instructions}], limit)


def definitions_json(
    tools: Iterable[Any], limit: int = LIMIT
) -> tuple[str | None, bool]:
    """Returns `gen_ai.tool.definitions`: type and name of each tool, as the conventions advise."""
    definitions = [_definition(tool) for tool in tools]
    return fit_parts(definitions, limit) if definitions else (None, False)


def _definition(tool: object) -> dict[str, Any]:
    kind = field(tool, "type") or "function"
    name = field(tool, "name") or field(field(tool, "function"), "name")
    return {"type": kind, "name": name or field(tool, "server_label") or kind}


def _role(item: object, parts: list[Part]) -> str:
    role = field(item, "role")
    if isinstance(role, str) and role:
        return role
    if parts and parts[-1]["type"] == "tool_call_response":
        return "tool"
    return "assistant"


def _hosted(part: Part) -> Part:
    answer = {"type": "shell", "output": part["response"]}
    hosted: Part = {"type": "server_tool_call_response"}
    if "id" in part:
        hosted["id"] = part["id"]
    hosted["server_tool_call_response"] = answer
    return hosted
