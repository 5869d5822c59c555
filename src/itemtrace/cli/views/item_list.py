"""`itemtrace show --items`: a line for each item of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from itemtrace.cli.safe import between, one_line, size
from itemtrace.cli.views.as_json import item_json
from itemtrace.cli.views.content import bytes_in, text_of
from itemtrace.cli.views.frame import Palette
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


def table(runs: Iterable[Run], wanted: Wanted) -> Table:
    """Returns the table of items."""
    found = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", expand=False)
    for name in ("run", "seq", "at"):
        found.add_column(
            name, no_wrap=True, justify="left" if name == "run" else "right"
        )
    found.add_column("agent", no_wrap=True, max_width=16)
    found.add_column("type", no_wrap=True)
    found.add_column("size", no_wrap=True, justify="right")
    found.add_column("content", no_wrap=True, overflow="ellipsis", ratio=1)
    palette = Palette()
    for run, item in items(runs, wanted):
        found.add_row(
            item.run_id[:6],
            str(item.seq),
            f"+{between(run.started_ns, item.at_ns)}" if item.at_ns else "",
            Text(one_line(item.agent or "-"), style=palette.of(item.agent)),
            Text(one_line(item.type.removesuffix("_item") or item.raw_type or "-")),
            size(bytes_in(item.raw)),
            Text(one_line(preview(item), 200)),
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
