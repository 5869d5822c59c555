"""The views of `itemtrace show`: each gives parts for people and JSON for machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from itemtrace.cli.sources import Found
from itemtrace.cli.views import as_json, item_list, model_view, tree
from itemtrace.cli.views.frame import label
from itemtrace.cli.views.header import header, usage_table
from itemtrace.cli.views.pretty import FOLDED, FULL
from itemtrace.cli.views.scene import Scene, Wanted, gap_line
from itemtrace.cli.views.transcript import transcript
from itemtrace.errors import ConfigError
from itemtrace.ledger.parts import mapping


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow


__all__ = ["View", "Wanted", "call_view", "item_view", "transcript_view", "tree_view"]


@dataclass(frozen=True)
class View:
    """One way to look at a trace.

    Attributes:
        parts: Yields what a person reads.
        json: Yields the same for machines, a value a line.
    """

    parts: Callable[[], Iterator[RenderableType]]
    json: Callable[[], Iterator[Any]]


def transcript_view(
    found: Found, wanted: Wanted, *, full: bool = False, markdown: bool = True
) -> View:
    """Returns the whole conversation."""
    scene = Scene(
        fold=FULL if full else FOLDED,
        wanted=wanted,
        markdown=markdown,
        instructions=full,
    )

    def parts() -> Iterator[RenderableType]:
        yield from header(found)
        yield from transcript(found.runs, scene)
        table = usage_table(found.runs)
        if table is not None:
            yield Text()
            yield table
        yield from losses(found)

    return View(parts, lambda: iter([as_json.trace(found, wanted)]))


def losses(found: Found) -> Iterator[RenderableType]:
    """What is missing and belongs to no run that is shown."""
    shown = {inner.run_id for run in found.runs for inner in run.all_runs()}
    gaps = found.ledger.gaps
    yield from map(gap_line, found.ledger.own_gaps)
    elsewhere = [gap for gap in gaps if gap.run_id and gap.run_id not in shown]
    if elsewhere:
        yield label((f"✗ {len(elsewhere)} more gaps in other runs of the trace", "red"))


def item_view(found: Found, wanted: Wanted) -> View:
    """Returns a line for each item."""
    return View(
        lambda: iter([item_list.table(found.runs, wanted)]),
        lambda: item_list.lines(found.runs, wanted),
    )


def tree_view(rows: Sequence[SpanRow]) -> View:
    """Returns the spans as a tree."""
    return View(lambda: tree.parts(rows), lambda: tree.lines(rows))


def call_view(found: Found, n: int, *, full: bool = False) -> View:
    """Returns what a model saw.

    Raises:
        ConfigError: The run has no such call.
    """
    run = found.runs[0] if found.runs else None
    call = next((c for c in run.model_calls if c.n == n), None) if run else None
    if run is None or call is None:
        known = ", ".join(str(c.n) for c in run.model_calls) if run else ""
        whose = f"run {run.run_id}" if run else "the trace"
        msg = f"{whose} has no model call {n}; it has {known or 'none'}"
        raise ConfigError(msg)
    if call.recalled:
        earlier = mapping(run.begin.get("resumed")).get("run", "of another trace")
        msg = f"model call {n} is of the part that run {run.run_id} goes on with; see run {earlier}"
        raise ConfigError(msg)
    seen = model_view.seen(run, call)
    others = [of.run_id for of in found.ledger.all_runs() if of is not run]
    return View(
        lambda: model_view.parts(seen, others, FULL if full else FOLDED),
        lambda: iter([model_view.as_json(seen)]),
    )
