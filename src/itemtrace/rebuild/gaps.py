"""What is missing from verified records: a list of small detectors.

Each looks at the evidence and yields the gaps it sees. A new one is a function and a line in
`DETECTORS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG
from itemtrace.ledger.entries import pairs, seqs
from itemtrace.ledger.gaps import Gap, GapCause
from itemtrace.ledger.model import circular
from itemtrace.ledger.parts import part, parts
from itemtrace.rebuild.evidence import Evidence, RunEvidence


Detector = Callable[[Evidence], Iterable[Gap]]
RunDetector = Callable[[RunEvidence], Iterable[Gap]]


def each_run(detect: RunDetector) -> Detector:
    """Returns the detector that looks at each run alone."""

    def detector(evidence: Evidence) -> Iterator[Gap]:
        for run in evidence.runs.values():
            yield from detect(run)

    return detector


# --- one run --------------------------------------------------------------------


def unsealed(run: RunEvidence) -> Iterator[Gap]:
    """The writer did not come to its end, or its last record is lost."""
    if not run.one("seal"):
        yield run.gap(
            GapCause.UNSEALED, "the run has no seal: its end was not written or is lost"
        )


def missing_records(run: RunEvidence) -> Iterator[Gap]:
    """Numbers below the seal's count, or below the highest seen, without a record."""
    expected = max(run.records, default=0)
    seal = run.one("seal")
    if seal:
        expected = max(expected, seal["records"])
    absent = [*sorted({*run.records, *run.named}), expected + 1]
    before = -1
    for seq in absent:
        first, count = before + 1, min(seq, expected + 1) - before - 1
        if count > 0:
            which = (
                f"record {first} is"
                if count == 1
                else f"records {first} to {seq - 1} are"
            )
            yield run.gap(GapCause.MISSING, f"{which} missing", first, count)
        before = max(before, seq)


def broken_seal(run: RunEvidence) -> Iterator[Gap]:
    """A seal that is not the one of these records."""
    for seq, seal in run.of("seal"):
        if seq != seal["records"]:
            message = f"the seal is record {seq} but closes {seal['records']} records"
            yield run.gap(GapCause.ALTERED, message, seq)
        elif max(run.records) > seq:
            yield run.gap(GapCause.ALTERED, "there are records after the seal", seq)
        elif run.whole:
            joined = sha256()
            for number in range(seq):
                joined.update(run.records[number].digest)
            if canonical.b64(joined.digest()) != seal["digest"]:
                message = "the records are not the ones that were sealed"
                yield run.gap(GapCause.ALTERED, message, seq)


def out_of_place(run: RunEvidence) -> Iterator[Gap]:
    """A run begins once, with its first record, and ends once."""
    first = run.records.get(0)
    if first is not None and first.kind != "begin":
        yield run.gap(
            GapCause.ALTERED, f"the run starts with a record of kind {first.kind!r}", 0
        )
    counts = Counter(record.kind for record in run.records.values())
    for kind in ("begin", "end", "seal"):
        if counts[kind] > 1:
            yield run.gap(
                GapCause.ALTERED, f"the run has {counts[kind]} records of kind {kind!r}"
            )


def not_captured(run: RunEvidence) -> Iterator[Gap]:
    """What itemtrace could not see or not write."""
    begin = run.one("begin")
    if "recorded_by" in begin:
        recorder = str(begin["recorded_by"]).partition(" (")[0]
        for lack in parts(begin, "lacks"):
            message = f"{recorder} did not record {lack}"
            yield run.gap(GapCause.NOT_CAPTURED, message)
    elif begin.get("capture") == "spans":
        message = "only tracing callbacks were seen; itemtrace.install() captures the whole run"
        yield run.gap(GapCause.NOT_CAPTURED, message)
    failures = run.one("seal").get("failures", 0)
    if failures:
        yield run.gap(
            GapCause.NOT_CAPTURED,
            f"itemtrace itself failed {failures} times while recording",
        )


