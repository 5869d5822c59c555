"""Shows tables and budgets on the terminal, and as the page `benchmarks/results.md`."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from benchmarks.peers import BASE, OTHERS, PEERS
from benchmarks.sections import SECTIONS


if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from benchmarks.sections.base import Budget, Table


COLOURS = {True: "green", False: "bold red", None: "yellow"}
BUDGET_COLUMNS = ("budget", "limit", "measured", "")

Kept = dict[str, dict[str, Any]]


def tables(kept: Kept) -> list[Table]:
    """Returns all tables of the kept measurements, in the order of the sections."""
    return [
        table
        for name, section in SECTIONS.items()
        if name in kept
        for table in section.tables(kept[name]["rows"])
    ]


def budgets(kept: Kept) -> list[Budget]:
    """Returns all budgets that the kept measurements can judge."""
    return [
        line
        for name, section in SECTIONS.items()
        if name in kept
        for line in section.budgets(kept[name]["rows"])
    ]


def show(kept: Kept, console: Console) -> None:
    """Prints everything to a terminal."""
    for table in tables(kept):
        console.print(_grid(table.title, table.columns, table.rows))
        for note in table.notes:
            console.print(Text(note, style="dim"))
        console.print()
    grid = _grid("Budgets", BUDGET_COLUMNS, [])
    for line in budgets(kept):
        grid.add_row(
            line.what,
            line.limit,
            line.measured,
            Text(line.verdict, style=COLOURS[line.met]),
        )
    console.print(grid)


def _grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    grid = Grid(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        grid.add_column(
            column,
            justify="right" if number and rows else "left",
            no_wrap=not number and bool(rows),
        )
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    return grid


def page(kept: Kept) -> str:
    """Returns the page for the repository."""
    return "\n".join(_lines(kept)) + "\n"


def _lines(kept: Kept) -> Iterator[str]:
    yield "# What recording costs"
    yield ""
    yield "Written by `python -m benchmarks`; see `benchmarks/README.md` for how it is measured and what it leaves out."
    yield ""
    yield f"- machine: {os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    yield f"- common ground: {', '.join(BASE)}"
    for name, peer in PEERS.items():
        what = ", ".join(peer.requirements) if name in OTHERS else peer.label
        yield f"- `{name}`: {what}"
    for name, section in kept.items():
        yield f"- {name}: measured on {section['date']}{' in quick mode' if section['quick'] else ''}"
    yield from _grid_lines(
        "Budgets",
        BUDGET_COLUMNS,
        [(b.what, b.limit, b.measured, b.verdict) for b in budgets(kept)],
    )
    for table in tables(kept):
        yield from _grid_lines(table.title, table.columns, table.rows)
        for note in table.notes:
            yield ""
            yield note


def _grid_lines(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' + '---:|' * (len(columns) - 1)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"
