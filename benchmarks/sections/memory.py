"""Memory held after many finished runs in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers import NOOP, OFF, OURS, PEERS
from benchmarks.sections.base import Budget, Job, Row, Table, failures, good


if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


FLAT_BLOCKS = 0.05
"""Blocks a run beyond a processor that does nothing, since the SDK's tracing keeps two itself; one leaked dict entry per run is one or more."""


class Memory:
    """Blocks of Python's allocator are exact; resident memory is what an operator sees."""

    name = "memory"

    def jobs(self, *, quick: bool) -> Iterator[Job]:
        """Once each: the count of blocks does not vary with the machine."""
        for peer in (OFF, NOOP, *OURS):
            yield {
                "measure": "memory",
                "peer": peer,
                "runs": 3_000 if quick else 10_000,
            }

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """From the middle of the runs to the last."""
        lines = []
        for row in good(rows):
            first, last = ends(row)
            lines.append(
                [
                    row["peer"],
                    f"{first['runs']:,} to {last['runs']:,}",
                    f"{growth(row):+.3f}",
                    f"{first['kb'] / 1024:.1f} to {last['kb'] / 1024:.1f}",
                ]
            )
        columns = ["recorder", "runs", "allocated blocks, added per run", "resident MB"]
        notes = ["Runs of two turns, after a full garbage collection.", *failures(rows)]
        return (
            [Table("Memory after many finished runs", columns, lines, notes)]
            if lines
            else []
        )

    def budgets(self, rows: Sequence[Row]) -> list[Budget]:
        """Flat: no more growth than the SDK's own tracing has."""
        base = [growth(row) for row in good(rows, peer=NOOP)]
        found = []
        for row in good(rows) if base else []:
            if row["peer"] in OURS:
                extra = growth(row) - base[0]
                what = f"memory after {row['runs']:,} finished runs, {PEERS[row['peer']].label}"
                measured = f"{extra:+.3f} blocks a run over noop"
                found.append(Budget(what, "flat", measured, extra <= FLAT_BLOCKS))
        return found


def ends(row: Row) -> tuple[dict[str, int], dict[str, int]]:
    """Returns the middle and the last point: bounded caches are full by then."""
    points = row["points"]
    return points[len(points) // 2 - 1], points[-1]


def growth(row: Row) -> float:
    """Returns the blocks that each run left behind."""
    first, last = ends(row)
    return float(last["blocks"] - first["blocks"]) / (last["runs"] - first["runs"])
