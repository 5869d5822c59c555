"""Azure Application Insights: 8,192 characters for what is no GenAI content."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from itemtrace.testing.degrade.base import (
    bare_links,
    cut_characters,
    everywhere,
    register,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


PROPERTY: Final = 8_192
CONTENT: Final = 256 * 1024
KEY: Final = 150
CONTENT_KEYS: Final = frozenset(
    f"gen_ai.{name}"
    for name in (
        "input.messages",
        "output.messages",
        "system_instructions",
        "tool.definitions",
        "tool.call.arguments",
        "tool.call.result",
        "evaluation.explanation",
    )
)
"""Keys of the conventions whose text may be longer."""


@register(
    "azure",
    "Azure Application Insights",
    "azure-monitor-opentelemetry-exporter _utils.py (_filter_custom_properties)",
    limits="8,192 characters a value",
    configure="nothing",
)
def azure(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Every value becomes Python's `str` of it and is cut; keys over 150 and nulls are dropped."""
    for row in rows:
        yield replace(everywhere(row, _property), links=bare_links(row))


def _property(key: str, value: Any) -> tuple[str, Any] | None:
    if value is None or len(key) > KEY:
        return None
    text = value if isinstance(value, str) else _text(value)
    return key, cut_characters(text, CONTENT if key in CONTENT_KEYS else PROPERTY)


def _text(value: Any) -> str:
    return str(cast("object", value))
