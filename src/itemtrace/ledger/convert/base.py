"""What every conversion shares: the registry, and the answer that says what was left out."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from itemtrace.errors import ConfigError
from itemtrace.ledger.run import Run


@dataclass(frozen=True, slots=True)
class Converted:
    """A run in another format.

    Attributes:
        value: The run, as JSON.
        left_out: A line for each thing that the format has no place for.
    """

    value: Any
    left_out: tuple[str, ...] = ()


Converter = Callable[[Run], Converted]

CONVERTERS: Final[dict[str, Converter]] = {}
"""Name of a format -> what makes it."""


def register(name: str) -> Callable[[Converter], Converter]:
    """Registers the converter to a format."""

    def add(converter: Converter) -> Converter:
        CONVERTERS[name] = converter
        return converter

    return add


def formats() -> list[str]:
    """Returns the names of the formats, sorted."""
    package = Path(__file__).parent
    for module in pkgutil.iter_modules([str(package)], "itemtrace.ledger.convert."):
        importlib.import_module(module.name)
    return sorted(CONVERTERS)


def convert(run: Run, to: str) -> Converted:
    """Returns a run in another format.

    Raises:
        ConfigError: The format is not known.
    """
    known = formats()
    if to not in CONVERTERS:
        msg = f"no conversion to {to!r}; expected one of {', '.join(known)}"
        raise ConfigError(msg)
    return CONVERTERS[to](run)
