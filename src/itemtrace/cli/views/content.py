"""The contents of items: text, images, files, and what a tool was given and gave back."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from itemtrace.cli.safe import one_line, size
from itemtrace.cli.views.pretty import json_text, mark, shown
from itemtrace.codec.canonical import TAG
from itemtrace.ledger.parts import mapping, sequence


DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,100},")


def text_of(value: Any) -> str:
    """Returns any content as text: strings, parts of messages, JSON."""
    parts = sequence(value)
    if parts and all(map(is_part, parts)):
        return "\n".join(map(part_text, parts))
    if is_part(value):
        return part_text(value)
    return shown(value)


def is_part(value: Any) -> bool:
    """Whether a value is a part of a message or of a tool's output."""
    known = mapping(value)
    return TAG in known or str(known.get("type")) in PARTS


def part_text(value: Any) -> str:
    """Returns a part as text; images and files as type and size."""
    part = mapping(value)
    if TAG in part:
        return mark(part)
    return PARTS[str(part["type"])](part)


def plain_part(part: Mapping[str, Any]) -> str:
    """Text, with what it cites."""
    text = part.get("text")
    said = text if isinstance(text, str) else shown(text)
    cites: list[str] = []
    for cited in map(mapping, sequence(part.get("annotations"))):
        where = cited.get("url") or cited.get("filename") or cited.get("file_id")
        if where:
            title = f"{cited['title']}, " if cited.get("title") else ""
            cites.append(f"[{one_line(title + str(where), 200)}]")
    return "\n\n".join([said, "\n".join(cites)]) if cites else said


def refusal_part(part: Mapping[str, Any]) -> str:
    """What a model declines with."""
    return f"(refused) {part.get('refusal', '')}"


def image_part(part: Mapping[str, Any]) -> str:
    """An image: its type and size, or where it is."""
    return f"[image {blob_of(part.get('image_url') or part.get('file_id'))}]"


def audio_part(part: Mapping[str, Any]) -> str:
    """Audio: its format and size, and what was said."""
    audio = mapping(part.get("input_audio")) or part
    said = part.get("transcript")
    head = f"[audio {blob_of(audio.get('data'))}]"
    return f"{head} {said}" if isinstance(said, str) else head


def file_part(part: Mapping[str, Any]) -> str:
    """A file: its name, type and size."""
    where = part.get("file_data") or part.get("file_url") or part.get("file_id")
    name = part.get("filename")
    return f"[file {f'{name}, ' if name else ''}{blob_of(where)}]"


PARTS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "text": plain_part,
    "input_text": plain_part,
    "output_text": plain_part,
    "summary_text": plain_part,
    "reasoning_text": plain_part,
    "refusal": refusal_part,
    "input_image": image_part,
    "computer_screenshot": image_part,
    "input_audio": audio_part,
    "output_audio": audio_part,
    "input_file": file_part,
}
"""Type of a part -> how it reads."""


def blob_of(value: Any) -> str:
    """Returns type and size of binary content; an address as it is."""
    if known := mapping(value):
        return mark(known) if TAG in known else json_text(known)
    if not isinstance(value, str):
        return "without content"
    data = DATA_URL.match(value)
    if data:
        return f"{data[1] or 'data'}, {size(decoded_size(value[data.end() :]))}"
    if len(value) > 300:
        return size(decoded_size(value))
    return one_line(value, 300)


def decoded_size(text: str) -> int:
    """Returns the bytes in base64 text; the characters of text that is none."""
    try:
        return len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return len(text)


def bytes_in(value: Any) -> int:
    """Returns about how many bytes content takes."""
    text = value if isinstance(value, str) else json_text(value)
    return len(text.encode("utf-8", "surrogatepass"))
