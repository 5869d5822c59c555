"""How OTLP files are put together: compression around them, and messages within.

A file is JSON lines, one whole JSON document, one whole protobuf message, or messages with their
length in front (four bytes, big endian), as the Collector's file exporter writes protobuf and
everything compressed. Compression is gzip or zstd, around the file or around each message.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Literal

from itemtrace.errors import MissingExtra


ZSTD: Final = b"\x28\xb5\x2f\xfd"
GZIP: Final = b"\x1f\x8b"
BOM: Final = b"\xef\xbb\xbf"
PREFIX: Final = 4
BLOCK: Final = 1 << 16

Layout = Literal["lines", "document", "message", "prefixed"]
Report = Callable[[str], None]
"""Takes a line about what cannot be read."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Where a message stands in a file or in the spool."""

    offset: int
    size: int


def compression(head: bytes) -> str:
    """Returns `zstd`, `gzip` or nothing, by the first bytes."""
    if head.startswith(ZSTD):
        return "zstd"
    return "gzip" if head.startswith(GZIP) else ""


def layout_of(head: bytes, size: int) -> Layout | None:
    """Returns how uncompressed bytes are put together; None if they are no OTLP.

    Args:
        head: The first bytes.
        size: How many there are in all.
    """
    text = head.removeprefix(BOM).lstrip()
    # the tag of protobuf's first field is a newline, and `{` may be its length
    binary = head[:1] == b"\n" and any(byte < 9 or 13 < byte < 32 for byte in head)
    if text[:1] in (b"{", b"[") and not binary:
        return "document" if is_opening(text) else "lines"
    length = int.from_bytes(head[:PREFIX])
    inner = head[PREFIX : PREFIX + 4]
    plausible = length and (head[0] == 0 or length <= size - PREFIX)
    if plausible and (compression(inner) or inner[:1] in (b"\n", b"{", b"[")):
        return "prefixed"
    return "message" if binary else None


def is_opening(text: bytes) -> bool:
    """Whether a JSON text goes on after its first line, as an indented document does."""
    line, newline, _ = text.partition(b"\n")
    return bool(newline) and line.rstrip()[-1:] in (b"{", b"[", b",", b":")


def is_otlp(head: bytes, size: int) -> bool:
    """Whether a file with these first bytes may be OTLP."""
    return bool(compression(head)) or layout_of(head, size) is not None


def decompressor(kind: str) -> Any:
    """Returns an object that undoes one compressed stream: `decompress`, `eof`, `unused_data`.

    Raises:
        MissingExtra: zstd is needed and `zstandard` is not installed.
    """
    if kind == "gzip":
        return zlib.decompressobj(wbits=31)
    return zstandard().ZstdDecompressor(max_window_size=1 << 31).decompressobj()


def damage(kind: str) -> type[Exception]:
    """Returns what a decompressor raises on damaged data."""
    error: type[Exception] = zlib.error if kind == "gzip" else zstandard().ZstdError
    return error


def zstandard() -> Any:
    """Returns the module.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import zstandard as module
    except ImportError as error:
        package = "zstandard"
        raise MissingExtra(package, "zstd") from error
    return module


def inflate(source: BinaryIO, kind: str, report: Report) -> Iterator[bytes]:
    """Gives the bytes of a compressed file of any number of streams, up to the first damage."""
    stream, started = decompressor(kind), False
    try:
        while block := source.read(BLOCK):
            while block:
                started = True
                yield stream.decompress(block)
                if not stream.eof:
                    break
                block = stream.unused_data
                stream, started = decompressor(kind), False
    except damage(kind) as error:
        report(f"the {kind} data is damaged near byte {source.tell()}: {error}")
        return
    if started:
        report(f"the {kind} data is cut; what came before the cut was read")


def inflate_message(payload: bytes) -> bytes:
    """Returns a message without the compression around it.

    Raises:
        ValueError: The compressed data is damaged.
    """
    kind = compression(payload)
    if not kind:
        return payload
    stream = decompressor(kind)
    try:
        content: bytes = stream.decompress(payload)
    except damage(kind) as error:
        msg = f"its {kind} data is damaged: {error}"
        raise ValueError(msg) from error
    if not stream.eof:
        msg = f"its {kind} data is cut"
        raise ValueError(msg)
    return content


def pieces_of(
    source: BinaryIO, start: int, end: int, report: Report
) -> Iterator[Piece] | None:
    """Gives the messages between two offsets; None when the bytes are no OTLP."""
    if start == end:
        return iter(())
    source.seek(start)
    layout = layout_of(source.read(min(4096, end - start)), end - start)
    if layout is None:
        return None
    if layout == "document" and not is_document(source, start, end):
        layout = "lines"
    return SPLITTERS[layout](source, start, end, report)


def is_document(source: BinaryIO, start: int, end: int) -> bool:
    """Whether the bytes between two offsets are one JSON value."""
    source.seek(start)
    try:
        json.loads(source.read(end - start).removeprefix(BOM))
    except (ValueError, RecursionError):
        return False
    return True


def split_lines(
    source: BinaryIO, start: int, end: int, report: Report
) -> Iterator[Piece]:
    """Gives each line that is not blank."""
    del report  # whether a line is whole shows when it is parsed
    offset = start
    while offset < end:
        source.seek(offset)
        line = source.readline()
        if line.strip():
            yield Piece(offset, len(line))
        offset += len(line)


def split_whole(
    source: BinaryIO, start: int, end: int, report: Report
) -> Iterator[Piece]:
    """Gives all as one message."""
    del source, report
    yield Piece(start, end - start)


def split_prefixed(
    source: BinaryIO, start: int, end: int, report: Report
) -> Iterator[Piece]:
    """Gives each message that has its length in front."""
    offset = start
    while offset < end:
        source.seek(offset)
        prefix = source.read(PREFIX)
        size = int.from_bytes(prefix)
        if len(prefix) < PREFIX or size > end - offset - PREFIX:
            report(
                f"the message at byte {offset} is cut: {max(end - offset - PREFIX, 0)} of "
                f"{size} bytes are there"
            )
            return
        yield Piece(offset + PREFIX, size)
        offset += PREFIX + size


SPLITTERS: Final[
    dict[Layout, Callable[[BinaryIO, int, int, Report], Iterator[Piece]]]
] = {
    "lines": split_lines,
    "document": split_whole,
    "message": split_whole,
    "prefixed": split_prefixed,
}
