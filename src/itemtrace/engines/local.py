"""The in-process engine: a store's rows, rebuilt here. `itemtrace.load` and `iter_ledgers`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from itemtrace.errors import TraceNotFound
from itemtrace.ledger.gaps import Gap, GapCause
from itemtrace.ledger.model import Ledger
from itemtrace.rebuild import rebuild
from itemtrace.stores.base import Query, Store, open_store


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


Source = str | Path | Store | None
"""A path, a URL, an open store, or None for the local store."""


def load(
    source: Source = None,
    *,
    trace_id: str | None = None,
    run_id: str | None = None,
    query: Query | None = None,
) -> Ledger:
    """Returns one ledger of everything that is asked for; of the whole source when nothing is.

    Args:
        source: A path, a URL, an open store, or None for the local store.
        trace_id: Only this trace; the SDK's form (`trace_` and 32 digits) is understood too.
        run_id: Only the trace that holds this run.
        query: What else to select.

    Raises:
        TraceNotFound: The asked trace or run is not there.
        SourceError: The source cannot be read.
        ConfigError: The store cannot apply the query.
    """
    wanted = query or Query()
    if trace_id is not None:
        wanted = replace(wanted, trace_ids=(plain_id(trace_id),))
    if run_id is not None:
        wanted = replace(wanted, run_id=run_id)
    with opened(source) as store:
        traces = store.traces(wanted)
        first = next(traces, None)
        if first is None and wanted != Query():
            msg = f"{store.url} holds {_asked(trace_id, run_id)}; `itemtrace runs` lists what is there"
            raise TraceNotFound(msg, source=store.url)
        found = [] if first is None else [first]
        ledger = rebuild(_rows(chain(found, traces)))
        complete = ledger.exact and wanted != Query()  # sealed: nothing of it was lost
        if complete or not store.problems:
            return ledger
        return Ledger(
            ledger.book,
            gaps=(*ledger.own_gaps, *map(_problem, store.problems)),
            trace_ids=ledger.trace_ids,
            traces=ledger.traces,
        )


def iter_ledgers(
    source: Source = None,
    query: Query | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Ledger]:
    """Yields one ledger for each trace that holds runs, newest first; memory is bounded by a trace.

    What the source lost and no trace can be blamed for comes last, as a ledger without runs.

    Args:
        source: As in `load`.
        query: Which traces.
        progress: Called with the number of traces read so far.

    Raises:
        SourceError: The source cannot be read.
        ConfigError: The store cannot apply the query.
    """
    with opened(source) as store:
        for number, (_, rows) in enumerate(store.traces(query or Query()), 1):
            ledger = rebuild(rows)
            if ledger.trace_ids or not ledger.exact:
                yield ledger
            if progress is not None:
                progress(number)
        if store.problems:
            yield Ledger(gaps=map(_problem, store.problems))


def opened(source: Source) -> AbstractContextManager[Store]:
    """Returns the store of a source; one that the caller opened stays open."""
    return nullcontext(source) if isinstance(source, Store) else open_store(source)


def plain_id(trace_id: str) -> str:
    """Returns an OpenTelemetry trace id: of the SDK's `trace_…` its 32 digits."""
    return trace_id.removeprefix("trace_").lower()


def _rows(traces: Iterable[tuple[str, Iterable[SpanRow]]]) -> Iterator[SpanRow]:
    for _, rows in traces:
        yield from rows


def _problem(problem: str) -> Gap:
    return Gap(GapCause.CUT, f"the source could not be read whole: {problem}")


def _asked(trace_id: str | None, run_id: str | None) -> str:
    asked = [f"trace {trace_id}"] if trace_id else []
    asked += [f"run {run_id}"] if run_id else []
    return f"no {' with '.join(asked)}" if asked else "nothing that was asked for"
