"""What the gap detectors look at: the sound records of each run, and what is already known to be lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from itemtrace.codec.record import KINDS, Record
from itemtrace.errors import CodecError
from itemtrace.ledger.gaps import Gap, GapCause
from itemtrace.rebuild.shapes import read


if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from itemtrace.rebuild.collect import Collected


@dataclass(slots=True)
class RunEvidence:
    """The records of one run.

    Attributes:
        run_id: The run.
        records: Seq -> the only verified record.
        bodies: Seq -> its body as JSON.
        kinds: Kind -> seq and body of its records, in order.
        marks: Seq and escape for every escape in the bodies.
        named: Seqs whose loss already has a gap.
        gaps: These gaps.
    """

    run_id: str
    records: dict[int, Record] = field(default_factory=dict[int, Record])
    bodies: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    kinds: dict[str, list[tuple[int, dict[str, Any]]]] = field(
        default_factory=dict[str, list[tuple[int, dict[str, Any]]]]
    )
    marks: list[tuple[int, dict[str, Any]]] = field(
        default_factory=list[tuple[int, dict[str, Any]]]
    )
    named: set[int] = field(default_factory=set[int])
    gaps: list[Gap] = field(default_factory=list[Gap])

    def of(self, kind: str) -> list[tuple[int, dict[str, Any]]]:
        """Returns seq and body of the records of one kind, in order."""
        return self.kinds.get(kind, [])

    def one(self, kind: str) -> dict[str, Any]:
        """Returns the body of the record that there is once; empty where it is lost."""
        return next((body for _, body in self.of(kind)), dict[str, Any]())

    @property
    def whole(self) -> bool:
        """Whether no record of it is known to be lost."""
        seqs = self.records
        return not self.named and bool(seqs) and len(seqs) == max(seqs) + 1

    def gap(
        self, cause: GapCause, message: str, seq: int | None = None, count: int = 1
    ) -> Gap:
        """Returns a gap of this run."""
        return Gap(cause, message, self.run_id, seq, count)


@dataclass(slots=True)
class Evidence:
    """All runs of the rows, and what is known of the traces.

    Attributes:
        runs: Id -> run.
        traces: Bodies of the `trace` records.
        blobs: Digests of the long texts that are there.
        mentioned: Runs that a span names in an attribute.
    """

    runs: dict[str, RunEvidence] = field(default_factory=dict[str, RunEvidence])
    traces: list[tuple[Record, dict[str, Any]]] = field(
        default_factory=list[tuple[Record, dict[str, Any]]]
    )
    blobs: set[str] = field(default_factory=set[str])
    mentioned: set[str] = field(default_factory=set[str])
    gaps: list[Gap] = field(default_factory=list[Gap])


def weigh(collected: Collected) -> Evidence:
    """Returns the evidence of verified records: conflicts and unsound bodies are put aside."""
    found = Evidence(mentioned=collected.mentioned)
    for run_id, by_seq in collected.records.items():
        found.runs[run_id] = _run(run_id, by_seq, found.blobs)
    for record in collected.traces:
        try:
            found.traces.append((record, read(record)[0]))
        except CodecError as error:
            found.gaps.append(Gap(GapCause.ALTERED, str(error)))
    for gap in collected.gaps:
        run = found.runs.get(gap.run_id)
        if run is None:
            found.gaps.append(gap)
        else:
            run.gaps.append(gap)
            if gap.seq is not None and gap.seq not in run.records:
                run.named.add(gap.seq)
    return found


def _run(
    run_id: str, by_seq: Mapping[int, Mapping[bytes, Record]], blobs: set[str]
) -> RunEvidence:
    run = RunEvidence(run_id)
    for seq in sorted(by_seq):
        copies = by_seq[seq]
        record = next(iter(copies.values()))
        gap = _conflict(run, seq, copies.values()) or _unsound(run, record)
        if gap is not None:
            run.gaps.append(gap)
            run.named.add(seq)
            continue
        run.records[seq] = record
        run.kinds.setdefault(record.kind, []).append((seq, run.bodies[seq]))
        if record.kind == "blob":
            blobs.add(run.bodies[seq]["d"])
    return run


def _conflict(run: RunEvidence, seq: int, copies: Iterable[Record]) -> Gap | None:
    kinds = sorted(record.kind for record in copies)
    if len(kinds) == 1:
        return None
    message = f"record {seq} is there {len(kinds)} times with different content ({', '.join(kinds)})"
    return run.gap(GapCause.CONFLICTING_COPIES, message, seq)


def _unsound(run: RunEvidence, record: Record) -> Gap | None:
    if record.kind not in KINDS:
        message = f"record {record.seq} is of kind {record.kind!r}, which this itemtrace does not know"
        return run.gap(GapCause.UNSUPPORTED_VERSION, message, record.seq)
    try:
        run.bodies[record.seq], escapes = read(record)
    except CodecError as error:
        return run.gap(GapCause.ALTERED, str(error), record.seq)
    run.marks += [(record.seq, escape) for escape in escapes]
    return None
