"""`itemtrace verify`: whether every ledger of a source is exact, and if not, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from itemtrace.cli import options, output, sources
from itemtrace.cli.guard import FINDINGS
from itemtrace.cli.safe import counted, moment
from itemtrace.errors import ConfigError, TraceNotFound
from itemtrace.ledger import Gap, GapCause, Ledger, Run


Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="CAUSE",
        help="A cause of gaps that is expected, such as withheld or redacted; may be repeated.",
    ),
]


def verify(
    source: options.Source = None,
    *,
    allow: Allow = None,
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
    """Check that every ledger is exact: exit code 0 when it is, 1 with the gaps listed when not.

    Filters choose traces, which are checked whole. A source without runs is an error (exit code 2).
    """
    allowed = causes(allow or [])
    query = options.query(
        agent=agent, tool=tool, status=status, model=model, group=group, since=since, until=until,
        limit=limit,
    )  # fmt: skip
    report = Report(allowed)
    lines: list[RenderableType] = []
    with output.progress("checking traces") as advance:
        for ledger in sources.ledgers(source, query, advance):
            lines += report.add(ledger)
    if not report.runs and not report.gaps:
        name = sources.name_of(source)
        raise TraceNotFound(sources.nothing(name, query), source=name)
    if as_json:
        output.write_json(report.as_json())
    else:
        output.show((*lines, report.last_line()))
    if report.findings:
        raise typer.Exit(FINDINGS)


def causes(names: list[str]) -> frozenset[GapCause]:
    """Returns the causes of these names.

    Raises:
        ConfigError: A name is none of a cause.
    """
    known = {str(cause): cause for cause in GapCause}
    plain = [name.strip().lower().replace("-", " ").replace("_", " ") for name in names]
    unknown = [name for name in plain if name not in known]
    if unknown:
        msg = f"{unknown[0]!r} is no cause of a gap; expected one of {', '.join(known)}"
        raise ConfigError(msg)
    return frozenset(known[name] for name in plain)


@dataclass
class Report:
    """What was found so far.

    Attributes:
        allowed: Causes that are no findings.
        traces: How many traces were checked.
        runs: How many runs.
        exact: How many of them have no gap of their own.
        gaps: Every gap.
    """

    allowed: frozenset[GapCause]
    traces: int = 0
    runs: int = 0
    exact: int = 0
    gaps: list[Gap] = field(default_factory=list[Gap])

    @property
    def findings(self) -> int:
        """How many gaps are not allowed."""
        return sum(gap.cause not in self.allowed for gap in self.gaps)

    def add(self, ledger: Ledger) -> Iterator[RenderableType]:
        """Takes in a ledger and yields the lines about it."""
        from itemtrace.cli.views.frame import label  # noqa: PLC0415

        self.traces += bool(ledger.trace_ids)
        trace = ledger.trace_ids[0] if ledger.trace_ids else ""
        for run in ledger.all_runs():
            self.runs += 1
            self.exact += not run.own_gaps
            self.gaps += run.own_gaps
            if run.own_gaps:
                yield self.heading(run, trace)
                yield from self.by_cause(run.own_gaps)
        self.gaps += ledger.own_gaps
        if ledger.own_gaps:
            yield label(
                ("✗ ", "bold red"),
                (f"trace {trace}" if trace else "the source", "bold"),
            )
            yield from self.by_cause(ledger.own_gaps)

    def heading(self, run: Run, trace: str) -> RenderableType:
        """Returns the line above the gaps of a run."""
        from itemtrace.cli.views.frame import label  # noqa: PLC0415

        fine = all(gap.cause in self.allowed for gap in run.own_gaps)
        return label(
            ("• " if fine else "✗ ", "bold yellow" if fine else "bold red"),
            (f"run {run.run_id}", "bold"),
            (
                f"  {run.agent or '?'} · {run.status} · {moment(run.started_ns)} · trace {trace}",
                "dim",
            ),
        )

    def by_cause(self, gaps: tuple[Gap, ...]) -> Iterator[RenderableType]:
        """Yields the gaps, those of one cause together."""
        from itemtrace.cli.views.frame import label  # noqa: PLC0415

        for cause in GapCause:
            for place, gap in enumerate(g for g in gaps if g.cause is cause):
                style = "yellow" if cause in self.allowed else "red"
                name = str(cause) if not place else ""
                yield label((f"    {name:<20} ", style), gap.message)

    def last_line(self) -> RenderableType:
        """Returns the line that sums it up."""
        from itemtrace.cli.views.frame import label  # noqa: PLC0415

        whole = f"{counted(self.runs, 'run')} in {counted(self.traces, 'trace')}"
        if not self.gaps:
            return label(("✓ ", "bold green"), f"{whole}: every one is exact")
        by_cause = Counter(gap.cause for gap in self.gaps)
        causes = ", ".join(
            f"{count} {cause}" for cause, count in by_cause.most_common()
        )
        sign = ("✗ ", "bold red") if self.findings else ("✓ ", "bold yellow")
        note = "" if self.findings else ", all of them allowed"
        return label(
            sign,
            f"{whole}: {counted(self.runs - self.exact, 'run')} not exact, "
            f"{counted(len(self.gaps), 'gap')} ({causes}){note}",
        )

    def as_json(self) -> dict[str, Any]:
        """Returns the report for machines."""
        return {
            "exact": not self.gaps,
            "traces": self.traces,
            "runs": self.runs,
            "exact_runs": self.exact,
            "findings": self.findings,
            "gaps": [gap.to_json() for gap in self.gaps],
        }