def content_marks(run: RunEvidence) -> Iterator[Gap]:
    """Content that was withheld or could not be kept, and escapes of a newer writer."""
    withheld: dict[int, None] = {}
    seen: set[tuple[int, str]] = set()
    for seq, mark in run.marks:
        name = str(mark[TAG])
        if name == "withheld":
            withheld[seq] = None
        elif name == "repr" and (seq, str(mark.get("type"))) not in seen:
            seen.add((seq, str(mark.get("type"))))
            message = f"record {seq} holds a {mark.get('type')} of which only its repr was kept"
            yield run.gap(GapCause.NOT_CAPTURED, message, seq)
        elif name not in KNOWN_MARKS and (seq, name) not in seen:
            seen.add((seq, name))
            message = f"record {seq} holds an escape {name!r}, which this itemtrace does not know"
            yield run.gap(GapCause.UNSUPPORTED_VERSION, message, seq)
    if withheld or run.one("begin").get("withheld") is True:
        message = f"content of {len(withheld)} records was not to be recorded"
        yield run.gap(
            GapCause.WITHHELD, message, next(iter(withheld), None), len(withheld)
        )


KNOWN_MARKS: Final = frozenset(
    {
        "float", "bytes", "join", "map", "tuple", "set", "datetime", "date", "uuid", "decimal",
        "model", "dataclass", "repr", "blob", "ref", "withheld",
    }
)  # fmt: skip
"""Names of escapes (docs/format.md, "Values")."""


def redacted(run: RunEvidence) -> Iterator[Gap]:
    """Items that a redaction changed before they were recorded."""
    changed = [seq for seq, body in run.bodies.items() if body.get("redacted") is True]
    if changed:
        numbers = ", ".join(map(str, changed[:20])) + (
            ", …" if len(changed) > 20 else ""
        )
        message = f"a redaction changed {len(changed)} records: {numbers}"
        yield run.gap(GapCause.REDACTED, message, changed[0], len(changed))


def lost_targets(run: RunEvidence) -> Iterator[Gap]:
    """Records that name items or model calls which are not there, and not yet known to be lost."""
    if not run.whole:
        return
    items = {seq for seq, record in run.records.items() if record.kind == "item"}
    for seq, wanted in _wanted_items(run):
        absent = [number for number in wanted if number not in items]
        if absent:
            message = (
                f"record {seq} names record {absent[0]} as an item, which it is not"
            )
            yield run.gap(GapCause.ALTERED, message, seq)


def _wanted_items(run: RunEvidence) -> Iterator[tuple[int, list[int]]]:
    most = len(run.records)
    for seq, body in run.of("end"):
        final = part(body, "final")
        yield seq, seqs(parts(body, "items"), most + 1)
        yield (
            seq,
            [
                *(parts(body, "interruptions")),
                *([final["text"]] if "text" in final else []),
            ],
        )
    for seq, body in run.of("call"):
        yield seq, parts(part(body, "response"), "output")


def broken_calls(run: RunEvidence) -> Iterator[Gap]:
    """Model calls out of order, and inputs that reach beyond the table of entries."""
    if not run.whole:
        return
    known = 0
    answered: set[int] = set()
    for place, (seq, body) in enumerate(run.of("call")):
        if body["n"] != place:
            yield run.gap(
                GapCause.ALTERED, f"model call {body['n']} is at place {place}", seq
            )
        if "response" in body:
            answered.add(body["n"])
        if body.get("as", -1) >= body["n"]:
            message = f"model call {body['n']} asks like model call {body['as']}, which comes later"
            yield run.gap(GapCause.ALTERED, message, seq)
        sent = part(body, "input")
        known += len(parts(sent, "new"))
        ranges = parts(sent, "list")
        if len(list(pairs(ranges))) < len(ranges) or any(
            a + n > known for a, n in ranges
        ):
            message = f"model call {body['n']} saw entries that no record holds"
            yield run.gap(GapCause.ALTERED, message, seq)
    for seq, body in run.of("end"):
        absent = [n for n in parts(body, "responses") if n not in answered]
        if absent:
            message = (
                f"the result has a response of model call {absent[0]}, which has none"
            )
            yield run.gap(GapCause.ALTERED, message, seq)


# --- between runs ---------------------------------------------------------------


