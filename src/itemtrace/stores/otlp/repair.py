# pyright: basic, reportMissingTypeStubs=false
"""Protobuf text that is no UTF-8, made readable.

Some backends cut strings by bytes (Tempo at 2,048), through the middle of a character. Go writes
such a message and reads it back, Python's protobuf refuses it whole. Here each string of the
message is cut back to whole characters, or its bad bytes replaced; all else stays as it is.
"""

from __future__ import annotations

from typing import Any, Final


VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5
CONTINUES: Final = 0x80


def repair(payload: bytes, descriptor: Any) -> bytes:
    """Returns the message with all its text valid.

    Args:
        payload: A serialized message.
        descriptor: The descriptor of its type.

    Raises:
        ValueError: The bytes are no protobuf message at all.
    """
    repaired, at = bytearray(), 0
    while at < len(payload):
        start = at
        key, at = varint(payload, at)
        wire = key & 7
        if wire != BYTES:
            at = skip(payload, at, wire)
            repaired += payload[start:at]
            continue
        size, at = varint(payload, at)
        content = payload[at : at + size]
        if len(content) < size:
            msg = "the message is cut"
            raise ValueError(msg)
        at += size
        content = repair_field(content, descriptor.fields_by_number.get(key >> 3))
        repaired += write_varint(key) + write_varint(len(content)) + content
    return bytes(repaired)


def repair_field(content: bytes, field: Any) -> bytes:
    """Returns the content of a field with its text valid; unknown fields stay as they are."""
    if field is None:
        return content
    if field.message_type is not None:
        return repair(content, field.message_type)
    return valid(content) if field.type == field.TYPE_STRING else content


def valid(content: bytes) -> bytes:
    """Returns text without half a character at its end; other bad bytes become U+FFFD."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return content[: error.start]
        return content.decode(errors="replace").encode()
    return content


def varint(payload: bytes, at: int) -> tuple[int, int]:
    """Returns a number and where it ends."""
    value = shift = 0
    while True:
        if at >= len(payload) or shift > 63:
            msg = "a number in the message is cut"
            raise ValueError(msg)
        byte = payload[at]
        at += 1
        value |= (byte & (CONTINUES - 1)) << shift
        if byte < CONTINUES:
            return value, at
        shift += 7


def write_varint(value: int) -> bytes:
    """Returns a number as protobuf writes it."""
    written = bytearray()
    while value >= CONTINUES:
        written.append(value & (CONTINUES - 1) | CONTINUES)
        value >>= 7
    written.append(value)
    return bytes(written)


def skip(payload: bytes, at: int, wire: int) -> int:
    """Returns where a field that is no text ends."""
    if wire == VARINT:
        return varint(payload, at)[1]
    size = {FIXED64: 8, FIXED32: 4}.get(wire)
    if size is None or at + size > len(payload):
        msg = "the message is damaged"
        raise ValueError(msg)
    return at + size
