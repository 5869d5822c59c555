"""Parts of a JSON body, whatever it holds: what is not there, or is something else, is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard


if TYPE_CHECKING:
    from collections.abc import Mapping


def is_mapping(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


def is_sequence(value: Any) -> TypeGuard[list[Any]]:
    """Whether a value is a JSON array."""
    return isinstance(value, list)


def mapping(value: Any) -> dict[str, Any]:
    """Returns a JSON object; an empty one in place of anything else."""
    return value if is_mapping(value) else {}


def sequence(value: Any) -> list[Any]:
    """Returns a JSON array; an empty one in place of anything else."""
    return value if is_sequence(value) else []


def part(body: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Returns the object under a key."""
    return mapping(body.get(key))


def parts(body: Mapping[str, Any], key: str) -> list[Any]:
    """Returns the array under a key."""
    return sequence(body.get(key))