def missing_runs(evidence: Evidence) -> Iterator[Gap]:
    """Runs that others name, or that a span names, and of which no record is there."""
    seen: set[str] = set()
    for namer, run_id, role in _named_runs(evidence):
        if run_id in evidence.runs or run_id in seen:
            continue
        seen.add(run_id)
        yield Gap(GapCause.MISSING, f"run {run_id} is missing, {role}", namer)


Named = Iterator[tuple[str, str, str]]
"""The run that names, the run that is named, and as what."""


def _named_runs(evidence: Evidence) -> Named:
    for run in evidence.runs.values():
        yield from _named_by(run)
    for _, body in evidence.traces:
        yield from (("", run_id, "which the trace names") for run_id in body["runs"])
    for run_id in sorted(evidence.mentioned):
        yield "", run_id, "which a span names"


def _named_by(run: RunEvidence) -> Named:
    begin = run.one("begin")
    resumed = part(begin, "resumed")
    if "parent" in begin:
        yield run.run_id, str(begin["parent"].get("run")), "whose tool started this one"
    if "after" in begin:
        yield run.run_id, begin["after"], "which came before this one"
    if "run" in resumed and "trace" not in resumed:
        yield run.run_id, resumed["run"], "which this one resumes"
    for child in parts(run.one("end"), "children"):
        yield run.run_id, child, "which this one started"
    for _, mark in run.marks:
        if mark[TAG] == "ref" and "r" in mark:
            yield run.run_id, str(mark["r"]), "to whose items this one refers"


def lost_references(evidence: Evidence) -> Iterator[Gap]:
    """References to items and long texts that are not there."""
    for run in evidence.runs.values():
        seen: set[str] = set()
        for seq, mark in chain(run.marks, _numbered(run)):
            message = _lost(evidence, run, mark)
            if message and message not in seen:
                seen.add(message)
                yield run.gap(
                    GapCause.MISSING, f"record {seq} refers to {message}", seq
                )


def _numbered(run: RunEvidence) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields seq and reference for every input entry that is written as the number of an item."""
    for seq, entries in _entries(run):
        yield from (
            (seq, {TAG: "ref", "s": entry}) for entry in entries if type(entry) is int
        )


def _entries(run: RunEvidence) -> Iterator[tuple[int, list[Any]]]:
    for seq, body in run.of("call"):
        yield seq, parts(part(body, "input"), "new")
    for kind in ("begin", "end"):
        for seq, body in run.of(kind):
            yield seq, parts(body, "input")
            yield from ((seq, entries) for entries in part(body, "lists").values())


def _lost(evidence: Evidence, run: RunEvidence, mark: dict[str, Any]) -> str:
    if mark[TAG] == "blob":
        digest = str(mark.get("d"))
        return (
            "" if digest in evidence.blobs else f"the text {digest}, which is missing"
        )
    if mark[TAG] != "ref":
        return ""
    other = evidence.runs.get(str(mark.get("r", run.run_id)))
    if other is None:
        return ""  # the run is missing, and that has a gap
    record = other.records.get(mark["s"]) if type(mark.get("s")) is int else None
    if record is not None and record.kind == "item":
        return ""
    return f"item {mark.get('s')} of run {other.run_id}, which is missing"


def circles(evidence: Evidence) -> Iterator[Gap]:
    """Runs that are said to have started themselves, by way of others."""
    parents = {
        run.run_id: str(run.one("begin")["parent"].get("run"))
        for run in evidence.runs.values()
        if "parent" in run.one("begin")
    }
    for run_id in sorted(circular(parents)):
        yield evidence.runs[run_id].gap(
            GapCause.ALTERED, "the run is said to have started itself", 0
        )


DETECTORS: Final[tuple[Detector, ...]] = (
    each_run(unsealed),
    each_run(missing_records),
    each_run(broken_seal),
    each_run(out_of_place),
    each_run(not_captured),
    each_run(content_marks),
    each_run(redacted),
    each_run(lost_targets),
    each_run(broken_calls),
    missing_runs,
    lost_references,
    circles,
)
"""Every detector; what each yields is put in order by the rebuild."""
