"""Span rows to verified records: finds the chunks, joins them, checks them, drops doubles.

What cannot be verified is never part of a record; it becomes a gap with its cause.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import chunks
from itemtrace.codec.record import Chunk, Record, parse
from itemtrace.errors import (
    ChunkMissing,
    CodecError,
    DigestMismatch,
    UnsupportedVersion,
)
from itemtrace.ledger.gaps import Gap, GapCause


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow


RUN_ID: Final = "itemtrace.run.id"
"""On every span of a recorded run."""

MOST_TRIES: Final = 64
"""How many combinations of differing copies of chunks are tried against the digest."""

Key = tuple[str, str, int, int, str]
"""Kind, run, seq, size and digest: what names a record."""


@dataclass(slots=True)
class Group:
    """The chunks of one record that agree in everything but number and text."""

    first: Chunk
    texts: dict[int, list[str]] = field(default_factory=dict[int, list[str]])

    def add(self, chunk: Chunk) -> None:
        """Takes a chunk; equal doubles are one."""
        copies = self.texts.setdefault(chunk.number, [])
        if chunk.text not in copies:
            copies.append(chunk.text)


@dataclass(slots=True)
class Collected:
    """What span rows hold.

    Attributes:
        records: Run -> seq -> digest -> verified record; more than one digest is a conflict.
        traces: The verified `trace` records.
        gaps: What could not be verified.
        trace_ids: Traces in which there were chunks.
        mentioned: Runs that a span names in an attribute.
    """

    records: dict[str, dict[int, dict[bytes, Record]]] = field(
        default_factory=dict[str, dict[int, dict[bytes, Record]]]
    )
    traces: list[Record] = field(default_factory=list[Record])
    gaps: set[Gap] = field(default_factory=set[Gap])
    trace_ids: dict[str, None] = field(default_factory=dict[str, None])
    mentioned: set[str] = field(default_factory=set[str])


def collect(rows: Iterable[SpanRow]) -> Collected:
    """Returns the verified records of span rows, in whatever order and number they come."""
    found = Collected()
    verified: set[Key] = set()
    groups: dict[tuple[Key, int], Group] = {}
    for row in rows:
        run_id = row.attributes.get(RUN_ID)
        if type(run_id) is str:
            found.mentioned.add(run_id)
        for value in candidates(row.attributes.values()):
            found.trace_ids[row.trace_id] = None
            chunk = _parsed(value, found)
            if chunk is None:
                continue
            key = (chunk.kind, chunk.run, chunk.seq, chunk.size, chunk.digest)
            if key in verified:
                continue
            record = _single(chunk) if chunk.of == 1 else None
            if record is not None:
                verified.add(key)
                _keep(record, found)
                continue
            group = groups.get((key, chunk.of))
            if group is None:
                group = groups[key, chunk.of] = Group(chunk)
            group.add(chunk)
    _join_groups(groups, verified, found)
    return found


def candidates(values: Iterable[Any]) -> Iterator[str]:
    """Yields the strings among attribute values that may be chunks, however a backend wrapped them."""
    for value in values:
        if type(value) is str:
            if value[:2] == "it":
                yield value
            elif value[:1] == "[" and '"it' in value[:8]:
                yield from _from_json(value)
        elif isinstance(value, list | tuple):
            yield from candidates(value)
        elif isinstance(value, Mapping):
            yield from candidates(value.values())


def _from_json(text: str) -> Iterator[str]:
    """Yields the chunks of a string array that a backend turned into text, whole or cut."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield from _from_cut_json(text)
        return
    if isinstance(value, list):
        yield from (
            entry for entry in value if type(entry) is str and entry[:2] == "it"
        )


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


def _parsed(value: str, found: Collected) -> Chunk | None:
    try:
        return parse(value)
    except UnsupportedVersion as error:
        found.gaps.add(Gap(GapCause.UNSUPPORTED_VERSION, str(error)))
    except CodecError as error:
        found.gaps.add(Gap(GapCause.ALTERED, str(error)))
    return None


def _single(chunk: Chunk) -> Record | None:
    try:
        return chunks.join((chunk,))
    except CodecError:
        return None


def _keep(record: Record, found: Collected) -> None:
    if record.kind == "trace":
        found.traces.append(record)
        return
    of_run = found.records.setdefault(record.run, {})
    of_run.setdefault(record.seq, {})[record.digest] = record


def _join_groups(
    groups: Mapping[tuple[Key, int], Group], verified: set[Key], found: Collected
) -> None:
    failed: list[tuple[Key, Group]] = []
    for (key, _), group in groups.items():
        if key in verified:
            continue
        record = _joined(group)
        if record is None:
            failed.append((key, group))
        else:
            verified.add(key)
            _keep(record, found)
    found.gaps.update(_damage(group) for key, group in failed if key not in verified)


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
