"""`itemtrace show --items`: a line for each item of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.text import Text

from itemtrace.cli.safe import between, one_line, size
from itemtrace.cli.views.as_json import item_json
from itemtrace.cli.views.content import bytes_in, text_of
from itemtrace.cli.views.frame import Palette
from itemtrace.cli.views.grid import Column, Grid
from itemtrace.cli.views.pretty import shown
from itemtrace.cli.views.scene import RunScene, Scene, Wanted
from itemtrace.ledger import Item, Run


def items(runs: Iterable[Run], wanted: Wanted) -> Iterator[tuple[Run, Item]]:
    """Yields the items that are wanted, of nested runs too."""
    for run in runs:
        for inner in run.all_runs():
            scene = RunScene(Scene(wanted=wanted), inner)
            yield from ((inner, item) for item in inner.items if scene.wants(item))


def lines(runs: Iterable[Run], wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Yields each item as JSON."""
    return (item_json(item) for _, item in items(runs, wanted))


def table(runs: Iterable[Run], wanted: Wanted) -> Grid:
    """Returns the table of items."""
    found = Grid(
        [
            Column("run"),
            Column("seq", right=True),
            Column("at", right=True),
            Column("agent", shrinks=True, least=12),
            Column("type"),
            Column("size", right=True),
            Column("content", shrinks=True, least=20),
        ]
    )
    palette = Palette()
    for run, item in items(runs, wanted):
        found.add(
            item.run_id[:8],
            str(item.seq),
            f"+{between(run.started_ns, item.at_ns)}" if item.at_ns else "",
            Text(one_line(item.agent or "-"), style=palette.of(item.agent)),
            item.type.removesuffix("_item") or item.raw_type or "-",
            size(bytes_in(item.raw)),
            one_line(preview(item), 200),
        )
    return found


def preview(item: Item) -> str:
    """Returns what an item says, as the beginning of a text."""
    name = item.tool_name
    if item.lost:
        return "missing"
    if item.arguments is not None:
        return f"{name or ''} {shown(item.arguments)}"
    if item.output is not None:
        return f"{item.call_id or ''} {text_of(item.output)}"
    return item.text or shown(item.raw)
