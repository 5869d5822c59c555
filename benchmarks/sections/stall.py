"""The longest stall of the event loop."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from benchmarks.peers import NOOP, OFF, OURS, PEERS, RECORDERS
from benchmarks.sections.base import Budget, Job, Row, Table, each, failures
from benchmarks.stats import Spread, paired


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass(frozen=True)
class Case:
    """A kind of run, and what a recorder may add to its longest stall."""

    label: str
    turns: int
    size: int
    limit_ms: float


CASES = (
    Case("20 turns, 1 kB outputs", 20, 1_000, 2.0),
    Case("one tool output of 1 MB", 2, 1_000_000, 15.0),
)

NOTE = (
    "The worst tick of a run, median of ten runs a process, garbage collector held off; then median "
    "(least..most) over processes. CPU is the loop's thread between two ticks, minus tracing off in "
    "the same round."
)


class Stall:
    """A 1 ms ticker beside the run: how late it came at worst."""

    name = "stall"

    def jobs(self, *, quick: bool) -> Iterator[Job]:
        """Every recorder, both cases."""
        for _, case, peer in product(
            range(2 if quick else 5), CASES, (OFF, NOOP, *RECORDERS)
        ):
            yield {
                "measure": "stall",
                "peer": peer,
                "turns": case.turns,
                "size": case.size,
                "runs": 10,
            }

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """Wall time and the loop's own CPU time, which other processes do not disturb."""
        columns = ["recorder"]
        for case in CASES:
            columns += [f"{case.label}: ms late", "of it CPU, over off"]
        lines = []
        for peer in PEERS:
            if each(rows, _wall, peer=peer):
                cells = [cell for case in CASES for cell in _cells(rows, peer, case)]
                lines.append([peer, *cells])
        notes = [
            NOTE,
            *failures(rows),
        ]
        return (
            [Table("Longest stall of the event loop", columns, lines, notes)]
            if lines
            else []
        )

    def budgets(self, rows: Sequence[Row]) -> list[Budget]:
        """What we add to the longest stall."""
        found = []
        for peer, case in product(OURS, CASES):
            if spread := _added(rows, peer, case):
                met = spread.median <= case.limit_ms
                what = f"longest stall added, {PEERS[peer].label}, {case.label}"
                found.append(
                    Budget(what, f"{case.limit_ms:g} ms", f"{spread.show()} ms", met)
                )
        return found


def _wall(row: Row) -> float:
    return 1000 * float(row["wall"])


def _cpu(row: Row) -> float:
    return 1000 * float(row["cpu"])


def _of(
    rows: Sequence[Row], read: Callable[[Row], float], peer: str, case: Case
) -> list[float]:
    return each(rows, read, peer=peer, turns=case.turns, size=case.size)


def _added(rows: Sequence[Row], peer: str, case: Case) -> Spread | None:
    pairs = paired(_of(rows, _cpu, peer, case), _of(rows, _cpu, OFF, case))
    return Spread.of(pairs) if pairs else None


def _cells(rows: Sequence[Row], peer: str, case: Case) -> list[str]:
    walls, extra = _of(rows, _wall, peer, case), _added(rows, peer, case)
    if not walls:
        return ["-", "-"]
    return [
        Spread.of(walls).show(),
        "-" if peer == OFF or extra is None else extra.show(),
    ]
