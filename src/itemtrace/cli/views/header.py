"""The head of a transcript, and the table of tokens at its foot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType

from itemtrace.cli.safe import counted, moment, number, one_line
from itemtrace.cli.sources import Found
from itemtrace.cli.views.frame import label
from itemtrace.cli.views.grid import Column, Grid
from itemtrace.cli.views.pretty import compact
from itemtrace.ledger import Ledger, Run, Usage


def header(found: Found) -> Iterator[RenderableType]:
    """Yields what is known of the trace as a whole."""
    run = found.runs[0] if found.runs else None
    every = [inner for of in found.runs for inner in of.all_runs()]
    title = (run.workflow if run else None) or "Trace"
    yield label((title, "bold"), "  ", verdict(found.ledger))
    for name, value in _facts(found, run, every):
        yield label((f"{name:<9} ", "dim"), value)


def verdict(ledger: Ledger) -> tuple[str, str]:
    """Returns whether a ledger is exact, and the style to say it in."""
    if ledger.exact:
        return "exact: nothing is missing", "green"
    return counted(len(ledger.gaps), "gap"), "bold red"


def _facts(
    found: Found, run: Run | None, every: list[Run]
) -> Iterator[tuple[str, str]]:
    yield "source", found.source
    yield "trace", found.trace_id or "-"
    if run is None:
        return
    sdk = run.trace_id
    if sdk and sdk.removeprefix("trace_") != found.trace_id:
        yield "SDK trace", sdk
    if run.group:
        yield "group", run.group
    if run.metadata:
        yield "metadata", one_line(compact(dict(run.metadata)), 300)
    agents = dict.fromkeys(call.agent for of in every for call in of.model_calls)
    names = [agent for agent in agents if agent]
    if names:
        yield "agents", ", ".join(names)
    ours, theirs = run.versions
    yield (
        "recorded",
        (
            f"{moment(run.started_ns)}, openai-agents {theirs or '?'}, itemtrace {ours or '?'}"
        ),
    )
    if len(every) > 1:
        nested = sum(of.nested for of in every)
        yield (
            "runs",
            f"{len(every)}, {nested} of them nested" if nested else f"{len(every)}",
        )


def usage_table(runs: Iterable[Run]) -> Grid | None:
    """Returns the table of tokens by agent and model; None where no model answered."""
    by: dict[tuple[str, str], Usage] = {}
    calls: dict[tuple[str, str], int] = {}
    for run in runs:
        for inner in run.all_runs():
            for call in inner.model_calls:
                if call.recalled or call.response is None:
                    continue
                key = (call.agent or "-", call.model or call.response.model or "-")
                by[key] = by.get(key, Usage()) + call.response.usage
                calls[key] = calls.get(key, 0) + 1
    if not by:
        return None
    whole = counts(sum(by.values(), Usage()))
    numbers = (Column(name, right=True) for name in ("calls", *whole))
    table = Grid(
        [Column("agent", shrinks=True), Column("model", shrinks=True), *numbers]
    )
    for (agent, model), usage in by.items():
        tokens = map(number, counts(usage).values())
        table.add(agent, model, number(calls[agent, model]), *tokens)
    if len(by) > 1:
        tokens = map(number, whole.values())
        table.foot("total", "", number(sum(calls.values())), *tokens)
    return table


def counts(usage: Usage) -> dict[str, int]:
    """Returns the numbers of a usage by name."""
    return {
        "input": usage.input_tokens,
        "cached": usage.cached_tokens,
        "output": usage.output_tokens,
        "reasoning": usage.reasoning_tokens,
        "total": usage.total_tokens,
    }
