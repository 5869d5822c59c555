"""Small numbers about repetitions: least, median, most, and differences between interleaved pairs."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Spread:
    """Least, median and most of some repetitions."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Returns the spread of at least one value."""
        return cls(min(values), statistics.median(values), max(values))

    def overlaps(self, other: Spread) -> bool:
        """Whether the two ranges touch, so that their order means nothing."""
        return self.least <= other.most and other.least <= self.most

    def show(self, digits: int = 2) -> str:
        """Returns `median (least..most)`."""
        return f"{self.median:.{digits}f} ({self.least:.{digits}f}..{self.most:.{digits}f})"


def paired(values: Sequence[float], bases: Sequence[float]) -> list[float]:
    """Returns each repetition minus the base of the same round, as far as both exist."""
    return [value - base for value, base in zip(values, bases, strict=False)]
