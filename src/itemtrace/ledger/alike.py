"""What is the same in two runs, whatever ids they made up: values, arguments, tool calls."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.ledger.parts import is_mapping, is_sequence


if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemtrace.ledger.tools import ToolCall


IDS: Final = frozenset(
    {"id", "call_id", "approval_request_id", "encrypted_content", "response_id", "container_id"}
)  # fmt: skip
"""Keys of items whose values are made up for each run."""


def same(left: Any, right: Any) -> bool:
    """Whether two values are the same but for ids and nulls."""
    return bool(without_ids(left) == without_ids(right))


def without_ids(value: Any) -> Any:
    """Returns a value without ids and nulls; arguments that are JSON text are opened."""
    if is_mapping(value):
        return {
            key: _opened(key, without_ids(child))
            for key, child in value.items()
            if key not in IDS and child is not None
        }
    if is_sequence(value):
        return [without_ids(child) for child in value]
    return value


def _opened(key: str, value: Any) -> Any:
    if key == "arguments" and isinstance(value, str):
        return arguments_of(value)
    return value


def arguments_of(value: Any) -> Any:
    """Returns arguments as a value, so that the way they are written makes no difference."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def aligned(
    old: list[ToolCall], new: list[ToolCall]
) -> Iterator[tuple[ToolCall | None, ToolCall | None]]:
    """Yields pairs of calls: equal name and arguments first, then equal names, in order."""
    keys = [[_key(call) for call in calls] for calls in (old, new)]
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        left, right = old[i:j], new[k:m]
        if tag == "equal":
            yield from zip(left, right, strict=True)
        else:
            yield from _by_name(left, right)


def _key(call: ToolCall) -> str:
    return f"{call.name} {canonical.dumps(arguments_of(call.arguments))}"


def _by_name(
    left: list[ToolCall], right: list[ToolCall]
) -> Iterator[tuple[ToolCall | None, ToolCall | None]]:
    waiting = list(right)
    for call in left:
        other = next((each for each in waiting if each.name == call.name), None)
        if other is not None:
            waiting.remove(other)
        yield call, other
    for call in waiting:
        yield None, call
