"""Recorded and actual values: whether they are the same, and what a person should see if not."""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.ledger.checks import lacks_content
from itemtrace.ledger.parts import is_mapping, is_sequence, mapping


if TYPE_CHECKING:
    from collections.abc import Collection


MOST_LINES: Final = 40
LONGEST_LINE: Final = 200


def plain(value: Any) -> Any:
    """Returns a value as JSON without nulls, which SDK versions send or leave out as they like."""
    if is_mapping(value):
        return {key: plain(child) for key, child in value.items() if child is not None}
    if is_sequence(value):
        return [plain(child) for child in value]
    return value


def dumped(value: Any) -> Any:
    """Returns a value with pydantic models in it as mappings, unset fields left out."""
    if is_sequence(value):
        return [dumped(child) for child in value]
    model_dump = getattr(value, "model_dump", None)
    return (
        value if model_dump is None else model_dump(exclude_unset=True, warnings=False)
    )


def text_of(value: Any) -> str:
    """Returns what two values that are the same have in common: canonical JSON without nulls."""
    read = canonical.loads(canonical.dumps(dumped(value)))
    return canonical.dumps(plain(read))


def same(expected: Any, got: Any) -> bool:
    """Whether two values are the same but for nulls."""
    return bool(expected == got) or text_of(expected) == text_of(got)


def fits(old: Any, new: Any, free: Collection[str] = frozenset()) -> bool:
    """Whether an input item is the recorded one."""
    if old == new or lacks_content(old) or same(old, new):
        return True
    left, right = mapping(old), mapping(new)
    call_id = left.get("call_id")
    return (
        call_id in free
        and call_id == right.get("call_id")
        and str(left.get("type")).endswith("_output")
        and left.get("type") == right.get("type")
    )


def readable(value: Any) -> list[str]:
    """Returns a value as lines for a diff; JSON inside strings is opened."""
    return json_lines(opened(plain(dumped(value))))


def json_lines(value: Any) -> list[str]:
    """Returns indented JSON as lines."""
    text = canonical.dumps(value)
    return indented(json.loads(text))


def indented(value: Any, depth: int = 0, name: str = "") -> list[str]:
    """Returns a value as indented lines, one for each scalar."""
    space = "  " * depth
    head = f"{space}{name}: " if name else space
    if is_mapping(value) and value:
        lines = [f"{head}{{"]
        for key, child in value.items():
            lines += indented(child, depth + 1, key)
        return [*lines, f"{space}}}"]
    if is_sequence(value) and value:
        lines = [f"{head}["]
        for child in value:
            lines += indented(child, depth + 1)
        return [*lines, f"{space}]"]
    return [head + line for line in canonical.dumps(value).split("\\n")]


def opened(value: Any) -> Any:
    """Returns a value with strings that are JSON objects as such, so that a diff can look inside."""
    if is_mapping(value):
        return {key: opened(child) for key, child in value.items()}
    if is_sequence(value):
        return [opened(child) for child in value]
    if isinstance(value, str) and value.startswith(("{", "[")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def diff(expected: Any, got: Any) -> str:
    """Returns a unified diff of two values, short enough for a terminal."""
    lines = [
        line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
        for line in difflib.unified_diff(
            readable(expected), readable(got), "recorded", "now", n=2, lineterm=""
        )
    ]
    more = len(lines) - MOST_LINES
    if more > 0:
        lines = [*lines[:MOST_LINES], f"… {more} more lines"]
    return "\n".join(lines)


def first_difference(
    expected: list[Any], got: list[Any], free: Collection[str] = frozenset()
) -> int | None:
    """Returns the place of the first entry that differs; None where all are the same."""
    for place, (old, new) in enumerate(zip(expected, got, strict=False)):
        if not fits(old, new, free):
            return place
    return None if len(expected) == len(got) else min(len(expected), len(got))
