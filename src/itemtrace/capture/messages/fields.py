"""Reading items, which are mappings on the wire and typed objects in span data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from itemtrace.codec import canonical


def field(item: Any, name: str) -> Any:
    """Returns a field of a mapping or object; None when it has none."""
    kind: Any = type(item)  # pyright: ignore[reportUnknownVariableType] - any item
    if kind is dict or _is_mapping(kind):
        return item.get(name)
    return getattr(item, name, None)


@lru_cache(maxsize=256)
def _is_mapping(kind: type) -> bool:
    return issubclass(kind, Mapping)


def plain(value: object) -> Any:
    """Returns a value as JSON for the eye: typed objects as their fields, without marks."""
    if value is None or type(value) in (str, int, float, bool, dict, list):
        return value
    return _unmark(canonical.encode(value))


def to_json(value: object) -> str:
    """Returns JSON for the eye: where canonical JSON needs marks, what they stand for."""
    text = canonical.dumps(value)
    if _MARKED not in text:
        return text
    return canonical.dumps(_unmark(json.loads(text)))


_MARKED = f'"{canonical.TAG}"'


def _unmark(value: Any) -> Any:
    if isinstance(value, dict):
        marked = cast("dict[str, Any]", value)
        kind = marked.get(canonical.TAG)
        if kind == "join":  # halves of a character that lay side by side
            halves = "".join(marked["v"]).encode("utf-16-le", "surrogatepass")
            return halves.decode("utf-16-le", "replace")
        if kind is not None:
            return _unmark(marked.get("v"))
        return {key: _unmark(child) for key, child in marked.items()}
    if isinstance(value, list):
        entries: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON
        return [_unmark(child) for child in entries]
    return value
