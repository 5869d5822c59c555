# pyright: basic, reportMissingTypeStubs=false
"""Parquet: a file, or a directory of files to which each write adds one.

    open_store("traces.parquet", write=True)       one file, written anew by each write
    open_store("parquet:/data/traces", write=True)  a directory; any number of writers
    open_store("parquet:/data/date=*/")             whatever partitions lie under it

The columns stand in `columns`. Directories may be partitioned by any tool that keeps them
(`.../date=2026-09-21/x.parquet`): what the path says is not needed to read a file.
"""

from __future__ import annotations

import glob
from collections import OrderedDict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec.spans import SpanRow
from itemtrace.errors import NotATrace, SourceError
from itemtrace.semconv import ITEMTRACE_RUN_ID
from itemtrace.stores.base import (
    EVERYTHING,
    Capabilities,
    Query,
    RunSummary,
    WritableStore,
    index_runs,
    matches,
    register,
    selects_trace,
    stamps,
)
from itemtrace.stores.parquet.columns import LISTING, arrow, read_pairs, rows_of
from itemtrace.stores.parquet.files import (
    Found,
    Group,
    index_of,
    opened,
    write_one,
    write_part,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


MAGIC: Final = b"PAR1"
SUFFIX: Final = ".parquet"
KEPT_BYTES: Final = 64_000_000
"""How many bytes of row groups are kept decoded."""


@register(
    "parquet",
    suffixes=(SUFFIX,),
    sniff=lambda head, _: head.startswith(MAGIC),
    many=True,
)
class ParquetStore(WritableStore):
    """Spans in Parquet files; see the module."""

    def __init__(self, source: str | Path, *, write: bool = False) -> None:
        """Opens the store.

        Args:
            source: A file, a directory or a pattern. A new one whose name does not end in
                `.parquet`, or ends in `/`, is a directory.
            write: Open it for writing.

        Raises:
            MissingExtra: pyarrow is not installed.
            SourceError: There is no such file.
        """
        arrow()
        self.path = Path(source).expanduser()
        self.url = str(self.path)
        self.problems: list[str] = []
        self.writes = write
        self.one = self.path.is_file() or (
            self.path.suffix == SUFFIX
            and not self.path.is_dir()
            and not str(source).endswith("/")
        )
        self.capabilities = Capabilities(
            write=True, exact=True, concurrent_writers=write and not self.one
        )
        self.index: dict[str, Found] = {}
        self.seen: list[tuple[str, int, int]] | None = None
        self.kept: OrderedDict[Group, Any] = OrderedDict()
        if not write and not self.files() and not self.path.is_dir():
            msg = f"{self.url} matches no file; expected a Parquet file, a directory or a pattern"
            raise SourceError(msg, source=self.url)

    def write(self, rows: Iterable[SpanRow]) -> int:
        """Adds rows; see `WritableStore.write`."""
        if not self.writes:
            msg = f"{self.url} was opened to read; open it with write=True"
            raise SourceError(msg, source=self.url)
        return write_one(self.path, rows) if self.one else write_part(self.path, rows)

    def traces(
        self, query: Query = EVERYTHING
    ) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, newest start first; see `Store.traces`."""
        return islice(self.selected(query), query.limit)

    def selected(self, query: Query) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, whatever the limit."""
        self.refresh()
        timed = query.since_ns is not None or query.until_ns is not None
        runs: dict[str, list[RunSummary]] = {}
        if query.about_runs or timed:
            for run in self.listed():
                runs.setdefault(run.trace_id, []).append(run)
        newest = sorted(self.index.items(), key=lambda pair: -pair[1].start_ns)
        for trace_id, found in newest:
            if selects_trace(query, trace_id, found.start_ns, runs.get(trace_id, ())):
                yield trace_id, self.rows_of(trace_id, found)

    def runs(self, query: Query = EVERYTHING) -> Iterator[RunSummary]:
        """Gives the selected runs, newest start first; reads no ledger content for it."""
        self.refresh()
        found = [run for run in self.listed() if matches(run, query)]
        found.sort(key=lambda run: -run.started_ns)
        return islice(found, query.limit)

    def listed(self) -> list[RunSummary]:
        """Returns all runs."""
        return [draft.summary() for draft in index_runs(self.listing())]

    def listing(self) -> Iterator[SpanRow]:
        """Gives all rows with what tells of runs."""
        groups = {group for found in self.index.values() for group in found.groups}
        for group in sorted(groups, key=lambda group: (group.path, group.number)):
            with opened(group.path) as file:
                table = file.read_row_group(group.number, columns=list(LISTING))
            for row in table.to_pylist():
                attributes = read_pairs(row["attributes"])
                if row["run_id"]:
                    attributes[str(ITEMTRACE_RUN_ID)] = row["run_id"]
                yield SpanRow(
                    trace_id=row["trace_id"] or "",
                    span_id="",
                    name=row["name"] or "",
                    start_ns=row["start_ns"] or 0,
                    end_ns=row["end_ns"] or 0,
                    attributes=attributes,
                )

    def rows_of(self, trace_id: str, found: Found) -> Iterator[SpanRow]:
        """Gives the rows of a trace, row group by row group."""
        compute = arrow().compute
        for group in found.groups:
            table = self.table(group)
            yield from rows_of(table.filter(compute.equal(table["trace_id"], trace_id)))

    def table(self, group: Group) -> Any:
        """Returns a row group; those read last are kept, since traces share them."""
        table = self.kept.get(group)
        if table is None:
            with opened(group.path) as file:
                table = self.kept[group] = file.read_row_group(group.number)
            while sum(kept.nbytes for kept in self.kept.values()) > KEPT_BYTES and (
                len(self.kept) > 1
            ):
                self.kept.popitem(last=False)
        self.kept.move_to_end(group)
        return table

    def files(self) -> list[Path]:
        """Returns the files of the source, sorted; hidden ones are left out."""
        if self.path.is_file():
            return [self.path]
        roots = [self.path]
        if not self.path.exists():
            names = glob.glob(str(self.path), recursive=True)  # noqa: PTH207 - absolute patterns too
            roots = [Path(name) for name in names]
        found = {root for root in roots if root.is_file()}
        for root in roots:
            found.update(
                file
                for file in root.rglob(f"*{SUFFIX}")
                if file.is_file()
                and not any(part[0] in "._" for part in file.relative_to(root).parts)
            )
        return sorted(found)

    def refresh(self) -> None:
        """Notes which row groups hold which trace, if the files are not those of the last time."""
        files = self.files()
        seen = stamps(files)
        if seen == self.seen:
            return
        self.close()
        self.problems.clear()
        for file in files:
            try:
                for trace_id, start_ns, group in index_of(file):
                    found = self.index.setdefault(trace_id, Found())
                    found.groups.append(group)
                    if start_ns and (not found.start_ns or start_ns < found.start_ns):
                        found.start_ns = start_ns
            except NotATrace as error:
                if len(files) == 1:
                    raise
                self.problems.append(str(error))
        self.seen = seen

    def close(self) -> None:
        """Drops what was read; the next use reads again."""
        self.index, self.seen = {}, None
        self.kept.clear()
