"""From what a user names to ledgers, runs and rows: stores, and files that `itemtrace rebuild` wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from itemtrace import semconv
from itemtrace.cli.output import Advance
from itemtrace.engines import local
from itemtrace.errors import SourceError, TraceNotFound
from itemtrace.ledger import Ledger, Run, Usage
from itemtrace.ledger import io as ledger_io
from itemtrace.ledger.parts import mapping
from itemtrace.ledger.usage import total
from itemtrace.stores import Query, RunSummary, Store, open_store
from itemtrace.stores.base import matches


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow


ID: Final = re.compile(r"trace_[A-Za-z0-9_-]+|[0-9A-Fa-f]{4,32}")
URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
LEDGER_HEAD: Final = b'{"format":"itemtrace-ledger/'
SDK_TRACE_ID: Final = str(semconv.ITEMTRACE_SDK_TRACE_ID)


@dataclass(frozen=True, slots=True)
class Found:
    """A trace, or one run of it.

    Attributes:
        ledger: The ledger of the trace.
        runs: The runs that were asked for; all root runs where a trace was.
        source: Where it was found.
        trace_id: The OpenTelemetry trace id.
    """

    ledger: Ledger
    runs: tuple[Run, ...]
    source: str
    trace_id: str


def split_arguments(
    source: str | None, trace: str | None
) -> tuple[str | None, str | None]:
    """Returns source and trace: a single argument that is no source but looks like an id is a trace."""
    if source is None or trace is not None or not ID.fullmatch(source):
        return source, trace
    return (source, None) if Path(source).exists() else (None, source)


def is_ledger_file(source: str | None) -> bool:
    """Whether a source is a file of ledgers rather than of spans."""
    if source is None or URL.match(source):
        return False
    path = Path(source).expanduser()
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(LEDGER_HEAD)) == LEDGER_HEAD
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise SourceError(msg, source=str(path)) from error


def ledgers(
    source: str | None, query: Query, advance: Advance | None = None
) -> Iterator[Ledger]:
    """Yields the ledgers of a source, one for each trace.

    Args:
        source: A store or a file of ledgers; None for the local store.
        query: Which traces.
        advance: Called with how many traces are done.
    """
    if not is_ledger_file(source):
        yield from local.iter_ledgers(source, query, advance)
        return
    given = 0
    for number, ledger in enumerate(ledger_io.read(Path(str(source)).expanduser()), 1):
        if advance is not None:
            advance(number)
        if (query.limit is None or given < query.limit) and chosen(ledger, query):
            given += 1
            yield ledger


def chosen(ledger: Ledger, query: Query) -> bool:
    """Whether a ledger holds a run that the query asks for."""
    if replace(query, limit=None) == Query():
        return True
    return any(selects(query, run) for run in ledger.all_runs())


def selects(query: Query, run: Run) -> bool:
    """Whether a run is what the query asks for."""
    return matches(summary(run), replace(query, trace_ids=()))


def summary(run: Run) -> RunSummary:
    """Returns what a store's index would say of a run, and its gaps."""
    items = run.items
    calls = run.model_calls
    agents = {run.agent, *(c.agent for c in calls), *(i.agent for i in items)}
    answered = {c.response.model for c in calls if c.response}
    known = bool(run.end)
    usage = own_usage(run)
    parent = mapping(run.begin.get("parent"))
    return RunSummary(
        run_id=run.run_id,
        trace_id=local.plain_id(run.trace_id or ""),
        group=run.group or "",
        workflow=run.workflow or "",
        agent=run.agent or "",
        agents=_names(agents),
        tools=_names({call.name for call in run.tool_calls}),
        models=_names({*(call.model for call in calls), *answered}),
        status=run.status,
        started_ns=run.started_ns,
        ended_ns=run.ended_ns,
        items=len(run.new_items) if known else None,
        input_tokens=usage.input_tokens if known else None,
        output_tokens=usage.output_tokens if known else None,
        gaps=len(run.own_gaps),
        parent=str(parent.get("run", "")),
        nested=run.nested,
    )


def own_usage(run: Run) -> Usage:
    """Returns the tokens of a run's own calls; the SDK counts earlier parts and nested runs too."""
    return total(
        c.response.usage for c in run.model_calls if c.response and not c.recalled
    )


def _names(found: set[str | None]) -> tuple[str, ...]:
    return tuple(sorted(name for name in found if name))


def summaries(source: str | None, query: Query) -> Iterator[RunSummary]:
    """Yields the runs of a source, newest first."""
    if not is_ledger_file(source):
        with open_store(source) as store:
            yield from store.runs(query)
        return
    found = [
        summary(run)
        for ledger in ledgers(source, replace(query, limit=None))
        for run in ledger.all_runs()
        if selects(query, run)
    ]
    found.sort(key=lambda run: -run.started_ns)
    yield from found[: query.limit]


def name_of(source: str | None) -> str:
    """Returns a source for messages, without credentials."""
    if is_ledger_file(source):
        return str(source)
    with open_store(source) as store:
        return store.url


