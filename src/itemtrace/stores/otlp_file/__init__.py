"""OTLP files: a file, a directory or a pattern of files, as the Collector's file exporter writes them.

Traces may interleave in the files. A first pass notes which messages hold which trace, then one
trace is read at a time; messages read lately are kept, since neighbouring traces share them.
Compressed files are unpacked once into a temporary file.
"""

from __future__ import annotations

import glob
import tempfile
from collections import OrderedDict
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from itemtrace.errors import NotATrace, SourceError
from itemtrace.stores.base import (
    EVERYTHING,
    Capabilities,
    Query,
    RunSummary,
    WritableStore,
    index_runs,
    matches,
    plain_row,
    register,
    selects_trace,
    stamps,
)
from itemtrace.stores.otlp import decode, is_json, skim, write_json, write_proto
from itemtrace.stores.otlp_file.append import SUFFIXES, append, encode, format_of
from itemtrace.stores.otlp_file.index import Found, Kept, Place, read_at
from itemtrace.stores.otlp_file.layout import (
    compression,
    inflate,
    inflate_message,
    is_otlp,
    pieces_of,
)


if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


BATCH: Final = 512
"""Most rows in one line or message that we write."""

KEPT_BYTES: Final = 32_000_000
"""How many bytes of messages are kept decoded."""

UNREADABLE: Final = (ValueError, NotATrace, RecursionError)
"""What a message raises that is no OTLP or damaged."""


