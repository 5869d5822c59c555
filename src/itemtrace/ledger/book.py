"""What the runs of one ledger share: long texts, and each other."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG, Placeholder
from itemtrace.errors import CodecError
from itemtrace.ledger.parts import mapping


if TYPE_CHECKING:
    from itemtrace.codec.record import Record
    from itemtrace.ledger.run import Run


UNREADABLE: Final = (
    ArithmeticError,
    AttributeError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a malformed escape can raise; bodies come from outside and may hold anything."""


@dataclass(eq=False, slots=True)
class Book:
    """The index behind a ledger.

    Attributes:
        blobs: Digest -> long text that is written once per trace.
        runs: Id -> run.
        nested: Id -> the runs that this run's tools started, in order.
        roots: The other runs, in order of their start.
    """

    blobs: dict[str, str] = field(default_factory=dict[str, str])
    runs: dict[str, Run] = field(default_factory=dict[str, "Run"])
    nested: dict[str, list[Run]] = field(default_factory=dict[str, "list[Run]"])
    roots: list[Run] = field(default_factory=list["Run"])

    def add_blob(self, record: Record) -> None:
        """Indexes the text of a `blob` record."""
        body = self.body(record)
        if isinstance(body.get("d"), str) and isinstance(body.get("v"), str):
            self.blobs[body["d"]] = body["v"]

    def body(self, record: Record) -> dict[str, Any]:
        """Returns the body of a record, its escapes resolved but for references to items.

        Raises:
            CodecError: The body is not what a record may hold.
        """
        try:
            value = json.loads(record.body)
            if canonical.MARK in record.body:
                value = canonical.decode(value, self.resolve)
        except UNREADABLE as error:
            msg = f"record {record.seq} of run {record.run} cannot be read: {error}"
            raise CodecError(msg) from error
        if not isinstance(value, dict):
            msg = f"record {record.seq} of run {record.run} is no JSON object"
            raise CodecError(msg)
        return mapping(value)

    def resolve(self, escape: dict[str, Any]) -> Any:
        """Returns the text of a `blob`; a placeholder for every other escape."""
        if escape[TAG] != "blob":
            return Placeholder(escape)
        found = self.blobs.get(str(escape.get("d")))
        return Placeholder({**escape, TAG: "missing"}) if found is None else found
