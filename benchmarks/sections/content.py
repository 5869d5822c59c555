"""Bytes exported, and how much of the run is in them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from benchmarks.peers import OTHERS, OURS, PEERS, RECORDERS
from benchmarks.sections.base import Budget, Job, Row, Table, failures, good


if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


TURNS = 200
TIMES_LEDGER = {"itemtrace-off": 2.0, "itemtrace-delta": 3.0}
SCRIPTS = ("ascii", "japanese")
KEPT = 0.9
"""A peer counts as one that keeps tool results if this share of the run is in its export."""

NOTES = (
    f"Columns after the bytes are of {TURNS} turns.",
    (
        "Content found: the share of distinct strings of `to_input_list()` and `raw_responses` that "
        "occur anywhere in the export. It is an upper bound: it asks neither for order nor for structure."
    ),
    (
        "Rebuilt: `to_input_list()` and `raw_responses` made again from the spans alone and equal to the "
        "run's own, byte for byte in canonical JSON. No peer has a reader to try it with."
    ),
)


class Content:
    """Uncompressed OTLP; hardly varies, so it is measured once."""

    name = "bytes"

    def jobs(self, *, quick: bool) -> Iterator[Job]:
        """Both scripts at 200 turns; the shorter runs in ASCII."""
        for peer, (turns, script) in product(
            RECORDERS, [(TURNS, script) for script in SCRIPTS]
        ):
            yield {"measure": "content", "peer": peer, "turns": turns, "script": script}
        for turns, peer in product(() if quick else (10, 100), RECORDERS):
            yield {
                "measure": "content",
                "peer": peer,
                "turns": turns,
                "script": "ascii",
            }
        for peer in () if quick else OURS:
            yield {
                "measure": "content",
                "peer": peer,
                "turns": 1_000,
                "script": "ascii",
            }

    def tables(self, rows: Sequence[Row]) -> list[Table]:
        """One table per script."""
        found: list[Table] = []
        for script in SCRIPTS:
            mine = good(rows, script=script)
            counts = sorted({row["turns"] for row in mine})
            lines = [
                _line(mine, peer, counts) for peer in RECORDERS if good(mine, peer=peer)
            ]
            if lines:
                columns = [
                    "recorder", *(f"kB, {count} turns" for count in counts), "spans",
                    "dropped attributes", "content found", "rebuilt", "x ledger's JSON",
                ]  # fmt: skip
                found.append(
                    Table(
                        f"Bytes of OTLP, tool outputs of 1 kB, {script}",
                        columns,
                        lines,
                        () if found else self._notes(rows),
                    )
                )
        return found

    def _notes(self, rows: Sequence[Row]) -> list[str]:
        return [
            *NOTES,
            *(f"{peer.name}: {peer.note}." for peer in PEERS.values() if peer.note),
            *failures(rows),
        ]

    def budgets(self, rows: Sequence[Row]) -> list[Budget]:
        """Multiples of the ledger's own JSON, and the leanest peer that keeps tool results."""
        found = []
        for peer, script in product(OURS, SCRIPTS):
            for row in good(rows, peer=peer, script=script, turns=TURNS):
                limit, times = TIMES_LEDGER[peer], row["bytes"] / row["ledger_bytes"]
                what = f"bytes at {TURNS} turns, {PEERS[peer].label}, {script}"
                measured = f"{times:.2f} x ({row['bytes'] / 1000:.0f} of {row['ledger_bytes'] / 1000:.0f} kB)"
                found.append(
                    Budget(
                        what,
                        f"{limit:.0f} x the ledger's JSON",
                        measured,
                        times <= limit,
                    )
                )
        theirs = [
            row
            for row in good(rows, script="ascii", turns=TURNS)
            if row["peer"] in OTHERS and row["share"] >= KEPT
        ]
        for row in (
            good(rows, peer=OURS[0], script="ascii", turns=TURNS) if theirs else []
        ):
            leanest = min(theirs, key=lambda other: other["bytes"])
            limit_text = f"{leanest['bytes'] / 1000:.0f} kB ({leanest['peer']})"
            what = f"bytes at {TURNS} turns, against the leanest peer that keeps tool results"
            found.append(
                Budget(
                    what,
                    limit_text,
                    f"{row['bytes'] / 1000:.0f} kB",
                    row["bytes"] <= leanest["bytes"],
                )
            )
        for row in good(rows, turns=TURNS):
            if row["peer"] in OURS:
                what = f"the run rebuilt from its spans, {PEERS[row['peer']].label}, {row['script']}"
                found.append(Budget(what, "exact, no gap", _rebuilt(row), row["exact"]))
        return found


def _line(rows: Sequence[Row], peer: str, counts: Sequence[int]) -> list[str]:
    by_turns = {row["turns"]: row for row in good(rows, peer=peer)}
    cells = [
        f"{by_turns[count]['bytes'] / 1000:,.0f}" if count in by_turns else "-"
        for count in counts
    ]
    row = by_turns.get(TURNS)
    if row is None:
        return [peer, *cells, "-", "-", "-", "-", "-"]
    ledgers = [mine["ledger_bytes"] for mine in good(rows, peer=OURS[0], turns=TURNS)]
    times = f"{row['bytes'] / ledgers[0]:.2f}" if ledgers else "-"
    return [
        peer, *cells, f"{row['spans']:,}", f"{row['dropped']:,}",
        f"{row['share']:.0%}", _rebuilt(row), times,
    ]  # fmt: skip


def _rebuilt(row: Row) -> str:
    if "exact" not in row:
        return "no"
    return "exact" if row["exact"] else f"not exact: {row['why']}"