def find(source: str | None, trace: str | None, query: Query) -> Found:
    """Returns one trace of a source, or one run of it.

    Args:
        source: A store or a file of ledgers; None for the local store.
        trace: A trace id, the SDK's trace id, a run id, or a unique beginning of one; None for the
            newest that the query selects.
        query: Which traces count when none is named.

    Raises:
        TraceNotFound: There is none, or more than one.
    """
    if is_ledger_file(source):
        return _find_in_ledgers(str(source), trace, query)
    with open_store(source) as store:
        trace_id, run_id = (
            _newest(store, query) if trace is None else _named(store, trace)
        )
        ledger = local.load(store, trace_id=trace_id)
        runs = ledger.runs if run_id is None else (ledger.run(run_id),)
        return Found(ledger, runs, store.url, trace_id)


def rows(source: str | None, trace_id: str) -> list[SpanRow]:
    """Returns the spans of a trace.

    Raises:
        SourceError: The source holds no spans.
    """
    if is_ledger_file(source):
        msg = f"{source} holds ledgers, which have no spans; name the store or file that has them"
        raise SourceError(msg, source=str(source))
    with open_store(source) as store:
        found = store.traces(Query(trace_ids=(trace_id,)))
        return [row for _, of_trace in found for row in of_trace]


def _newest(store: Store, query: Query) -> tuple[str, None]:
    run = next(store.runs(replace(query, limit=1)), None)
    if run is not None:
        return run.trace_id, None
    if not query.about_runs:  # records whose spans lost the attributes that are indexed
        found = local.iter_ledgers(store, query)
        ledger = next((ledger for ledger in found if ledger.trace_ids), None)
        if ledger is not None:
            return ledger.trace_ids[0], None
    raise TraceNotFound(nothing(store.url, query), source=store.url)


def nothing(source: str, query: Query) -> str:
    """Returns the message for a source without the runs that were asked for."""
    if replace(query, limit=None) == Query():
        return (
            f"no runs in {source}; record one with itemtrace.install(), "
            "or try `itemtrace demo`"
        )
    return f"no such runs in {source}; `itemtrace runs` without filters lists what is there"


def _named(store: Store, trace: str) -> tuple[str, str | None]:
    wanted = local.plain_id(trace)
    exact = _exact(store, wanted)
    if exact is not None:
        return exact
    found: dict[tuple[str, str | None], None] = {}
    for run in store.runs():
        if run.trace_id.startswith(wanted):
            found[run.trace_id, None] = None
        elif run.run_id.startswith(wanted):
            found[run.trace_id, run.run_id] = None
    if not found and trace.startswith("trace_"):
        found = dict.fromkeys(_by_sdk_id(store, trace))
    return _only(found, trace, store.url)


def _exact(store: Store, wanted: str) -> tuple[str, str | None] | None:
    if len(wanted) == 32:
        trace = next(store.traces(Query(trace_ids=(wanted,), limit=1)), None)
        return None if trace is None else (wanted, None)
    if len(wanted) == 16:
        run = next(store.runs(Query(run_id=wanted, limit=1)), None)
        return None if run is None else (run.trace_id, run.run_id)
    return None


def _by_sdk_id(store: Store, trace: str) -> Iterator[tuple[str, None]]:
    """Yields traces that run under a foreign parent, so that their id is not the SDK's."""
    for trace_id, of_trace in store.traces():
        if any(row.attributes.get(SDK_TRACE_ID) == trace for row in of_trace):
            yield trace_id, None


def _only(
    found: dict[tuple[str, str | None], None], trace: str, source: str
) -> tuple[str, str | None]:
    if len(found) == 1:
        return next(iter(found))
    if not found:
        msg = (
            f"no trace or run {trace} in {source}; `itemtrace runs` lists what is there"
        )
        raise TraceNotFound(msg, source=source)
    some = ", ".join(run_id or trace_id for trace_id, run_id in list(found)[:5])
    msg = f"{trace} is the beginning of {len(found)} ids ({some}{', …' if len(found) > 5 else ''}); give more of it"
    raise TraceNotFound(msg, source=source)


def _find_in_ledgers(source: str, trace: str | None, query: Query) -> Found:
    if trace is None:
        newest = max(ledgers(source, query), key=_started, default=None)
        if newest is None:
            raise TraceNotFound(nothing(source, query), source=source)
        return _whole(newest, source)
    wanted = local.plain_id(trace)
    found: dict[tuple[str, str | None], Found] = {}
    by_sdk_id: dict[tuple[str, str | None], Found] = {}
    for ledger in ledgers(source, Query()):
        whole = _whole(ledger, source)
        if any(of.startswith(wanted) for of in ledger.trace_ids):
            found[whole.trace_id, None] = whole
            continue
        for run in ledger.all_runs():
            if run.run_id.startswith(wanted):
                found[whole.trace_id, run.run_id] = replace(whole, runs=(run,))
            elif run.trace_id == trace:
                by_sdk_id[whole.trace_id, None] = whole
    found = found or by_sdk_id
    return found[_only(dict.fromkeys(found), trace, source)]


def _whole(ledger: Ledger, source: str) -> Found:
    trace_id = ledger.trace_ids[0] if ledger.trace_ids else ""
    return Found(ledger, ledger.runs, source, trace_id)


def _started(ledger: Ledger) -> int:
    return max((run.started_ns for run in ledger.all_runs()), default=0)
