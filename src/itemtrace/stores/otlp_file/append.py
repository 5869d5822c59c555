"""Writing OTLP files: how a batch is encoded, by the file's suffix or content, and appended."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from itemtrace.errors import SourceError
from itemtrace.stores.otlp_file.layout import (
    PREFIX,
    compression,
    inflate,
    layout_of,
    pieces_of,
    zstandard,
)


if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Format:
    """How batches are written.

    Attributes:
        suffixes: Suffixes of files in this format.
        json: JSON lines rather than protobuf messages.
        compress: What is done to the bytes of a batch.
    """

    suffixes: tuple[str, ...]
    json: bool
    compress: Callable[[bytes], bytes] | None = None

    @property
    def plain_lines(self) -> bool:
        """Whether a torn end harms only the line it is in, and several may append at once."""
        return self.json and self.compress is None


def by_gzip(data: bytes) -> bytes:
    """Returns a gzip member."""
    return gzip.compress(data, mtime=0)


def by_zstd(data: bytes) -> bytes:
    """Returns a zstd frame with a checksum."""
    compressed: bytes = zstandard().ZstdCompressor(write_checksum=True).compress(data)
    return compressed


LINES: Final = Format((".jsonl", ".json"), json=True)
LINES_GZIP: Final = Format((".jsonl.gz", ".json.gz"), json=True, compress=by_gzip)
LINES_ZSTD: Final = Format((".jsonl.zst", ".json.zst"), json=True, compress=by_zstd)
PROTO: Final = Format((".binpb", ".pb"), json=False)
PROTO_GZIP: Final = Format((".binpb.gz", ".pb.gz"), json=False, compress=by_gzip)
PROTO_ZSTD: Final = Format((".binpb.zst", ".pb.zst"), json=False, compress=by_zstd)

FORMATS: Final = (LINES, LINES_GZIP, LINES_ZSTD, PROTO, PROTO_GZIP, PROTO_ZSTD)
SUFFIXES: Final = tuple(suffix for form in FORMATS for suffix in form.suffixes)

BY_CONTENT: Final[dict[tuple[str, str | None, str], Format]] = {
    ("", "lines", ""): LINES,
    ("gzip", None, ""): LINES_GZIP,
    ("zstd", None, ""): LINES_ZSTD,
    ("", "prefixed", ""): PROTO,
    ("", "prefixed", "gzip"): PROTO_GZIP,
    ("", "prefixed", "zstd"): PROTO_ZSTD,
}
"""Compression around the file, layout and compression around messages -> what continues it."""


def format_of(path: Path) -> Format:
    """Returns the format in which a file is continued, or begun by its suffix.

    Raises:
        SourceError: The file is whole as it is, or its end is damaged.
    """
    if not path.exists() or not path.stat().st_size:
        name = path.name.lower()
        found = [form for form in FORMATS if name.endswith(form.suffixes)]
        return found[-1] if found else LINES
    with path.open("rb") as file:
        head = file.read(4096)
        size = path.stat().st_size
        around = compression(head)
        layout = None if around else layout_of(head, size)
        inner = compression(head[PREFIX:]) if layout == "prefixed" else ""
        form = BY_CONTENT.get((around, layout, inner))
        if form is None:
            msg = (
                f"{path} cannot be continued: it holds one whole document; "
                "write to a new file"
            )
            raise SourceError(msg, source=str(path))
        damage = damage_of(file, form, around)
    if damage:
        msg = f"{path} cannot be continued: {damage}; write to a new file"
        raise SourceError(msg, source=str(path))
    return form


def damage_of(file: BinaryIO, form: Format, around: str) -> str:
    """Returns why what is appended could not be read back; nothing if it could.

    Args:
        file: An existing file.
        form: Its format.
        around: The compression around it.
    """
    if form.plain_lines:
        return ""
    found: list[str] = []
    file.seek(0)
    if around:
        blocks = inflate(file, around, found.append)
        head = next(blocks, b"")
        if head and layout_of(head, len(head)) != "lines":
            found.append("it holds no JSON lines")
        for _ in blocks:  # to the end, where a cut would show
            pass
    else:
        size = file.seek(0, os.SEEK_END)
        for _ in pieces_of(file, 0, size, found.append) or ():
            pass
    return found[0] if found else ""


def encode(form: Format, payload: bytes) -> bytes:
    """Returns a batch as it stands in a file."""
    if form.json:
        payload += b"\n"
        return form.compress(payload) if form.compress else payload
    message = form.compress(payload) if form.compress else payload
    return len(message).to_bytes(PREFIX) + message


def append(path: Path, data: bytes, *, lines: bool) -> None:
    """Appends bytes with one write; takes them back if they do not all go in.

    Args:
        path: The file, made for the owner only if it is not there.
        data: What to append.
        lines: The file is plain lines: data begins a new one even after a torn end.

    Raises:
        SourceError: The data could not be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}; name another file"
        raise SourceError(msg, source=str(path)) from error
    try:
        start = os.fstat(file).st_size
        if lines and start and os.pread(file, 1, start - 1) != b"\n":
            data = b"\n" + data
        write_all(file, start, data)
    except OSError as error:
        msg = f"{path} could not be written: {error.strerror}; what was there before is whole"
        raise SourceError(msg, source=str(path)) from error
    finally:
        os.close(file)


def write_all(file: int, start: int, data: bytes) -> None:
    """Writes all bytes, or cuts the file back to where it was."""
    view, written = memoryview(data), 0
    try:
        while written < len(data):
            written += os.write(file, view[written:])
    except OSError:
        if os.fstat(file).st_size == start + written:  # nobody else has written since
            os.ftruncate(file, start)
        raise
