"""Records into attribute values that fit, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemtrace.codec import canonical
from itemtrace.codec.record import Chunk, Record, digest_of
from itemtrace.codec.versions import CURRENT
from itemtrace.errors import ChunkMissing, CodecError, DigestMismatch


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.limits import Profile


def split(record: Record, profile: Profile) -> list[str]:
    """Returns the record as attribute values of at most `profile.value_bytes` UTF-8 bytes.

    Raises:
        CodecError: The profile leaves no room for text beside the header.
    """
    raw = record.body.encode("utf-8")
    digest = canonical.b64(record.digest)
    head = f"{CURRENT};{record.kind};{record.run};{record.seq};{len(raw)};"
    whole = len(head) + 4 + len(digest) + 1
    if whole + len(raw) <= profile.value_bytes:
        return [f"{head}1/1;{digest};{record.body}"]
    room = profile.value_bytes - whole - 12  # n/of may need 15 characters instead of 3
    if room < 4:
        msg = (
            f"attribute values of {profile.value_bytes} bytes leave no room for records; "
            f"raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT to 256 or more"
        )
        raise CodecError(msg)
    texts = list(_cut(record.body, raw, room))
    return [
        f"{head}{number}/{len(texts)};{digest};{text}"
        for number, text in enumerate(texts, 1)
    ]


def _cut(body: str, raw: bytes, room: int) -> Iterator[str]:
    if len(body) == len(raw):  # ASCII: a byte is a character
        yield from (body[at : at + room] for at in range(0, len(body), room))
        return
    start = 0
    while start < len(raw):
        end = min(start + room, len(raw))
        while end < len(raw) and raw[end] & 0xC0 == 0x80:  # inside a character
            end -= 1
        yield raw[start:end].decode("utf-8")
        start = end


def join(chunks: Iterable[Chunk]) -> Record:
    """Returns the record of chunks that agree in everything but number and text.

    Args:
        chunks: Chunks of one digest, in any order; equal doubles are fine.

    Raises:
        ChunkMissing: Some are not there.
        CodecError: Two chunks of one number differ.
        DigestMismatch: The joined body is not what was written.
    """
    texts: dict[int, str] = {}
    first: Chunk | None = None
    for chunk in chunks:
        first = first or chunk
        if texts.setdefault(chunk.number, chunk.text) != chunk.text:
            msg = f"record {chunk.seq} has two different copies of chunk {chunk.number}"
            raise CodecError(msg)
    if first is None:
        msg = "no chunk of the record is there"
        raise ChunkMissing(msg)
    if len(texts) < first.of:
        absent = next(n for n in range(1, first.of + 1) if n not in texts)
        msg = f"record {first.seq} has {len(texts)} of {first.of} chunks; {absent} is the first that is missing"
        raise ChunkMissing(msg)
    body = "".join(texts[number] for number in sorted(texts))
    raw = body.encode("utf-8", "surrogatepass")
    digest = digest_of(first.kind, first.run, first.seq, raw)
    if len(raw) != first.size or canonical.b64(digest) != first.digest:
        msg = f"record {first.seq} was altered: its digest is not the one that was written"
        raise DigestMismatch(msg)
    return Record(first.kind, first.run, first.seq, body, digest)
