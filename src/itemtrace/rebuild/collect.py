"""Span rows to verified records: finds the chunks, joins them, checks them, drops doubles.

What cannot be verified is never part of a record; it becomes a gap with its cause.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, Final, cast

from itemtrace.codec import canonical, chunks
from itemtrace.codec.record import HEADER, Chunk, Record, digest_of, parse
from itemtrace.errors import (
    ChunkMissing,
    CodecError,
    DigestMismatch,
    UnsupportedVersion,
)
from itemtrace.ledger.gaps import Gap, GapCause
from itemtrace.ledger.parts import sequence


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow


RUN_ID: Final = "itemtrace.run.id"
"""On every span of a recorded run."""

SCOPE: Final = "itemtrace"
"""Name of the instrumentation scope of our spans."""

OPERATION: Final = "gen_ai.operation.name"

MOST_TRIES: Final = 64
"""How many combinations of differing copies of chunks are tried against the digest."""

SCALARS: Final = (bool, int, float, type(None))

Key = tuple[str, str, str, str, str]
"""Kind, run, seq, size and digest, as written: what names a record."""


@dataclass(slots=True)
class Group:
    """The chunks of one record that agree in everything but number and text."""

    first: Chunk
    texts: dict[int, list[str]] = field(default_factory=dict[int, list[str]])

    def add(self, number: int, text: str) -> None:
        """Takes a chunk; equal doubles are one."""
        copies = self.texts.setdefault(number, [])
        if text not in copies:
            copies.append(text)


@dataclass(slots=True)
class Collected:
    """What span rows hold.

    Attributes:
        records: Run -> seq -> digest -> verified record; more than one digest is a conflict.
        traces: The verified `trace` records.
        gaps: What could not be verified.
        trace_ids: Traces in which there were chunks.
        mentioned: Runs that a span names in an attribute.
        worked: Traces in which a span of ours says that an agent was at work.
    """

    records: dict[str, dict[int, dict[bytes, Record]]] = field(
        default_factory=dict[str, dict[int, dict[bytes, Record]]]
    )
    traces: list[Record] = field(default_factory=list[Record])
    gaps: set[Gap] = field(default_factory=set[Gap])
    trace_ids: dict[str, None] = field(default_factory=dict[str, None])
    mentioned: set[str] = field(default_factory=set[str])
    worked: set[str] = field(default_factory=set[str])


def collect(rows: Iterable[SpanRow]) -> Collected:
    """Returns the verified records of span rows, in whatever order and number they come."""
    intake = Intake()
    for row in rows:
        attributes = row.attributes
        run_id = attributes.get(RUN_ID)
        if type(run_id) is str:
            intake.found.mentioned.add(run_id)
        if row.scope == SCOPE and attributes.get(OPERATION) == "invoke_agent":
            intake.found.worked.add(row.trace_id)
        for value in attributes.values():
            if type(value) is str and value[:1] != "[":
                if value[:2] == "it":
                    intake.take(value, row.trace_id)
            elif not isinstance(value, SCALARS):
                for inner in candidates((value,)):
                    intake.take(inner, row.trace_id)
    intake.join_groups()
    intake.name_silent_traces()
    return intake.found


def candidates(values: Iterable[Any]) -> Iterator[str]:
    """Yields the strings among attribute values that may be chunks, however a backend wrapped them."""
    for value in values:
        if type(value) is str:
            if value[:2] == "it":
                yield value
            elif value[:1] == "[" and '"it' in value[:8]:
                yield from _from_json(value)
        elif isinstance(value, bytes | bytearray):
            if value[:2] == b"it":
                yield value.decode("utf-8", "replace")
        elif isinstance(value, list | tuple):
            yield from candidates(cast("list[Any]", value))
        elif isinstance(value, Mapping):
            yield from candidates(cast("Mapping[str, Any]", value).values())


def _from_json(text: str) -> Iterator[str]:
    """Yields the chunks of a string array that a backend turned into text, whole or cut."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield from _from_cut_json(text)
        return
    entries = sequence(value)
    yield from (e for e in entries if type(e) is str and e[:2] == "it")


def _from_cut_json(text: str) -> Iterator[str]:
    decoder = json.JSONDecoder()
    at = text.find('"it')
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield text[at + 1 :]
            return
        yield value
        at = text.find('"it', end)


