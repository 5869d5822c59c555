"""Elastic APM: labels of 1,024 characters whose keys have no dots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from itemtrace.testing.degrade.base import (
    as_string,
    cut_characters,
    cut_values,
    everywhere,
    register,
)


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow


LABEL: Final = 1_024


@register(
    "elastic_apm",
    "Elastic APM",
    "open-telemetry/opentelemetry-collector-contrib exporter/elasticsearchexporter/internal/elasticapmmapping",
    profile="elastic",
    limits="1,024 characters a string; string arrays stay whole",
    configure='`install(profile="elastic")`',
)
def elastic_apm(rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
    """Cuts labels, drops bytes, maps and nulls, makes booleans text and dots underscores."""
    return (everywhere(row, _label, cut_values(LABEL, cut_characters)) for row in rows)


def _label(key: str, value: Any) -> tuple[str, Any] | None:
    key = key.replace(".", "_")
    if value is None or isinstance(value, bytes | Mapping):
        return None
    if isinstance(value, bool):
        return key, as_string(value)
    if isinstance(value, list | tuple):
        entries = cast("list[Any]", value)
        return key, [entry for entry in entries if type(entry) is type(entries[0])]
    return key, value