@register("otlp", suffixes=SUFFIXES, sniff=is_otlp)
class OtlpFileStore(WritableStore):
    """OTLP in files; see the module."""

    def __init__(self, source: str | Path, *, write: bool = False) -> None:
        """Opens the store.

        Args:
            source: A file, a directory or a pattern.
            write: Open it for writing; the file is made by the first write, in the format that
                its suffix tells: `.jsonl`, `.pb`, each also with `.gz` or `.zst`.

        Raises:
            SourceError: There is no such file, or it cannot be continued.
        """
        self.source = str(Path(source).expanduser())
        self.url = self.source
        self.problems: list[str] = []
        self.writes = write
        self.index: dict[str, Found] = {}
        self.seen: list[tuple[str, int, int]] | None = None
        self.kept: OrderedDict[Place, Kept] = OrderedDict()
        self.kept_bytes = 0
        self.spool: BinaryIO | None = None
        form = None
        if write:
            if Path(self.source).is_dir():
                msg = f"{self.source} is a directory; expected a file to write to"
                raise SourceError(msg, source=self.url)
            form = format_of(Path(self.source))
        self.format = form
        self.capabilities = Capabilities(
            write=True,
            surrogates=form is None or form.json,
            exact=True,
            concurrent_writers=form is not None and form.plain_lines,
        )
        if not write and not self.files():
            msg = f"{self.source} matches no file; expected a file, a directory or a pattern"
            raise SourceError(msg, source=self.url)

    def write(self, rows: Iterable[SpanRow]) -> int:
        """Appends rows, at most 512 a line or message; see `WritableStore.write`."""
        if self.format is None:
            msg = f"{self.source} was opened to read; open it with write=True"
            raise SourceError(msg, source=self.url)
        waiting = iter(rows)
        data, count = bytearray(), 0
        while batch := [plain_row(row) for row in islice(waiting, BATCH)]:
            payload = (
                write_json(batch).encode() if self.format.json else write_proto(batch)
            )
            data += encode(self.format, payload)
            count += len(batch)
        if data:
            append(Path(self.source), bytes(data), lines=self.format.plain_lines)
        return count

    def traces(
        self, query: Query = EVERYTHING
    ) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, newest start first; see `Store.traces`."""
        return islice(self.selected(query), query.limit)

    def selected(self, query: Query) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, whatever the limit."""
        self.refresh()
        wanted = [
            (trace_id, found)
            for trace_id, found in self.index.items()
            if not query.trace_ids or trace_id in query.trace_ids
        ]
        wanted.sort(key=lambda pair: -pair[1].start_ns)
        timed = query.since_ns is not None or query.until_ns is not None
        for trace_id, found in wanted:
            if query.about_runs or timed:
                runs = [
                    draft.summary()
                    for draft in index_runs(self.rows_of(trace_id, found))
                ]
                if not selects_trace(query, trace_id, found.start_ns, runs):
                    continue
            yield trace_id, self.rows_of(trace_id, found)

    def runs(self, query: Query = EVERYTHING) -> Iterator[RunSummary]:
        """Gives the selected runs, newest start first; reads everything for it."""
        every = Query(trace_ids=query.trace_ids)
        found = [
            run
            for _, rows in self.selected(every)
            for run in (draft.summary() for draft in index_runs(rows))
            if matches(run, query)
        ]
        found.sort(key=lambda run: -run.started_ns)
        return islice(found, query.limit)

    def rows_of(self, trace_id: str, found: Found) -> Iterator[SpanRow]:
        """Gives the rows of a trace, message by message."""
        for place in found.places:
            yield from self.decoded(place).get(trace_id, ())

    def decoded(self, place: Place) -> dict[str, list[SpanRow]]:
        """Returns the rows of a message by trace; the messages read last are kept."""
        known = self.kept.get(place)
        if known is not None:
            self.kept.move_to_end(place)
            return known.rows
        payload = self.payload(place)
        kept = self.kept[place] = Kept(len(payload))
        try:
            for row in decode(payload):
                kept.rows.setdefault(row.trace_id, []).append(row)
        except UNREADABLE as error:
            where = place.path or self.source
            text = (
                f"{where}: the message at byte {place.offset} cannot be read: {error}"
            )
            self.problems.append(text)
        self.kept_bytes += kept.size
        while self.kept_bytes > KEPT_BYTES and len(self.kept) > 1:
            self.kept_bytes -= self.kept.popitem(last=False)[1].size
        return kept.rows

    def payload(self, place: Place) -> bytes:
        """Returns the bytes of a message, without compression."""
        if place.path is None:
            return inflate_message(read_at(self.spooled(), place))
        with self.opened(place.path) as file:
            return inflate_message(read_at(file, place))

    @contextmanager
    def opened(self, path: Path) -> Generator[BinaryIO]:
        """Opens a file to read.

        Raises:
            SourceError: It cannot be opened.
        """
        try:
            file = path.open("rb")
        except OSError as error:
            msg = f"{path} cannot be read: {error.strerror}"
            raise SourceError(msg, source=str(path)) from error
        with file:
            yield file

    def spooled(self) -> BinaryIO:
        """Returns the temporary file that compressed files are unpacked into."""
        if self.spool is None:
            self.spool = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        return self.spool

    def files(self) -> list[Path]:
        """Returns the files of the source, sorted; hidden ones are left out."""
        path = Path(self.source)
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.is_file())
            return sorted(
                file
                for file in inside
                if not any(
                    part.startswith(".") for part in file.relative_to(path).parts
                )
            )
        if path.exists():
            return [path]
        names = glob.glob(self.source, recursive=True)  # noqa: PTH207 - absolute patterns too
        return sorted(Path(name) for name in names if Path(name).is_file())

    def refresh(self) -> None:
        """Makes the first pass if the files are not those of the last one."""
        files = self.files()
        seen = stamps(files)
        if seen == self.seen:
            return
        self.forget()
        self.problems.clear()
        for file in files:
            self.scan(file, alone=len(files) == 1)
        self.seen = seen

    def scan(self, path: Path, *, alone: bool) -> None:
        """Notes the traces of a file.

        Raises:
            NotATrace: It is the only file and holds no trace.
        """
        complaints: list[str] = []
        with self.opened(path) as file:
            size = path.stat().st_size
            kind = compression(file.read(4096))
            if kind:
                file.seek(0)
                source, place, start = self.spooled(), None, self.spooled().seek(0, 2)
                for block in inflate(file, kind, complaints.append):
                    source.write(block)
                end = source.tell()
            else:
                source, place, start, end = file, path, 0, size
            pieces = pieces_of(source, start, end, complaints.append)
            good = 0
            for number, piece in enumerate(pieces or (), 1):
                at = Place(place, piece.offset, piece.size)
                payload = read_at(source, at)
                try:
                    good += self.note(at, inflate_message(payload))
                except UNREADABLE as error:
                    complaints.append(complaint(number, payload, error))
        if not good and (complaints or pieces is None or end > start):
            said = f": {complaints[0]}" if complaints else ""
            text = f"{path} holds no trace{said}; expected OTLP spans as JSON lines or protobuf"
            if alone:
                raise NotATrace(text, source=self.url)
            complaints = [text]
            self.problems.append(text)
            return
        self.problems.extend(f"{path}: {text}" for text in complaints)

    def note(self, place: Place, payload: bytes) -> bool:
        """Notes the traces of a message; returns whether it is one of OTLP traces.

        Raises:
            ValueError: It is no OTLP.
            NotATrace: The same, of protobuf.
        """
        if not payload.strip():
            return False
        starts = skim(payload)
        if starts is None:
            return False
        for trace_id, start_ns in starts:
            found = self.index.setdefault(trace_id, Found())
            if not found.places or found.places[-1] is not place:
                found.places.append(place)
            if start_ns and (not found.start_ns or start_ns < found.start_ns):
                found.start_ns = start_ns
        return True

    def forget(self) -> None:
        """Drops what was read."""
        self.index, self.seen = {}, None
        self.kept.clear()
        self.kept_bytes = 0
        if self.spool is not None:
            self.spool.close()
            self.spool = None

    def close(self) -> None:
        """Drops all that was read but the problems; the next use reads again."""
        self.forget()


def complaint(number: int, payload: bytes, error: Exception) -> str:
    """Returns the line about a message that cannot be read."""
    if is_json(payload) and not payload.endswith(b"\n"):
        return f"message {number} is half-written: it ends after {len(payload)} bytes"
    return f"message {number} ({len(payload)} bytes) cannot be read: {error}"
