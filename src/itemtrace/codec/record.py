"""The record: one item, response or run boundary as it is written, with its digest.

    it1;<kind>;<run>;<seq>;<bytes>;<n>/<of>;<digest>;<text>

A record is cut into chunks that all carry this header (docs/format.md). The digest covers kind,
run, seq, length and the whole body, so that a changed header is found like a changed body.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from itemtrace.codec.versions import CURRENT
from itemtrace.errors import CodecError, UnsupportedVersion


KINDS: Final = ("begin", "blob", "call", "item", "tool", "end", "seal", "trace")
"""Kinds of record; docs/format.md says what the body of each holds."""

HEADER: Final = re.compile(
    r"it1;([a-z]{1,16});([0-9a-f]{16});(\d{1,9});(\d{1,10});(\d{1,7})/(\d{1,7});([A-Za-z0-9_-]{43});"
)
_ANY_VERSION: Final = re.compile(r"it(\d{1,3});")


@dataclass(frozen=True, slots=True)
class Record:
    """One record.

    Attributes:
        kind: One of `KINDS`, or a kind of a newer writer.
        run: The run's id, 16 hex digits.
        seq: Number of the record in its run, from 0, without holes.
        body: The body as canonical JSON text.
        digest: SHA-256, 32 bytes.
    """

    kind: str
    run: str
    seq: int
    body: str
    digest: bytes

    @property
    def value(self) -> Any:
        """The body as JSON, its escapes unresolved."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a record, as parsed from one attribute value.

    Attributes:
        kind: As in `Record`.
        run: As in `Record`.
        seq: As in `Record`.
        size: UTF-8 bytes of the whole body.
        number: Which chunk this is, from 1.
        of: How many there are.
        digest: The record's digest, base64url.
        text: This piece of the body.
    """

    kind: str
    run: str
    seq: int
    size: int
    number: int
    of: int
    digest: str
    text: str


def make(kind: str, run: str, seq: int, body: str) -> Record:
    """Returns the record of a body, its digest computed."""
    return Record(kind, run, seq, body, digest_of(kind, run, seq, body.encode("utf-8")))


def digest_of(kind: str, run: str, seq: int, body: bytes) -> bytes:
    """Returns the SHA-256 that a record must have."""
    hashed = sha256(f"{CURRENT};{kind};{run};{seq};{len(body)};".encode())
    hashed.update(body)
    return hashed.digest()


def parse(value: str) -> Chunk | None:
    """Returns the chunk in an attribute value; None when it is none of ours.

    Raises:
        UnsupportedVersion: The value is a chunk of a newer format.
        CodecError: The value starts like a chunk, but its header is damaged.
    """
    if not value.startswith("it"):
        return None
    match = HEADER.match(value)
    if match:
        kind, run, seq, size, number, of, digest = match.groups()
        text = value[match.end() :]
        return Chunk(kind, run, int(seq), int(size), int(number), int(of), digest, text)
    version = _ANY_VERSION.match(value)
    if version is None:
        return None
    if version.group() == f"{CURRENT};":
        msg = f"a chunk with a damaged header: {value[:60]!r}"
        raise CodecError(msg)
    msg = f"a record of format it{version.group(1)}; this itemtrace reads {CURRENT}"
    raise UnsupportedVersion(msg)
