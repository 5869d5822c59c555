"""`itemtrace runs`: which runs a source holds, newest first, from its index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from itemtrace.cli import options, output, sources
from itemtrace.cli.safe import between, counted, iso, moment, number, one_line
from itemtrace.cli.views.grid import Column, Grid
from itemtrace.errors import TraceNotFound
from itemtrace.stores import Query, RunSummary


SHOWN: Final = 30
"""How many runs the table has when nobody says; JSON has all."""

SHORT: Final = 8
"""How much of an id a narrow terminal shows; commands take it, too."""

WIDE: Final = 160
"""Columns from which ids are shown whole."""

STYLES: Final = {
    "completed": "green",
    "interrupted": "yellow",
    "cancelled": "yellow",
    "failed": "red",
    "unsealed": "red",
}


def runs(
    source: options.Source = None,
    *,
    nested: Annotated[
        bool, typer.Option("--nested", help="List the runs that tools started, too.")
    ] = False,
    agent: options.Agent = None,
    tool: options.Tool = None,
    status: options.Status = None,
    model: options.Model = None,
    group: options.Group = None,
    since: options.Since = None,
    until: options.Until = None,
    limit: options.Limit = None,
    as_json: options.Json = False,
) -> None:
    """List the runs of a source, newest first.

    With --json, each run is one line of JSON.
    """
    query = options.query(
        agent=agent, tool=tool, status=status, model=model, group=group, since=since, until=until,
    )  # fmt: skip
    if as_json:
        found = Listing(source, query, nested=nested, most=limit)
        for run in found:
            output.write_json(summary_json(run))
        return
    found = Listing(source, query, nested=nested, most=limit or SHOWN)
    rows = list(found)
    console = output.console()
    if rows:
        console.print(table(rows, whole=console.width >= WIDE))
    if not rows and not found.hidden:
        raise TraceNotFound(sources.nothing(sources.name_of(source), query))
    if found.hidden:
        output.note(
            f"{counted(found.hidden, 'nested run')} not listed; --nested lists them"
        )
    if found.more:
        output.note(f"the newest {len(rows)} runs; --limit N lists more")


class Listing:
    """The runs to list.

    Attributes:
        hidden: How many nested runs were passed over so far.
        more: Whether there are more than were asked for.
    """

    def __init__(
        self,
        source: str | None,
        query: Query,
        *,
        nested: bool,
        most: int | None,
    ) -> None:
        self.query = replace(query, limit=None)
        self.source, self.nested, self.most = source, nested, most
        self.hidden, self.more = 0, False

    def __iter__(self) -> Iterator[RunSummary]:
        """Yields the runs, newest first."""
        given = 0
        for run in sources.summaries(self.source, self.query):
            if run.nested and not self.nested:
                self.hidden += 1
            elif self.most is not None and given == self.most:
                self.more = True
                return
            else:
                given += 1
                yield run


def summary_json(run: RunSummary) -> dict[str, Any]:
    """Returns a run for machines."""
    return {**asdict(run), "started": iso(run.started_ns), "ended": iso(run.ended_ns)}


def table(runs: list[RunSummary], *, whole: bool) -> Grid:
    """Returns the table of runs.

    Args:
        runs: The runs.
        whole: Show ids whole, not only their beginnings.
    """
    gaps = any(run.gaps is not None for run in runs)
    numbers = ("items", "in", "out", "took", *(("gaps",) if gaps else ()))
    found = Grid(
        [
            *map(Column, ("started", "run", "trace")),
            Column("group", shrinks=True),
            Column("agents", shrinks=True, least=12),
            Column("status"),
            *(Column(name, right=True) for name in numbers),
        ]
    )
    form, most = ("%Y-%m-%d %H:%M:%S", 0) if whole else ("%m-%d %H:%M", SHORT)
    for run in runs:
        row = (
            moment(run.started_ns, form),
            one_line(run.run_id)[: most or None],
            Text(one_line(run.trace_id)[: most or None], style="dim"),
            Text(one_line(run.group or "-"), style="" if run.group else "dim"),
            agents(run),
            Text(one_line(run.status), style=STYLES.get(run.status, "yellow")),
            number(run.items),
            number(run.input_tokens),
            number(run.output_tokens),
            between(run.started_ns, run.ended_ns),
        )
        found.add(*row, *((number(run.gaps),) if gaps else ()))
    return found


def agents(run: RunSummary) -> Text:
    """Returns the agents of a run, the first one first."""
    names = dict.fromkeys(name for name in (run.agent, *run.agents) if name)
    text = Text("↳ " if run.nested else "", style="dim")
    return text.append(
        one_line(", ".join(names)) or "-", style="bold" if names else "dim"
    )
