"""What a section of the benchmark is: its jobs, its tables, its budgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


Job = dict[str, Any]
"""What a worker is asked: `measure`, `peer` and the measurement's own arguments."""

Row = dict[str, Any]
"""A job with what came of it, or with `failed`."""


@dataclass(frozen=True)
class Table:
    """A table as both the terminal and the page show it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Budget:
    """A promise and whether it is kept; `met` is None where the noise is larger than the difference."""

    what: str
    limit: str
    measured: str
    met: bool | None

    @property
    def verdict(self) -> str:
        """The word for it."""
        return {True: "met", False: "not met", None: "within noise"}[self.met]


class Section(Protocol):
    """One subject. Registered in `benchmarks.sections`."""

    name: str

    def jobs(self, *, quick: bool) -> Iterator[Job]:
        """Yields the jobs, repetitions interleaved over the peers."""
        ...

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """Returns what there is to show of these rows; none gives no table."""
        ...

    def budgets(self, rows: Sequence[Row]) -> list[Budget]:
        """Returns the budgets that these rows can judge."""
        ...


def good(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """Returns the rows that succeeded and have these values, in the order of their repetitions."""
    return [
        row
        for row in rows
        if "failed" not in row and all(row.get(k) == v for k, v in wanted.items())
    ]


def each(
    rows: Sequence[Row], read: Callable[[Row], float], **wanted: Any
) -> list[float]:
    """Returns one number of each matching row."""
    return [read(row) for row in good(rows, **wanted)]


def failures(rows: Sequence[Row]) -> list[str]:
    """Returns one line for each peer that could not be measured."""
    return sorted(
        {f"{row['peer']} failed: {row['failed']}" for row in rows if "failed" in row}
    )
