"""Records and span rows of made-up runs, for tests of what reads them.

    run = RunWriter("00000000000000a1")
    run.add("begin", started=1, agent="Desk", input="Hello")
    run.add("item", type="message_output_item", agent="Desk", raw={...})
    run.add("end", status="completed", items=[1])
    run.seal()
    rows = rows_of(run.records)

Nothing here checks that a run makes sense: a test may write any body that it likes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical, chunks
from itemtrace.codec.canonical import TAG, Escaped
from itemtrace.codec.record import Record, make
from itemtrace.codec.spans import SpanRow
from itemtrace.limits import PROFILES, Profile


if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


TRACE_ID: Final = "0af7651916cd43dd8448eb211c80319c"
PORTABLE: Final = PROFILES["portable"]


class RunWriter:
    """Numbers the records of one run.

    Attributes:
        run_id: 16 hex digits.
        records: What was written so far.
    """

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.records: list[Record] = []

    def add(self, kind: str, **body: Any) -> int:
        """Adds a record and returns its number."""
        seq = len(self.records)
        self.records.append(make(kind, self.run_id, seq, canonical.dumps(body)))
        return seq

    def blob(self, text: str) -> Escaped:
        """Writes a long text apart, and returns what stands for it."""
        digest = canonical.b64(canonical.digest(text))
        self.add("blob", d=digest, v=text)
        return Escaped({TAG: "blob", "d": digest})

    def seal(self, **more: Any) -> int:
        """Closes the run."""
        joined = sha256(b"".join(record.digest for record in self.records))
        digest = canonical.b64(joined.digest())
        return self.add("seal", records=len(self.records), digest=digest, **more)


def ref(seq: int, **more: Any) -> Escaped:
    """Returns a reference to an item record."""
    return Escaped({TAG: "ref", "s": seq, **more})


def rows_of(
    records: Iterable[Record],
    *,
    profile: Profile = PORTABLE,
    trace_id: str = TRACE_ID,
    per_span: int = 3,
) -> list[SpanRow]:
    """Returns span rows that hold records, some chunks on each."""
    values = [value for record in records for value in chunks.split(record, profile)]
    return [
        SpanRow(
            trace_id=trace_id,
            span_id=f"{place + 1:016x}",
            name="item",
            attributes={
                f"{profile.key}{number}": value
                for number, value in enumerate(values[place : place + per_span])
            },
        )
        for place in range(0, len(values), per_span)
    ]


def values_of(rows: Sequence[SpanRow]) -> list[str]:
    """Returns the attribute values of rows, in order."""
    return [value for row in rows for value in row.attributes.values()]
