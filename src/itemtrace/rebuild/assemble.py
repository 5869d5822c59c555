"""Verified records to a ledger, with its gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemtrace.ledger.model import Ledger, build
from itemtrace.rebuild.collect import collect
from itemtrace.rebuild.evidence import weigh
from itemtrace.rebuild.foreign import Watch
from itemtrace.rebuild.gaps import DETECTORS


if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemtrace.codec.spans import SpanRow
    from itemtrace.ledger.gaps import Gap


def rebuild(
    rows: Iterable[SpanRow], *, trace_id: str | None = None, gaps: Iterable[Gap] = ()
) -> Ledger:
    """Returns the ledger of span rows; never raises for what rows hold.

    Rows may come doubled, in any order, from several traces and with foreign spans between them;
    memory is bounded by their records.

    Args:
        rows: Span rows.
        trace_id: Only rows of this trace count.
        gaps: What the reader of the rows already knows to be lost.
    """
    if trace_id is not None:
        rows = (row for row in rows if row.trace_id == trace_id)
    watch = Watch()
    collected = collect(watch.through(rows))
    watch.add_to(collected)
    evidence = weigh(collected)
    found = [*gaps, *evidence.gaps]
    for run in evidence.runs.values():
        found += run.gaps
    for detect in DETECTORS:
        found += detect(evidence)
    records = {
        run_id: [run.records[seq] for seq in sorted(run.records)]
        for run_id, run in sorted(evidence.runs.items())
        if run.records
    }
    return build(
        records,
        gaps=sorted(set(found), key=_order),
        trace_ids=sorted(collected.trace_ids),
        traces=[
            record
            for record, _ in sorted(evidence.traces, key=lambda pair: pair[0].run)
        ],
    )


def _order(gap: Gap) -> tuple[str, int, str, str]:
    return gap.run_id, -1 if gap.seq is None else gap.seq, gap.cause, gap.message
