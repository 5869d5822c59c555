"""Values as every store gives them: arrays are lists, maps are dicts, keys are plain strings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast


if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from itemtrace.codec.spans import SpanRow


def plain(value: object) -> Any:
    """Returns the value with tuples as lists and mappings as dicts, all through."""
    if type(value) is str or value is None:
        return value
    if isinstance(value, Mapping):
        return plain_map(cast("Mapping[str, Any]", value))
    if isinstance(value, list | tuple):
        return [plain(child) for child in cast("list[object]", value)]
    return value


def plain_map(value: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a dict with exact string keys; subclasses of `str` lose what they carry."""
    return {
        (key if type(key) is str else str(key)): (
            child if type(child) is str else plain(child)
        )
        for key, child in value.items()
    }


def plain_row(row: SpanRow) -> SpanRow:
    """Returns the row as a store gives it back: what a writer's caller can compare with."""
    return replace(
        row,
        attributes=plain_map(row.attributes),
        events=tuple(plain_map(event) for event in row.events),
        links=tuple(plain_map(link) for link in row.links),
        resource=plain_map(row.resource),
    )


def as_int(value: object) -> int | None:
    """Returns the number of an attribute: backends turn 1 into 1.0 or "1"; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    try:
        number = float(value) if isinstance(value, float | str) else None
        if number is None or not number.is_integer():
            return None
        return (
            int(value) if isinstance(value, str) and "." not in value else int(number)
        )
    except ValueError:
        return None


def stamps(files: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Returns name, size and time of change of files: the same while none of them has changed."""
    return [
        (str(file), status.st_size, status.st_mtime_ns)
        for file in files
        for status in (file.stat(),)
    ]
