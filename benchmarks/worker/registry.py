"""The measurements by name; a job names one and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


Job = dict[str, Any]
Emit = Callable[..., None]
Measure = Callable[[Job, Emit], dict[str, Any]]
MEASURES: dict[str, Measure] = {}


def measure(function: Measure) -> Measure:
    """Registers a measurement under its function's name."""
    MEASURES[function.__name__] = function
    return function
