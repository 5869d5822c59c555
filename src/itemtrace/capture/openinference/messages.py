"""Messages and tools, flattened: one attribute per leaf, as many of the newest as fit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from itemtrace import semconv
from itemtrace.codec import canonical
from itemtrace.ledger.parts import sequence


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from itemtrace.capture.spans.base import Attributes


Flat = dict[str, Any]
"""Keys below a message, or below a tool, to values."""


def more(said: Attributes, room: int) -> Attributes:
    """Returns the flattened output, then tools, then the newest input messages, within a number.

    A message is there whole or not at all; the lists start at 0 without holes.

    Args:
        said: The span's GenAI attributes.
        room: How many attributes there may be.
    """
    output = list(map(flat_message, _messages(said, semconv.GEN_AI_OUTPUT_MESSAGES)))
    tools = [_tool(tool) for tool in _parsed(said, semconv.GEN_AI_TOOL_DEFINITIONS)]
    system = _parsed(said, semconv.GEN_AI_SYSTEM_INSTRUCTIONS)
    first = [{"role": "system", "parts": system}] if system else []
    sent = [*first, *_messages(said, semconv.GEN_AI_INPUT_MESSAGES)]
    given = list(map(flat_message, sent))
    found: Attributes = {}
    for prefix, flat in (
        (semconv.LLM_OUTPUT_MESSAGES, output),
        (semconv.LLM_TOOLS, tools),
        (semconv.LLM_INPUT_MESSAGES, given),
    ):
        found |= _numbered(prefix, _newest(flat, room - len(found)))
    return found


def _newest(entries: list[Flat], room: int) -> list[Flat]:
    """Returns the last entries that have no more keys than there is room for."""
    kept = 0
    for entry in reversed(entries):
        room -= len(entry)
        if room < 0:
            break
        kept += 1
    return entries[len(entries) - kept :]


def _numbered(prefix: str, entries: Iterable[Flat]) -> Attributes:
    return {
        f"{prefix}{number}.{key}": value
        for number, entry in enumerate(entries)
        for key, value in entry.items()
    }


def _parsed(said: Attributes, key: str) -> list[Any]:
    """Returns the list in one of our JSON attributes; a text that was cut in its middle has none."""
    try:
        value = json.loads(said.get(key) or "[]")
    except (ValueError, RecursionError):
        return []
    return _mappings(value)


def _mappings(value: Any) -> list[Any]:
    """Returns the mappings in a list; where a copy was shortened, text may stand between them."""
    return [entry for entry in sequence(value) if type(entry) is dict]


def _messages(said: Attributes, key: str) -> Iterator[dict[str, Any]]:
    """Yields messages; of several answers of tools in one message, one each."""
    for message in _parsed(said, key):
        parts = _mappings(message.get("parts"))
        answers = [part for part in parts if part.get("type") == "tool_call_response"]
        if len(answers) > 1:
            yield from ({**message, "parts": [part]} for part in parts)
        else:
            yield message


def flat_message(message: Mapping[str, Any]) -> Flat:
    """Returns the leaves of a message."""
    flat: Flat = {"message.role": str(message.get("role") or "user")}
    parts = _mappings(message.get("parts"))
    if len(parts) == 1 and parts[0].get("type") == "text":
        return {**flat, "message.content": _text(parts[0].get("content"))}
    calls = contents = 0
    for part in parts:
        kind = part.get("type")
        if kind in CALLS:
            named = {
                f"message.tool_calls.{calls}.{k}": v for k, v in _call(part).items()
            }
            calls += 1
        elif kind == "tool_call_response":
            named = _answer(part)
        else:
            shown = CONTENTS.get(str(kind), _other)(part)
            named = {
                f"message.contents.{contents}.message_content.{k}": v
                for k, v in shown.items()
            }
            contents += 1
        flat |= named
    return flat


CALLS: Final = ("tool_call", "server_tool_call")


def _call(part: Mapping[str, Any]) -> Flat:
    arguments = part.get("arguments", part.get("server_tool_call"))
    flat: Flat = {"tool_call.function.name": str(part.get("name") or "")}
    if part.get("id"):
        flat["tool_call.id"] = part["id"]
    if arguments is not None:
        flat["tool_call.function.arguments"] = _text(arguments)
    return flat


def _answer(part: Mapping[str, Any]) -> Flat:
    flat: Flat = {"message.content": _text(part.get("response"))}
    if part.get("id"):
        flat["message.tool_call_id"] = part["id"]
    return flat


def _plain(part: Mapping[str, Any]) -> Flat:
    return {"type": str(part["type"]), "text": _text(part.get("content"))}


def _image(part: Mapping[str, Any]) -> Flat:
    if part.get("modality") != "image" or not part.get("uri"):
        return _other(part)
    return {"type": "image", "image.image.url": part["uri"]}


def _other(part: Mapping[str, Any]) -> Flat:
    return {"type": "text", "text": canonical.dumps(dict(part))}


CONTENTS: Final[dict[str, Callable[[Mapping[str, Any]], Flat]]] = {
    "text": _plain,
    "reasoning": _plain,
    "uri": _image,
}
"""Type of a part -> its leaves; all else is shown as JSON."""


def _tool(tool: Mapping[str, Any]) -> Flat:
    known = {key: value for key, value in tool.items() if key != "type"}
    schema = {"type": tool.get("type", "function"), "function": known}
    return {"tool.json_schema": canonical.dumps(schema)}


def _text(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else ""
        if value is None
        else canonical.dumps(value)
    )
