"""The conventions' schema of messages, instructions and tool definitions, as plain checks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final


Value = Any
Reader = Callable[[str, Value], Iterator[str]]

PARTS: Final[dict[str, dict[str, tuple[type, ...]]]] = {
    "text": {"content": (str,)},
    "tool_call": {"name": (str,)},
    "tool_call_response": {"response": (object,)},
    "server_tool_call": {"name": (str,), "server_tool_call": (dict,)},
    "server_tool_call_response": {"server_tool_call_response": (dict,)},
    "reasoning": {"content": (str,)},
    "compaction": {},
    "blob": {"modality": (str,), "content": (str,)},
    "file": {"modality": (str,), "file_id": (str,)},
    "uri": {"modality": (str,), "uri": (str,)},
}
"""Part type -> its required fields and their types; another type is legal, but nobody shows it."""

_BLOB_KEYS: Final = frozenset({"type", "modality", "content", "mime_type"})
_STRINGS: Final = ("id", "mime_type")  # optional, and null is not legal


def problems(key: str, value: object) -> Iterator[str]:
    """Yields what is wrong with one attribute; nothing for attributes without a schema."""
    reader = READERS.get(key)
    if reader is None:
        return
    if not isinstance(value, str):
        yield f"{key} is {type(value).__name__}, expected a JSON string"
        return
    try:
        parsed = json.loads(value)
    except ValueError as error:
        yield f"{key} is no JSON: {error}"
        return
    if not isinstance(parsed, list):
        yield f"{key} is no list"
        return
    entries: list[Any] = parsed  # pyright: ignore[reportUnknownVariableType] - JSON
    for at, entry in enumerate(entries):
        path = f"{key}[{at}]"
        if isinstance(entry, dict):
            yield from reader(path, entry)
        else:
            yield f"{path} is no object"


def _message(path: str, message: Value) -> Iterator[str]:
    if not isinstance(message.get("role"), str):
        yield f"{path}.role is no string"
    parts = message.get("parts")
    if not isinstance(parts, list):
        yield f"{path}.parts is no list"
        return
    entries: list[Any] = parts  # pyright: ignore[reportUnknownVariableType] - JSON
    for at, part in enumerate(entries):
        if isinstance(part, dict):
            yield from _part(f"{path}.parts[{at}]", part)
        else:
            yield f"{path}.parts[{at}] is no object"


def _output(path: str, message: Value) -> Iterator[str]:
    # Optional by the newest text, required by the released one, and backends reject a list without.
    if not isinstance(message.get("finish_reason"), str):
        yield f"{path}.finish_reason is no string"
    yield from _message(path, message)


def _part(path: str, part: Value) -> Iterator[str]:
    kind = part.get("type")
    fields = PARTS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        yield f"{path}.type is {kind!r}, expected one of {', '.join(PARTS)}"
        return
    for name, types in fields.items():
        if name not in part or not isinstance(part[name], types):
            yield f"{path}.{name} is absent or of another type"
    for name in _STRINGS:
        if name in part and not isinstance(part[name], str):
            yield f"{path}.{name} is no string"
    if kind == "blob" and not _BLOB_KEYS.issuperset(part):
        yield f"{path} has extra keys, which a blob may not have"
    inner = part.get(kind)
    if isinstance(inner, dict) and not isinstance(inner.get("type"), str):  # pyright: ignore[reportUnknownMemberType] - JSON
        yield f"{path}.{kind}.type is no string"


def _definition(path: str, tool: Value) -> Iterator[str]:
    for name in ("type", "name"):
        if not isinstance(tool.get(name), str):
            yield f"{path}.{name} is no string"


READERS: Final[dict[str, Reader]] = {
    "gen_ai.input.messages": _message,
    "gen_ai.output.messages": _output,
    "gen_ai.system_instructions": _part,
    "gen_ai.tool.definitions": _definition,
}
"""Attribute key -> what reads one entry of its list."""
