"""Traces that itemtrace did not record: what other recorders wrote, as far as it goes.

    watch = Watch()
    collected = collect(watch.through(rows))
    watch.add_to(collected)

A trace with spans of ours stays ours: other recorders' spans in it are ignored. A new dialect is one
module and a line in `MODULES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from itemtrace.rebuild.foreign import genai, logfire, openinference, sdk, traceloop
from itemtrace.rebuild.foreign.runs import drafts
from itemtrace.rebuild.foreign.steps import DIALECTS, Dialect
from itemtrace.rebuild.foreign.write import write


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow
    from itemtrace.rebuild.collect import Collected


__all__ = ["DIALECTS", "MODULES", "Dialect", "Watch"]

MODULES: Final = (sdk, logfire, openinference, traceloop, genai)
"""The modules that register dialects; the first that recognises a span has it."""

ORDER: Final = tuple(
    sorted(
        DIALECTS.values(),
        key=lambda d: [m.__name__ for m in MODULES].index(d.read.__module__),
    )
)

OURS: Final = "itemtrace"
"""Our instrumentation scope, and the beginning of our keys."""


class Watch:
    """Looks at rows on their way, and keeps those of other recorders until their trace is known."""

    def __init__(self) -> None:
        self._ours: set[str] = set()
        self._rows: dict[str, dict[str, tuple[Dialect, SpanRow]]] = {}
        self._parents: dict[str, dict[str, str]] = {}

    def through(self, rows: Iterable[SpanRow]) -> Iterator[SpanRow]:
        """Yields all rows as they are."""
        for row in rows:
            if row.scope == OURS:
                self._is_ours(row.trace_id)
            elif row.trace_id not in self._ours:
                self._see(row)
            yield row

    def _is_ours(self, trace_id: str) -> None:
        if trace_id not in self._ours:
            self._ours.add(trace_id)
            self._rows.pop(trace_id, None)
            self._parents.pop(trace_id, None)

    def _see(self, row: SpanRow) -> None:
        if any(
            key.startswith(OURS) for key in row.attributes
        ):  # a backend may drop the scope
            self._is_ours(row.trace_id)
            return
        self._parents.setdefault(row.trace_id, {})[row.span_id] = row.parent_id
        dialect = next((d for d in ORDER if d.recognises(row)), None)
        if dialect is None:
            return
        kept = self._rows.setdefault(row.trace_id, {})
        if row.span_id not in kept or _fuller(row, kept[row.span_id][1]):
            kept[row.span_id] = (dialect, row)

    def add_to(self, collected: Collected) -> None:
        """Adds the runs of traces that are not ours."""
        for trace_id, found in self._rows.items():
            if trace_id not in collected.trace_ids and trace_id not in self._ours:
                rows = [pair for _, pair in sorted(found.items())]
                self._add(trace_id, rows, collected)

    def _add(
        self, trace_id: str, found: list[tuple[Dialect, SpanRow]], collected: Collected
    ) -> None:
        seen = {dialect.name for dialect, _ in found}
        chosen = next(dialect for dialect in ORDER if dialect.name in seen)
        wanted = {chosen.name, *chosen.also}
        rows = [row for dialect, row in found if dialect.name in wanted]
        runs = drafts([chosen.read(row) for row in rows], self._parents[trace_id])
        for run_id, records in write(
            runs, _recorder(chosen, rows), chosen.lacks
        ).items():
            collected.trace_ids[trace_id] = None
            collected.records[run_id] = {
                record.seq: {record.digest: record} for record in records
            }


def _fuller(row: SpanRow, other: SpanRow) -> bool:
    """Whether a copy of a span says more; of two that say as much, always the same one wins."""
    key, known = ((len(r.attributes), repr(r.attributes)) for r in (row, other))
    return key > known


def _recorder(dialect: Dialect, rows: list[SpanRow]) -> str:
    scopes = sorted({f"{row.scope} {row.scope_version}".strip() for row in rows} - {""})
    return f"{dialect.name} ({', '.join(scopes)})" if scopes else dialect.name
