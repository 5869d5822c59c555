"""Answers of Jaeger's APIs: JSON values that may follow each other, with errors among them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def mapping(value: object) -> Mapping[str, Any]:
    """Returns a JSON object; empty when it is none."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """Returns a JSON list; empty when it is none."""
    return list(cast("Iterable[Any]", value)) if isinstance(value, list) else []


def documents(text: str) -> tuple[list[Any], str]:
    """Returns the JSON values that follow each other in a text, and what is no JSON after them."""
    decoder, found = json.JSONDecoder(), list[Any]()
    rest = text.strip()
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except ValueError:
            break
        found.append(value)
        rest = rest[end:].lstrip()
    return found, rest


def errors_of(part: object) -> Iterator[str]:
    """Gives the error of a v3 answer, if it has one."""
    error = mapping(part).get("error")
    if error:
        yield str(mapping(error).get("message") or error)
