# pyright: basic, reportMissingTypeStubs=false
"""Files of the Parquet store: reading one in parts, writing one as a whole or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from itemtrace.errors import NotATrace, SourceError
from itemtrace.stores.base import plain_row
from itemtrace.stores.parquet.columns import REPEATING, arrow, schema, table_of


if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


ROWS: Final = 2_000
"""Most rows in a row group: what reading one trace has to decode."""


@dataclass(frozen=True, slots=True)
class Group:
    """A row group of a file."""

    path: Path
    number: int


@dataclass(slots=True)
class Found:
    """Where a trace is.

    Attributes:
        start_ns: Earliest known start of its spans.
        groups: The row groups that hold some of it.
    """

    start_ns: int = 0
    groups: list[Group] = field(default_factory=list[Group])


@contextmanager
def arrow_errors(path: Path, doing: str) -> Generator[None]:
    """Turns the errors of pyarrow and the system into ours.

    Raises:
        NotATrace: The file is damaged.
        SourceError: The system refused.
    """
    invalid = arrow().ArrowInvalid
    try:
        yield
    except invalid as error:
        msg = f"{path} is no Parquet file or is damaged: {error}"
        raise NotATrace(msg, source=str(path)) from error
    except OSError as error:
        msg = f"{path} cannot be {doing}: {error.strerror or error}"
        raise SourceError(msg, source=str(path)) from error


@contextmanager
def opened(path: Path) -> Generator[Any]:
    """Opens a file that has our columns.

    Raises:
        NotATrace: It is damaged, or has other columns.
        SourceError: It cannot be opened.
    """
    with arrow_errors(path, "read"), arrow().parquet.ParquetFile(path) as file:
        missing = [
            name for name in schema().names if name not in file.schema_arrow.names
        ]
        if missing:
            msg = (
                f"{path} has no column {', '.join(missing)}; expected the columns "
                "that itemtrace writes (docs/stores.md)"
            )
            raise NotATrace(msg, source=str(path))
        yield file


def index_of(path: Path) -> Iterator[tuple[str, int, Group]]:
    """Gives trace id, earliest start and row group of each trace in each row group."""
    with opened(path) as file:
        for number in range(file.num_row_groups):
            table = file.read_row_group(number, columns=["trace_id", "start_ns"])
            starts: dict[str, int] = {}
            for trace_id, start_ns in zip(
                table["trace_id"].to_pylist(),
                table["start_ns"].to_pylist(),
                strict=True,
            ):
                start, known = start_ns or 0, starts.get(trace_id, 0)
                starts[trace_id] = (
                    min(start, known) if start and known else start or known
                )
            for trace_id, start_ns in starts.items():
                yield trace_id or "", start_ns, Group(path, number)


def write_file(path: Path, rows: Iterable[SpanRow], *, keep: Path | None = None) -> int:
    """Writes a file, row group by row group, and returns how many rows were new.

    Args:
        path: The file to make.
        rows: What to write.
        keep: A file of ours whose row groups come first.
    """
    count = 0
    with arrow().parquet.ParquetWriter(
        path,
        schema(),
        compression="zstd",
        use_dictionary=list(REPEATING),
        write_statistics=["trace_id", "run_id", "start_ns"],
    ) as writer:
        if keep is not None:
            with opened(keep) as before:
                for number in range(before.num_row_groups):
                    kept = before.read_row_group(number, columns=schema().names)
                    writer.write_table(kept.cast(schema()))
        waiting = iter(rows)
        while batch := [plain_row(row) for row in islice(waiting, ROWS)]:
            batch.sort(
                key=lambda row: row.trace_id
            )  # stable: a trace stays in its order
            writer.write_table(table_of(batch))
            count += len(batch)
    return count


@contextmanager
def temporary(directory: Path) -> Generator[Path]:
    """Gives the name of a hidden file beside its target; it is gone afterwards."""
    with arrow_errors(directory, "written"):
        directory.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=".", suffix=".parquet.new", dir=directory
        )
        os.close(handle)
        try:
            yield Path(name)
        finally:
            with suppress(FileNotFoundError):
                Path(name).unlink()


def write_one(path: Path, rows: Iterable[SpanRow]) -> int:
    """Adds rows to a file by writing it anew; who reads it sees the old one or the new one."""
    with temporary(path.parent) as new:
        count = write_file(new, rows, keep=path if path.exists() else None)
        if count:
            new.replace(path)
    return count


def write_part(directory: Path, rows: Iterable[SpanRow]) -> int:
    """Adds a file with rows to a directory, named by its content, and returns their number."""
    with temporary(directory) as new:
        count = write_file(new, rows)
        if count:
            with new.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            new.replace(directory / f"spans-{digest[:32]}.parquet")
    return count
