"""JSON as a person reads it: on one line where it fits, else a key a line; long text folded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from itemtrace.cli.safe import safe, size
from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG
from itemtrace.ledger.parts import mapping, sequence


WIDTH: Final = 84
"""JSON up to this long stays on one line."""

DEEPEST: Final = 60
"""Indented further, JSON stays on one line."""

MOST_PARSED: Final = 200_000
"""Longer text is shown as it is: nobody reads that much JSON on a screen."""


@dataclass(frozen=True, slots=True)
class Fold:
    """How much of a long text is shown.

    Attributes:
        lines: At most so many lines.
        characters: At most so many characters.
    """

    lines: int = 12
    characters: int = 1_200


FOLDED: Final = Fold()
FULL: Final = Fold(2**62, 2**62)


class Literal(str):
    """A number as it was written."""

    __slots__ = ()


def folded(text: str, fold: Fold = FOLDED) -> tuple[str, str]:
    """Returns the beginning of a text, safe, and a line about the rest; empty where all is shown."""
    head = text[: fold.characters]
    lines = head.split("\n")
    if len(lines) > fold.lines:
        head = "\n".join(lines[: fold.lines])
    rest = len(text) - len(head)
    if not text[len(head) :].strip() or rest < fold.characters // 8:
        return safe(text.rstrip("\n")), ""
    more = len(text[len(head) :].encode("utf-8", "surrogatepass"))
    return safe(head.rstrip("\n")), f"… {size(more)} more (--full shows all)"


def from_text(text: str) -> Any:
    """Returns what JSON text of an object or list says, numbers as written; the text if it is none."""
    if text[:1] not in ("{", "[") or len(text) > MOST_PARSED:
        return text
    try:
        return json.loads(text, parse_float=Literal, parse_int=Literal)
    except (ValueError, RecursionError):
        return text


def json_text(value: Any, width: int = WIDTH) -> str:
    """Returns JSON for people; not safe for a terminal yet."""
    try:
        return pretty(value, width, 0)
    except RecursionError:
        return canonical.dumps(value)


def pretty(value: Any, width: int, indent: int) -> str:
    """Returns a value at an indentation."""
    flat = compact(value)
    known, listed = mapping(value), sequence(value)
    short = len(flat) + indent <= width or indent > DEEPEST
    if short or TAG in known or not (known or listed):
        return flat
    pad = " " * (indent + 2)
    if known:
        parts = [
            f"{pad}{compact(key)}: {pretty(child, width, indent + 2)}"
            for key, child in known.items()
        ]
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    parts = [f"{pad}{pretty(child, width, indent + 2)}" for child in listed]
    return "[\n" + ",\n".join(parts) + "\n" + " " * indent + "]"


def compact(value: Any) -> str:
    """Returns a value on one line, with a space after commas and colons."""
    if isinstance(value, Literal):
        return str(value)
    known = mapping(value)
    if TAG in known:
        return mark(known)
    if known:
        inside = (f"{compact(key)}: {compact(child)}" for key, child in known.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, tuple):
        value = listed_tuple(value)
    if listed := sequence(value):
        return "[" + ", ".join(map(compact, listed)) + "]"
    return canonical.dumps(value)


def listed_tuple(value: Any) -> list[Any]:
    """Returns a tuple as a list."""
    return list(value)


def mark(escape: dict[str, Any]) -> str:
    """Returns what stands where content is absent: `<withheld, 120 B>`."""
    name = str(escape.get(TAG))
    if name == "withheld" and isinstance(escape.get("n"), int):
        return f"<withheld, {size(escape['n'])}>"
    if name == "missing":
        return "<missing>"
    if name == "repr":
        return f"<{escape.get('type')}, of which only this is known: {escape.get('v')}>"
    return f"<{name}>"


def shown(value: Any) -> str:
    """Returns any content as text: a string as it is, JSON pretty."""
    if isinstance(value, str) and not isinstance(value, Literal):
        parsed = from_text(value)
        return value if parsed is value else json_text(parsed)
    return json_text(value)
