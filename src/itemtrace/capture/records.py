# pyright: basic
# Bodies of records are JSON values
"""The records of one run, numbered and digested in order; long texts once per trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG, Escaped
from itemtrace.codec.record import Record, make


if TYPE_CHECKING:
    from itemtrace.capture.metrics import RunMetrics

LIFT_BYTES: Final = 8_192
"""A body longer than this has its long strings written apart, once per trace."""

LONG_STRING: Final = 4_096
SHARED_STRING: Final = 100
"""Instructions, settings and tool schemas from this length on are written once per trace."""

Emit = Callable[[str, list[Record]], None]
"""Writes records on a short span of their own, named by the first argument."""


@dataclass
class TraceShared:
    """What the runs of one trace share.

    Attributes:
        sdk_id: The SDK's trace id.
        name: Workflow name.
        group: The conversation, or None.
        metadata: The trace's metadata, or None.
        blobs: Digests of the texts that were written in this trace.
        roots: Ids of the root runs in order of their start.
        waiting: The tool call that started a run, and the call it waits for -> that run.
    """

    sdk_id: str
    name: str
    group: str | None
    metadata: dict[str, Any] | None
    blobs: set[str] = field(default_factory=set)
    roots: list[str] = field(default_factory=list)
    waiting: dict[tuple[str | None, str], str] = field(default_factory=dict)


class RecordLog:
    """Makes the records of one run.

    Attributes:
        id: 16 hex digits, the id of the span that holds the first record.
        shared: What the runs of the trace share.
        started: Nanoseconds since the epoch.
        failures: How often itemtrace could not record something; the seal says it.
        metrics: What measures the run; None when metrics are off.
    """

    def __init__(self, run_id: str, shared: TraceShared, *, ascii: bool) -> None:
        self.id = run_id
        self.shared = shared
        self.started = time.time_ns()
        self.failures = 0
        self.metrics: RunMetrics | None = None
        self._ascii = ascii
        self._seq = 0
        self._hash = sha256()

    def make(self, kind: str, body: dict[str, Any]) -> list[Record]:
        """Returns the record of a body, and after it the records of long texts in it."""
        text = canonical.dumps(body, ascii=self._ascii)
        if len(text) <= LIFT_BYTES:
            record = self._next(kind, text)
            blobs: list[Record] = []
        else:
            long: dict[str, str] = {}
            lifted = self._lift(canonical.encode(body), long)
            text = canonical.dumps_encoded(lifted, ascii=self._ascii)
            record = self._next(kind, text)
            blobs = self._blobs(long)
        if self.metrics is not None:
            self.metrics.made(kind, body, [record])
        return [record, *blobs]

    def _next(self, kind: str, text: str) -> Record:
        record = make(kind, self.id, self._seq, text)
        self._seq += 1
        self._hash.update(record.digest)
        return record

    def _lift(self, value: Any, long: dict[str, str]) -> Any:
        if isinstance(value, str):
            return self._blob(value, long) if len(value) >= LONG_STRING else value
        if type(value) is dict:
            return {key: self._lift(child, long) for key, child in value.items()}
        if type(value) is list:
            return [self._lift(child, long) for child in value]
        return value

    def _blob(self, text: str, long: dict[str, str]) -> Escaped:
        """Returns a reference to a text; `long` gets it if the trace does not have it yet."""
        digest = canonical.b64(canonical.digest(text))
        if digest not in self.shared.blobs:
            self.shared.blobs.add(digest)
            long[digest] = text
        return Escaped({TAG: "blob", "d": digest})

    def _blobs(self, long: dict[str, str]) -> list[Record]:
        records = [
            self._next(
                "blob", canonical.dumps({"d": digest, "v": text}, ascii=self._ascii)
            )
            for digest, text in long.items()
        ]
        if self.metrics is not None:
            self.metrics.made("blob", {}, records)
        return records

    def shared_text(self, text: str, records: list[Record]) -> Any:
        """Returns a text, or a reference to it where it is long enough to be written apart."""
        if len(text) < SHARED_STRING:
            return text
        long: dict[str, str] = {}
        reference = self._blob(text, long)
        records += self._blobs(long)
        return reference

    def since(self) -> int:
        """Returns microseconds since the run started."""
        return (time.time_ns() - self.started) // 1000

    def seal(self) -> list[Record]:
        """Returns the closing record; nothing may be recorded after it."""
        body: dict[str, Any] = {
            "records": self._seq,
            "digest": canonical.b64(self._hash.digest()),
        }
        if self.failures:
            body["failures"] = self.failures
        return self.make("seal", body)
