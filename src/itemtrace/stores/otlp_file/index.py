"""What is known of the messages in files: where they are, and which traces they hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO


if TYPE_CHECKING:
    from pathlib import Path

    from itemtrace.codec.spans import SpanRow


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message is: in a file, or in the spool when `path` is None."""

    path: Path | None
    offset: int
    size: int


@dataclass(slots=True)
class Found:
    """What the first pass notes of a trace."""

    start_ns: int = 0
    places: list[Place] = field(default_factory=list[Place])


@dataclass(slots=True)
class Kept:
    """A message that was decoded lately: its size and its rows by trace."""

    size: int
    rows: dict[str, list[SpanRow]] = field(default_factory=dict[str, list["SpanRow"]])


def read_at(file: BinaryIO, place: Place) -> bytes:
    """Returns the bytes of a message."""
    file.seek(place.offset)
    return file.read(place.size)
