"""`itemtrace stats`: what the runs of a source did, in numbers."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from itemtrace.cli import options, output, sources
from itemtrace.cli.safe import counted, duration, moment, number, one_line
from itemtrace.cli.tally import Series, Tally
from itemtrace.cli.views.grid import Column, Grid
from itemtrace.errors import TraceNotFound


def stats(
    source: options.Source = None,
    *,
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
    """Count what the runs of a source did: items, tools, agents, models, tokens, turns, gaps.

    Filters choose runs; nested runs count as runs of their own. The limit is one of traces.
    """
    query = options.query(
        agent=agent, tool=tool, status=status, model=model, group=group, since=since, until=until,
        limit=limit,
    )  # fmt: skip
    tally = Tally()
    with output.progress("reading traces") as advance:
        for ledger in sources.ledgers(source, query, advance):
            tally.add(ledger, query)
    if not tally.runs and not tally.gaps:
        name = sources.name_of(source)
        raise TraceNotFound(sources.nothing(name, query), source=name)
    if as_json:
        output.write_json(tally.as_json())
        return
    output.show(parts(tally))


def parts(tally: Tally) -> Iterator[RenderableType]:
    """Yields the numbers for people."""
    yield Text(
        f"{counted(tally.runs, 'run')} in {counted(tally.traces, 'trace')}, "
        f"{counted(tally.nested, 'nested run')}",
        style="bold",
    )
    yield facts(tally)
    for title, table in tables(tally):
        if table.rows:
            yield Text()
            yield Text(title, style="bold")
            yield table


def facts(tally: Tally) -> Grid:
    """Returns the short facts, a line each."""
    found = Grid([Column(""), Column("", shrinks=True)])
    turns = tally.turns
    lines = {
        "when": f"{moment(tally.first_ns)} to {moment(tally.last_ns)}",
        "status": listed(tally.status),
        "turns a run": f"{turns.least} to {turns.most}, {turns.mean:.1f} on average"
        if turns.count
        else "",
        "tokens": f"{number(tally.usage.input_tokens)} in ({number(tally.usage.cached_tokens)} cached), "
        f"{number(tally.usage.output_tokens)} out ({number(tally.usage.reasoning_tokens)} reasoning)",
        "handoffs": listed(tally.handoffs),
        "approvals": listed(tally.approvals),
        "tripwires": listed(tally.tripwires),
        "gaps": listed(tally.gaps) or "none",
    }
    for name, value in lines.items():
        if value:
            style = "red" if name == "gaps" and tally.gaps else ""
            found.add(Text(name, style="dim"), Text(one_line(value), style=style))
    return found


def listed(counts: dict[str, int]) -> str:
    """Returns counts as `3 completed, 1 failed`, the largest first."""
    largest = sorted(counts.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{count:,} {name}" for name, count in largest)


def tables(tally: Tally) -> Iterator[tuple[str, Grid]]:
    """Yields title and table for items, tools, agents and models."""
    items = table("type", "items")
    for name, count in sorted(tally.items.items(), key=lambda pair: -pair[1]):
        items.add(name or "(type not known)", number(count))
    yield "Items", items
    tools = table("tool", "calls", "failed", "mean", "longest")
    for name, tool in sorted(tally.tools.items(), key=lambda pair: -pair[1].calls):
        tools.add(name, number(tool.calls), number(tool.failed), *times(tool.seconds))
    yield "Tools", tools
    for title, found in (("Agents", tally.agents), ("Models", tally.models)):
        shown = table(
            title.lower()[:-1], "calls", "failed", "mean", "longest", "in", "out"
        )
        for name, use in sorted(found.items(), key=lambda pair: -pair[1].calls):
            tokens = number(use.usage.input_tokens), number(use.usage.output_tokens)
            shown.add(
                name,
                number(use.calls),
                number(use.failed),
                *times(use.seconds),
                *tokens,
            )
        yield title, shown


def times(series: Series) -> tuple[str, str]:
    """Returns mean and longest time; empty where none is known."""
    if not series.count:
        return "", ""
    return duration(series.mean), duration(series.most)


def table(first: str, *columns: str) -> Grid:
    """Returns an empty table: names at the left, numbers at the right."""
    name = Column(first, shrinks=True, least=16)
    return Grid([name, *(Column(column, right=True) for column in columns)])
