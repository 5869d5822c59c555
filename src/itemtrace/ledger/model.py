"""The ledger: the ordered record of one or more runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemtrace.errors import TraceNotFound
from itemtrace.ledger.book import Book
from itemtrace.ledger.run import Run


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from itemtrace.codec.record import Record
    from itemtrace.ledger.gaps import Gap


class Ledger:
    """Runs, and what is known to be missing.

    Attributes:
        runs: The root runs in order of their start; runs that tools started are under `Run.runs`.
        own_gaps: Losses that belong to no run of the ledger.
        trace_ids: OpenTelemetry ids of the traces that it was read from.
        traces: The `trace` records: which root runs a trace has.
    """

    def __init__(
        self,
        book: Book | None = None,
        *,
        gaps: Iterable[Gap] = (),
        trace_ids: Iterable[str] = (),
        traces: Iterable[Record] = (),
    ) -> None:
        self.book = book or Book()
        self.runs = tuple(self.book.roots)
        self.own_gaps = tuple(gaps)
        self.trace_ids = tuple(trace_ids)
        self.traces = tuple(traces)

    def __repr__(self) -> str:
        return f"<Ledger of {len(self.book.runs)} runs, {len(self.gaps)} gaps>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        return self.runs == other.runs and self.own_gaps == other.own_gaps

    __hash__ = None  # type: ignore[assignment] # a ledger is compared by its content

    def all_runs(self) -> Iterator[Run]:
        """Yields every run, each before its nested ones."""
        for run in self.runs:
            yield from run.all_runs()

    def run(self, run_id: str) -> Run:
        """Returns a run by its id.

        Raises:
            TraceNotFound: There is none.
        """
        found = self.book.runs.get(run_id)
        if found is None:
            known = ", ".join(sorted(self.book.runs)[:5]) or "none"
            msg = f"no run {run_id!r} in this ledger; it has {known}"
            raise TraceNotFound(msg)
        return found

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Everything that is missing: the ledger's own gaps and those of its runs."""
        return (*self.own_gaps, *(gap for run in self.runs for gap in run.gaps))

    @property
    def exact(self) -> bool:
        """Whether nothing is missing."""
        return not self.gaps

    def self_check(self) -> list[str]:
        """Returns what contradicts itself in this ledger; an empty list is what tests expect."""
        from itemtrace.ledger.invariants import broken  # noqa: PLC0415 - it reads the whole model

        return list(broken(self))


def build(
    records: Mapping[str, Sequence[Record]],
    *,
    gaps: Iterable[Gap] = (),
    trace_ids: Iterable[str] = (),
    traces: Iterable[Record] = (),
) -> Ledger:
    """Returns the ledger of verified records.

    Args:
        records: Run id -> its records in order of seq, one for each.
        gaps: What is missing; each goes to the run that it names, if that is there.
        trace_ids: Ids of the traces that the records came from.
        traces: The `trace` records.
    """
    book = Book()
    for of_run in records.values():
        for record in of_run:
            if record.kind == "blob":
                book.add_blob(record)
    by_run: dict[str, list[Gap]] = {}
    for gap in gaps:
        by_run.setdefault(gap.run_id if gap.run_id in records else "", []).append(gap)
    for run_id, of_run in records.items():
        book.runs[run_id] = Run(run_id, of_run, book, by_run.get(run_id, ()))
    _link(book)
    return Ledger(book, gaps=by_run.get("", ()), trace_ids=trace_ids, traces=traces)


def _link(book: Book) -> None:
    """Nests runs under their parents; what would hang under itself becomes a root."""
    ordered = sorted(book.runs.values(), key=_order)
    parents = {
        run.run_id: run.parent.run_id for run in ordered if run.parent is not None
    }
    loose = circular(parents)
    for run in ordered:
        if run.run_id in loose or run.run_id not in parents:
            book.roots.append(run)
        else:
            book.nested.setdefault(parents[run.run_id], []).append(run)


def circular(parents: Mapping[str, str]) -> set[str]:
    """Returns the runs that are among their own parents, which only a forged trace can say."""
    found: set[str] = set()
    known: set[str] = set()
    for run_id in parents:
        path: dict[str, None] = {}
        current = run_id
        while current in parents and current not in known and current not in path:
            path[current] = None
            current = parents[current]
        if current in path:
            walked = list(path)
            found.update(walked[walked.index(current) :])
        known.update(path)
    return found


def _order(run: Run) -> tuple[bool, int, str]:
    """By start; runs whose start is lost come last."""
    return run.started_ns == 0, run.started_ns, run.run_id
