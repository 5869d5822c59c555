"""What a backend leaves of a recorded run: exact, or which gaps.

`docs/backends.md` is made of these, and the property tests hold every degrader to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from itemtrace.rebuild import rebuild
from itemtrace.testing.degrade.base import DEGRADERS


if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemtrace.codec.spans import SpanRow
    from itemtrace.ledger.model import Ledger


@dataclass(frozen=True, slots=True)
class Outcome:
    """A ledger after a backend, against the one before it.

    Attributes:
        exact: Whether it is the same, without gaps.
        gaps: The causes of its gaps, sorted.
        wrong: What is in it that was not in the original, and not named: always empty, or itemtrace
            is broken.
    """

    exact: bool
    gaps: tuple[str, ...]
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        return "exact" if self.exact else f"gaps: {', '.join(self.gaps)}"


def outcome(name: str, rows: Iterable[SpanRow]) -> Outcome:
    """Returns what a backend leaves of the ledger of rows.

    Args:
        name: A key of `DEGRADERS`.
        rows: As they were recorded.
    """
    original = list(rows)
    degraded = DEGRADERS[name](original)
    return judge(rebuild(original), rebuild(degraded), degraded)


def judge(before: Ledger, after: Ledger, rows: Iterable[SpanRow]) -> Outcome:
    """Returns the outcome of two ledgers.

    Args:
        before: From the rows as they were recorded.
        after: From what is left of them.
        rows: What is left of them: of a run that nothing in them names, nobody can know.
    """
    told = "\n".join(str([*row.attributes.values()]) for row in rows)
    wrong: list[str] = []
    known = {run.run_id: set(run.records) for run in before.all_runs()}
    for run in after.all_runs():
        if not set(run.records) <= known.get(run.run_id, set()):
            wrong.append(f"run {run.run_id} has records that were never written")
        elif not after.gaps and set(run.records) != known[run.run_id]:
            wrong.append(f"run {run.run_id} lacks records, and no gap says so")
    lost = known.keys() - {run.run_id for run in after.all_runs()}
    if not after.gaps:
        wrong += [
            f"run {run} is gone, and no gap says so" for run in lost if run in told
        ]
    exact = not after.gaps and not lost and not wrong
    gaps = sorted({gap.cause.value for gap in after.gaps})
    return Outcome(exact, tuple(gaps), tuple(wrong))
