"""Messages of the chat API and of the GenAI conventions as items of the Responses API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.ledger.parts import is_mapping, is_sequence, mapping, sequence
from itemtrace.rebuild.foreign.steps import Raw, text, without_nulls


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


REPR: Final = re.compile(r"[A-Z]\w+\(\w+=|\{'\w+': ")
"""How the Python repr of an item begins, which some recorders write in place of a text."""

Converted = tuple[str | None, list[Any]]
"""Instructions and items."""


def items_of(value: Any) -> list[Any] | None:
    """Returns input items as they are, without nulls; a text is one message of the user."""
    if isinstance(value, str):
        return [{"content": value, "role": "user"}]
    return without_nulls(value) if isinstance(value, list) else None


# --- chat messages ----------------------------------------------------------------------


def from_chat(messages: Any) -> Converted:
    """Returns instructions and items of chat messages; what is no chat message stays as it is."""
    system: str | None = None
    items: list[Any] = []
    for message in sequence(messages):
        known = without_nulls(mapping(message))
        role = known.get("role")
        if role in ("system", "developer") and system is None and not items:
            system = text(known.get("content"))
        elif known:
            items += CHAT.get(str(role), _as_it_is)(known)
    return system, items


def _as_it_is(message: Raw) -> Iterator[Raw]:
    yield message


def _assistant(message: Raw) -> Iterator[Raw]:
    content = message.get("content")
    if isinstance(content, str) and content:
        yield said(content)
    elif content:
        yield {"role": "assistant", "content": content}
    for call in sequence(message.get("tool_calls")):
        function = mapping(mapping(call).get("function"))
        yield function_call(
            mapping(call).get("id"), function.get("name"), function.get("arguments")
        )


def _tool(message: Raw) -> Iterator[Raw]:
    yield call_output(message.get("tool_call_id"), message.get("content", ""))


CHAT: Final[dict[str, Callable[[Raw], Iterator[Raw]]]] = {
    "assistant": _assistant,
    "tool": _tool,
}
"""Role -> how its message becomes items; others stay messages."""


# --- messages of the GenAI conventions ------------------------------------------------------


def from_parts(messages: Any) -> Converted:
    """Returns instructions and items of `gen_ai.*.messages`."""
    system: str | None = None
    items: list[Any] = []
    for message in sequence(messages):
        known = mapping(message)
        role = str(known.get("role") or "user")
        parts = [mapping(part) for part in sequence(known.get("parts"))]
        if role in ("system", "developer") and system is None and not items:
            system = joined(parts)
        else:
            items += _from_message(role, parts)
    return system, items


def joined(parts: Any) -> str | None:
    """Returns the texts of parts, a line each; None where there are none."""
    texts = [text(mapping(part).get("content")) for part in sequence(parts)]
    return "\n".join(filter(None, texts)) or None


def _from_message(role: str, parts: Iterable[Raw]) -> Iterator[Raw]:
    for part in parts:
        kind = str(part.get("type"))
        if kind in PARTS:
            yield PARTS[kind](part)
        elif kind == "text" and role == "assistant":
            yield said(str(part.get("content") or ""))
        elif kind == "text":
            yield {"role": role, "content": str(part.get("content") or "")}
        elif part:
            yield {"role": role, "content": [part]}


def _reasoning(part: Raw) -> Raw:
    summary = [{"text": str(part.get("content") or ""), "type": "summary_text"}]
    return {"summary": summary, "type": "reasoning"}


PARTS: Final[dict[str, Callable[[Raw], Raw]]] = {
    "reasoning": _reasoning,
    "tool_call": lambda part: function_call(
        part.get("id"), part.get("name"), part.get("arguments")
    ),
    "tool_call_response": lambda part: call_output(
        part.get("id"), part.get("response", part.get("result", ""))
    ),
}
"""Type of a part -> its item, whatever the role."""


# --- items ------------------------------------------------------------------------------


def said(content: str) -> Raw:
    """Returns a message of the assistant as an output item."""
    block = {"annotations": list[Any](), "text": content, "type": "output_text"}
    return {"content": [block], "role": "assistant", "type": "message"}


def function_call(call_id: Any, name: Any, arguments: Any) -> Raw:
    """Returns a function call; arguments that are no text become JSON."""
    written = (
        arguments
        if isinstance(arguments, str)
        else canonical.dumps({} if arguments is None else arguments)
    )
    item: Raw = {"arguments": written, "name": str(name or ""), "type": "function_call"}
    return item if not isinstance(call_id, str) else {**item, "call_id": call_id}


def call_output(call_id: Any, output: Any) -> Raw:
    """Returns the output of a function call."""
    kept = isinstance(output, str) or is_sequence(output)
    written: Any = output if kept else canonical.dumps(output)
    item: Raw = {"output": written, "type": "function_call_output"}
    return item if not isinstance(call_id, str) else {"call_id": call_id, **item}


def has_repr(items: Iterable[Any]) -> bool:
    """Whether a message among items is the Python repr of something."""
    texts = (
        mapping(block).get("text")
        for item in items
        for block in sequence(mapping(item).get("content"))
        if is_mapping(item)
    )
    return any(isinstance(found, str) and REPR.match(found) for found in texts)
