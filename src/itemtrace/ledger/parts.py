"""Parts of a JSON body, whatever it holds: what is not there, or is something else, is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast


if TYPE_CHECKING:
    from collections.abc import Mapping


def mapping(value: object) -> dict[str, Any]:
    """Returns a JSON object; an empty one in place of anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    """Returns a JSON array; an empty one in place of anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []  # type: ignore[redundant-cast]


def part(body: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Returns the object under a key."""
    return mapping(body.get(key))


def parts(body: Mapping[str, Any], key: str) -> list[Any]:
    """Returns the array under a key."""
    return sequence(body.get(key))