class Intake:
    """Takes attribute values, and keeps the records in them.

    Attributes:
        found: What was found so far.
    """

    def __init__(self) -> None:
        self.found = Collected()
        self._verified: set[Key] = set()
        self._groups: dict[tuple[Key, str], Group] = {}

    def take(self, value: str, trace_id: str) -> None:
        """Takes a value that may be a chunk."""
        match = HEADER.match(value)
        if match is None:
            self._refuse(value, trace_id)
            return
        self.found.trace_ids[trace_id] = None
        kind, run, seq, size, number, of, digest = match.groups()
        key = (kind, run, seq, size, digest)
        if key in self._verified:
            return
        text = value[match.end() :]
        if of == "1":
            raw = text.encode("utf-8", "surrogatepass")
            actual = digest_of(kind, run, int(seq), raw)
            if (
                number == "1"
                and len(raw) == int(size)
                and canonical.b64(actual) == digest
            ):
                self._verified.add(key)
                self._keep(Record(kind, run, int(seq), text, actual))
                return
        group = self._groups.get((key, of))
        if group is None:
            first = Chunk(
                kind, run, int(seq), int(size), int(number), int(of), digest, text
            )
            group = self._groups[key, of] = Group(first)
        group.add(int(number), text)

    def _refuse(self, value: str, trace_id: str) -> None:
        try:
            parse(value)
        except CodecError as error:
            newer = isinstance(error, UnsupportedVersion)
            cause = GapCause.UNSUPPORTED_VERSION if newer else GapCause.ALTERED
            self.found.trace_ids[trace_id] = None
            self.found.gaps.add(Gap(cause, str(error)))

    def _keep(self, record: Record) -> None:
        if record.kind == "trace":
            self.found.traces.append(record)
            return
        of_run = self.found.records.setdefault(record.run, {})
        of_run.setdefault(record.seq, {})[record.digest] = record

    def name_silent_traces(self) -> None:
        """Traces of ours of which no record is there: something dropped the attributes."""
        for trace_id in sorted(self.found.worked - self.found.trace_ids.keys()):
            message = (
                f"trace {trace_id} has spans of itemtrace and none of its records; a backend "
                "that keeps only some keys needs a profile (docs/backends.md)"
            )
            self.found.gaps.add(Gap(GapCause.MISSING, message))

    def join_groups(self) -> None:
        """Joins the records that came in several chunks; what does not join becomes a gap."""
        failed: list[tuple[Key, Group]] = []
        for (key, _), group in self._groups.items():
            if key in self._verified:
                continue
            record = _joined(group)
            if record is None:
                failed.append((key, group))
            else:
                self._verified.add(key)
                self._keep(record)
        self.found.gaps.update(
            _damage(group) for key, group in failed if key not in self._verified
        )


def _joined(group: Group) -> Record | None:
    """Returns the record if some choice among differing copies is the one that was written."""
    if len(group.texts) < group.first.of:
        return None
    for choice in islice(product(*group.texts.values()), MOST_TRIES):
        record = _try(group, choice)
        if record is not None:
            return record
    return None


def _try(group: Group, choice: Iterable[str]) -> Record | None:
    try:
        return chunks.join(_chunks(group, choice))
    except CodecError:
        return None


def _chunks(group: Group, choice: Iterable[str]) -> Iterator[Chunk]:
    for number, text in zip(group.texts, choice, strict=True):
        yield replace(group.first, number=number, text=text)


def _damage(group: Group) -> Gap:
    first = group.first
    choices = prod(len(copies) for copies in group.texts.values())
    try:
        chunks.join(_chunks(group, (copies[0] for copies in group.texts.values())))
    except ChunkMissing as error:
        cause, message = GapCause.CUT, str(error)
    except DigestMismatch as error:
        cause, message = GapCause.ALTERED, str(error)
        size = sum(
            max(len(text.encode("utf-8", "surrogatepass")) for text in copies)
            for copies in group.texts.values()
        )
        if choices > 1:
            cause = GapCause.CONFLICTING_COPIES
            message = f"record {first.seq} has copies that differ, and none is whole"
        elif size < first.size:
            cause = GapCause.CUT
            message = f"record {first.seq} has {size} of {first.size} bytes"
    else:  # pragma: no cover - a group that joins is no damage
        raise AssertionError
    return Gap(cause, f"{message} ({first.kind})", first.run, first.seq)
