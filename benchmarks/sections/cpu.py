"""CPU per turn, over tracing switched off."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from benchmarks.peers import NOOP, OFF, OTHERS, OURS, PEERS, RECORDERS
from benchmarks.sections.base import Budget, Job, Row, Table, each, failures
from benchmarks.stats import Spread, paired


if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


LIMIT_MS = 0.35
LONG = 1_000
WINDOW = 100
RUNS = {10: 20, 100: 3, 200: 2, LONG: 1}
"""Runs per process, so that short ones are measured over some time too."""


class Cpu:
    """CPU seconds of fresh processes, spans made and handed to an exporter that drops them."""

    name = "cpu"

    def jobs(self, *, quick: bool) -> Iterator[Job]:
        """Every recorder at the common lengths; a long run of ours alone, which others take minutes for."""
        turns = (10, 100) if quick else (10, 100, 200)
        for _, count, peer in product(
            range(3 if quick else 5), turns, (OFF, NOOP, *RECORDERS)
        ):
            yield {"measure": "cpu", "peer": peer, "turns": count, "runs": RUNS[count]}
        if not quick:
            for _, peer in product(range(3), (OFF, *OURS)):
                yield {
                    "measure": "cpu",
                    "peer": peer,
                    "turns": LONG,
                    "runs": RUNS[LONG],
                }

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """Added milliseconds a turn, and the whole as a multiple of off."""
        counts = sorted({row["turns"] for row in rows})
        columns = ["recorder"]
        for count in counts:
            columns += [f"ms a turn, {count} turns", "x off"]
        lines = [
            self._line(rows, peer, counts)
            for peer in PEERS
            if each(rows, _ms, peer=peer)
        ]
        notes = [
            f"Median (least..most) of interleaved repetitions ({_repetitions(rows)}), each minus tracing off in the same round.",
            "The SDK's own work grows with the square of the turns, so a multiple of off hides what a recorder adds.",
            *failures(rows),
        ]
        tables = (
            [Table("CPU per turn over tracing off", columns, lines, notes)]
            if lines
            else []
        )
        return tables + self._marginal(rows)

    def _line(self, rows: Sequence[Row], peer: str, counts: Sequence[int]) -> list[str]:
        cells = [peer]
        for count in counts:
            whole, base = (each(rows, _ms, peer=p, turns=count) for p in (peer, OFF))
            if not whole or not base:
                cells += ["-", "-"]
            elif peer == OFF:
                cells += [f"({Spread.of(base).median:.2f} in all)", "1.00"]
            else:
                ratio = Spread.of(whole).median / Spread.of(base).median
                cells += [Spread.of(paired(whole, base)).show(), f"{ratio:.2f}"]
        return cells

    def _marginal(self, rows: Sequence[Row]) -> list[Table]:
        ends = {peer: at_the_end(rows, peer) for peer in OURS}
        lines = [[peer, end.show()] for peer, end in ends.items() if end]
        title = f"CPU added to one turn at the end of a run of {LONG} turns"
        notes = [
            f"The median turn of the last {WINDOW}, minus the same of tracing off in the same round."
        ]
        return [Table(title, ["recorder", "added ms"], lines, notes)] if lines else []

    def budgets(self, rows: Sequence[Row]) -> list[Budget]:
        """At most the limit at the beginning and at the end, and at most the leanest peer."""
        found = []
        for peer in OURS:
            label = PEERS[peer].label
            if first := added(rows, peer, 10):
                found.append(
                    _limit(f"CPU added per turn, {label}, runs of 10 turns", first)
                )
            if last := at_the_end(rows, peer):
                found.append(_limit(f"CPU added per turn, {label}, turn {LONG}", last))
        for count in (10, 100, 200):
            found += self._leanest(rows, count)
        return found

    def _leanest(self, rows: Sequence[Row], count: int) -> list[Budget]:
        mine = added(rows, OURS[0], count)
        theirs = {
            peer: spread for peer in OTHERS if (spread := added(rows, peer, count))
        }
        if not mine or not theirs:
            return []
        peer = min(theirs, key=lambda name: theirs[name].median)
        best = theirs[peer]
        met = mine.median <= best.median or (None if mine.overlaps(best) else False)
        return [
            Budget(
                f"CPU added per turn, {count} turns, against the leanest peer",
                f"{best.show()} ms ({peer})",
                f"{mine.show()} ms",
                met,
            )
        ]


def _ms(row: Row) -> float:
    return float(row["seconds"]) * 1000 / int(row["turns"])


def _last_turns(row: Row) -> float:
    return 1000 * Spread.of(row["per_turn"][-WINDOW:]).median


def _repetitions(rows: Sequence[Row]) -> str:
    counts = sorted(
        {len(each(rows, _ms, peer=OFF, turns=row["turns"])) for row in rows}
    )
    return " to ".join(map(str, dict.fromkeys([*counts[:1], *counts[-1:]])))


def added(rows: Sequence[Row], peer: str, turns: int) -> Spread | None:
    """Returns the milliseconds that a recorder adds to a turn."""
    pairs = paired(*(each(rows, _ms, peer=p, turns=turns) for p in (peer, OFF)))
    return Spread.of(pairs) if pairs else None


def at_the_end(rows: Sequence[Row], peer: str) -> Spread | None:
    """Returns the milliseconds that a recorder adds to one of the last turns of a long run."""
    pairs = paired(*(each(rows, _last_turns, peer=p, turns=LONG) for p in (peer, OFF)))
    return Spread.of(pairs) if pairs else None


def _limit(what: str, found: Spread) -> Budget:
    met = found.median <= LIMIT_MS or (None if found.least <= LIMIT_MS else False)
    return Budget(what, f"{LIMIT_MS} ms", f"{found.show()} ms", met)
