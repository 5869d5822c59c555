"""What the query of a source can say: `jaeger://host?lookback=30d&api=legacy`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from itemtrace.errors import ConfigError


if TYPE_CHECKING:
    from collections.abc import Mapping


DAY_US: Final = 86_400_000_000
"""Microseconds of a day."""

UNITS: Final = {"h": DAY_US // 24, "d": DAY_US, "w": 7 * DAY_US}


def option(
    options: Mapping[str, str], name: str, known: tuple[str, ...], url: str
) -> str:
    """Returns an option that has one of the known values; the first if it is not given."""
    value = options.get(name, known[0])
    if value not in known:
        msg = f"{url} has {name}={value}; expected one of {', '.join(known)}"
        raise ConfigError(msg)
    return value


def positive(options: Mapping[str, str], name: str, default: int, url: str) -> int:
    """Returns an option that is a positive number."""
    value = options.get(name, str(default))
    if not value.isdecimal() or not int(value):
        msg = f"{url} has {name}={value}; expected a positive number"
        raise ConfigError(msg)
    return int(value)


def duration(text: str | None, url: str) -> int | None:
    """Returns the microseconds of `12h`, `30d` or `8w`; None for None."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)([hdw])", text)
    if match is None:
        msg = (
            f"{url} has lookback={text}; expected a number with h, d or w, such as 30d"
        )
        raise ConfigError(msg)
    return int(match[1]) * UNITS[match[2]]


def tags_of(text: str | None, url: str) -> tuple[tuple[str, str], ...]:
    """Returns the tags of `key:value,key:value`; none for None."""
    found: list[tuple[str, str]] = []
    for pair in filter(None, (text or "").split(",")):
        key, colon, value = pair.strip().partition(":")
        if not (key and colon):
            msg = f"{url} has tag={text}; expected key:value, more of them with commas"
            raise ConfigError(msg)
        found.append((key, value))
    return tuple(found)
