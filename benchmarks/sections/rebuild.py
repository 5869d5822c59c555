"""How fast ledgers come back from the local store, and in how much memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.sections.base import Budget, Job, Row, Table, each, failures, good
from benchmarks.stats import Spread


if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


LIMIT = 40_000
FLAT_MB = 8.0
SIZES = {True: (2_000, 10_000), False: (10_000, 100_000)}
PEER = "itemtrace-off"


class Rebuild:
    """Stores are written first, by the recorder itself; each reading is a fresh process."""

    name = "rebuild"

    def jobs(self, *, quick: bool) -> Iterator[Job]:
        """A small and a large store, for the flatness of memory."""
        for spans in SIZES[quick]:
            yield {"measure": "fill", "peer": PEER, "spans": spans}
        for _ in range(2 if quick else 5):
            for spans in SIZES[quick]:
                yield {"measure": "rebuild", "peer": PEER, "spans": spans}

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """One line per store."""
        lines = []
        for spans in sorted({row["spans"] for row in good(rows, measure="rebuild")}):
            mine = good(rows, measure="rebuild", spans=spans)
            lines.append(
                [
                    f"{mine[0]['read']:,}",
                    f"{mine[0]['ledgers']:,}",
                    Spread.of(each(mine, _speed)).show(0),
                    Spread.of(each(mine, _peak)).show(1),
                    "all" if all(row["exact"] for row in mine) else "not all",
                ]
            )
        columns = [
            "spans in the store",
            "ledgers",
            "spans a second",
            "peak resident MB",
            "exact",
        ]
        notes = [
            "`itemtrace.iter_ledgers` over a local store of runs of ten turns; CPU time of one process.",
            *failures(rows),
        ]
        return (
            [Table("Rebuild from the local store", columns, lines, notes)]
            if lines
            else []
        )

    def budgets(self, rows: Sequence[Row]) -> list[Budget]:
        """Speed, and memory that does not grow with the store."""
        mine = good(rows, measure="rebuild")
        if not mine:
            return []
        small, large = (fold(row["spans"] for row in mine) for fold in (min, max))
        speed = Spread.of(each(mine, _speed, spans=large))
        peaks = [
            Spread.of(each(mine, _peak, spans=spans)).median for spans in (small, large)
        ]
        more = peaks[1] - peaks[0]
        sizes = [good(mine, spans=spans)[0]["read"] for spans in (large, small)]
        return [
            Budget(
                "rebuild speed",
                f"{LIMIT:,} spans a second",
                speed.show(0),
                speed.median >= LIMIT,
            ),
            Budget(
                f"rebuild memory, {sizes[0]:,} spans against {sizes[1]:,}",
                "flat",
                f"{more:+.1f} MB",
                more <= FLAT_MB,
            ),
        ]


def _speed(row: Row) -> float:
    return float(row["read"]) / float(row["cpu"])


def _peak(row: Row) -> float:
    return float(row["peak_kb"]) / 1024
