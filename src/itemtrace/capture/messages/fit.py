"""Readable copies within a byte limit, their JSON kept whole.

First long strings are shortened, ever more, then the oldest messages or parts go. What was shortened
has the extra key `itemtrace.truncated`; a `blob` may have no extra key, so it goes as a whole and its
message is marked.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Final, cast

from itemtrace.capture.messages.fields import plain, to_json
from itemtrace.codec.canonical import encode


LIMIT: Final = 16_000
"""Most UTF-8 bytes of one readable copy."""

MARK: Final = "itemtrace.truncated"
"""The extra key, `true`, on what was shortened."""

ELLIPSIS: Final = "…"
Shorten = Callable[[dict[str, Any], int], dict[str, Any]]
_SMALLEST: Final = 80  # longer than any id


def fit_messages(
    messages: list[dict[str, Any]], limit: int = LIMIT
) -> tuple[str, bool]:
    """Returns messages as JSON of at most `limit` bytes, and whether something was left out."""
    found = _fit(messages, limit, _shorten_message)
    return found or (_newest(messages, limit), True)


def fit_parts(parts: list[dict[str, Any]], limit: int = LIMIT) -> tuple[str, bool]:
    """Returns parts or tool definitions as JSON of at most `limit` bytes, as `fit_messages`."""
    found = _fit(parts, limit, _shorten_part)
    if found:
        return found
    kept = [_shorten_part(part, _SMALLEST) for part in parts]
    while kept and _size(to_json(kept)) > limit:
        kept = kept[: len(kept) // 2]
    return to_json(kept), True


def fit_value(value: object, limit: int = LIMIT) -> tuple[str, bool]:
    """Returns a tool's result: a string as it is or cut, anything else as JSON."""
    if isinstance(value, str):
        return fit_text(value, limit)
    try:
        return _fit_plain(plain(value), limit)
    except (
        RecursionError
    ):  # it holds itself, or is too deep: with that said in its place
        return _fit_plain(encode(value), limit)


def _fit_plain(value: Any, limit: int) -> tuple[str, bool]:
    if _left(value, limit, limit) >= 0:
        text = to_json(value)
        if _size(text) <= limit:
            return text, False
    for room in _rooms(limit):
        if _left(value, room, limit) >= 0:
            text = to_json(_shorten(value, room))
            if _size(text) <= limit:
                return text, True
    return _wrapped(to_json(_shorten(value, _SMALLEST)), limit), True


def fit_json(text: str, limit: int = LIMIT) -> tuple[str, bool]:
    """Returns a JSON text as it is; a longer one inside an object that is marked."""
    return (text, False) if _size(text) <= limit else (_wrapped(text, limit), True)


def fit_text(text: str, limit: int = LIMIT) -> tuple[str, bool]:
    """Returns a plain text, cut at a character where it is too long."""
    if _size(text) <= limit:
        return text, False
    raw = text[:limit].encode("utf-8", "replace")[: limit - len(ELLIPSIS.encode())]
    return raw.decode("utf-8", "ignore") + ELLIPSIS, True


def _wrapped(text: str, limit: int) -> str:
    room = limit // 2
    while True:
        wrapped = to_json({MARK: True, "text": text[:room] + ELLIPSIS})
        if _size(wrapped) <= limit or room == 0:
            return wrapped
        room //= 2


def _fit(
    entries: list[dict[str, Any]], limit: int, shorten: Shorten
) -> tuple[str, bool] | None:
    """Returns the entries as JSON once their strings are short enough, None if they never are."""
    if _left(entries, limit, limit) >= 0:
        text = to_json(entries)
        if _size(text) <= limit:
            return text, False
    for room in _rooms(limit):
        if _left(entries, room, limit) >= 0:
            text = to_json([shorten(entry, room) for entry in entries])
            if _size(text) <= limit:
                return text, True
    return None


def _rooms(limit: int) -> list[int]:
    rooms = {max(limit // 4, _SMALLEST), max(limit // 16, _SMALLEST), _SMALLEST}
    return sorted(rooms, reverse=True)


def _left(value: Any, room: int, left: int) -> int:
    """Returns how much of `left` bytes the JSON cannot need once strings are cut to `room`.

    Below zero it does not fit for sure, and the walk ends: content of any size costs the same.
    """
    if isinstance(value, str):
        return left - min(len(value), room) - 2
    if isinstance(value, dict):
        fields: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON
        for key, child in islice(fields.items(), room):
            left = _left(child, room, left - len(key) - 3)
            if left < 0:
                return left
    elif isinstance(value, list):
        entries: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON
        for child in islice(entries, room):
            left = _left(child, room, left - 1)
            if left < 0:
                return left
    return left - 1


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _shorten(value: Any, room: int) -> Any:
    """Returns the value itself, or a copy in which no string is longer than `room` characters."""
    if isinstance(value, str):
        return value if len(value) <= room else value[:room] + ELLIPSIS
    if isinstance(value, dict):
        return _shorten_fields(cast("dict[str, Any]", value), room)
    if isinstance(value, list):
        entries: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON
        return _shorten_list(entries, room)
    return value


def _shorten_fields(value: dict[str, Any], room: int) -> dict[str, Any]:
    if len(value) > room:
        value = {**dict(islice(value.items(), room)), MARK: True}
    changed = {
        key: short
        for key, child in value.items()
        if (short := _shorten(child, room)) is not child
    }
    return {**value, **changed} if changed else value


def _shorten_list(entries: list[Any], room: int) -> list[Any]:
    short = [_shorten(child, room) for child in entries[:room]]
    if len(short) < len(entries):
        return [*short, ELLIPSIS]
    same = all(a is b for a, b in zip(short, entries, strict=True))
    return entries if same else short


def _shorten_part(part: dict[str, Any], room: int) -> dict[str, Any]:
    short = _shorten(part, room)
    return part if short is part else {**short, MARK: True}


def _shorten_message(message: dict[str, Any], room: int) -> dict[str, Any]:
    parts = message["parts"]
    whole = [
        part for part in parts if part["type"] != "blob" or len(part["content"]) <= room
    ]
    short = [_shorten_part(part, room) for part in whole]
    if len(short) < len(parts):
        return {**message, "parts": short, MARK: True}
    if all(a is b for a, b in zip(short, parts, strict=True)):
        return message
    return {**message, "parts": short}


def _newest(messages: list[dict[str, Any]], limit: int) -> str:
    kept: list[dict[str, Any]] = []
    room = limit - 2
    for message in reversed(messages):
        short = _newest_parts(_shorten_message(message, _SMALLEST), room, last=not kept)
        if short is None:
            break
        room -= _size(to_json(short)) + 1
        kept.insert(0, short)
    if kept:
        kept[0] = {**kept[0], MARK: True}
    return to_json(kept)


def _newest_parts(
    message: dict[str, Any], room: int, *, last: bool
) -> dict[str, Any] | None:
    marked: dict[str, Any] = {**message, MARK: True}
    while _size(to_json(marked)) > room:
        if not last or not marked["parts"]:
            return None
        marked["parts"] = marked["parts"][(len(marked["parts"]) + 1) // 2 :]
    return marked
