"""`itemtrace diff`: two traces or runs side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from itemtrace.cli import options, output, sources
from itemtrace.cli.guard import FINDINGS
from itemtrace.cli.safe import counted, safe
from itemtrace.codec import canonical
from itemtrace.ledger import Ledger, Run
from itemtrace.ledger.diff import Diff, Difference
from itemtrace.ledger.diff import diff as compare
from itemtrace.ledger.parts import is_mapping, is_sequence
from itemtrace.stores import Query


CUT: Final = 600
"""Characters of a value that are shown without `--full`."""


def diff(
    left: Annotated[
        str, typer.Argument(metavar="A", help="A trace, a run, or a source with one.")
    ],
    right: Annotated[str, typer.Argument(metavar="B", help="What to compare it with.")],
    *,
    source: Annotated[
        str | None,
        typer.Option(
            help="Where A and B are, if they are ids; the local store by default."
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Nothing is cut.")] = False,
    timing: Annotated[
        bool, typer.Option("--timing", help="Show differences of tokens and time too.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show where two runs part, and everything that differs after it, side by side.

    A and B are trace or run ids, or sources, of which the newest trace counts. Ids that differ between any
    two runs are left aside. Exit code 1 if the content differs.
    """
    found = compare(_side(left, source), _side(right, source))
    shown = [each for each in found if timing or each.of_content]
    if as_json:
        for each in shown:
            output.write_json(each.to_json())
    else:
        output.show(_parts(found, shown, full=full))
    if not found.equal:
        raise typer.Exit(FINDINGS)


def _side(named: str, source: str | None) -> Ledger | Run:
    """Returns what an argument names: a run where it is a run's id, else the ledger of a trace."""
    if source is None and (Path(named).exists() or not sources.ID.fullmatch(named)):
        return sources.find(named, None, Query()).ledger
    found = sources.find(source, named, Query())
    if len(found.runs) == 1 and found.runs != found.ledger.runs:
        return found.runs[0]
    return found.ledger


def _parts(
    found: Diff, shown: list[Difference], *, full: bool
) -> Iterator[RenderableType]:
    if found.first is None:
        yield Text("The same but for ids, tokens and times.", style="bold green")
    else:
        yield Text.assemble(
            ("They part at ", ""),
            (safe(found.first.place), "bold"),
            (f": {found.first.what}", ""),
        )
    for each in shown:
        yield Text()
        yield Text.assemble((safe(each.place), "bold"), (f"  {each.what}", "dim"))
        table = Table(box=None, show_header=False, expand=True, padding=(0, 1))
        table.add_column(ratio=1, overflow="fold")
        table.add_column(ratio=1, overflow="fold")
        left, right = apart(each.left, each.right)
        table.add_row(
            Text(_text(left, full=full), style="red"),
            Text(_text(right, full=full), style="green"),
        )
        yield table
    if shown:
        yield Text(f"\n{counted(len(shown), 'difference')}", style="dim")


def apart(left: Any, right: Any) -> tuple[Any, Any]:
    """Returns what two lists do not begin and end with in common; other values as they are."""
    if not (is_sequence(left) and is_sequence(right)):
        return left, right
    first = 0
    while first < min(len(left), len(right)) and left[first] == right[first]:
        first += 1
    last = 0
    while (
        last < min(len(left), len(right)) - first
        and left[-1 - last] == right[-1 - last]
    ):
        last += 1
    return left[first : len(left) - last], right[first : len(right) - last]


def _text(value: Any, *, full: bool) -> str:
    if value is None:
        return "(nothing)"
    if isinstance(value, str):
        text = value
    elif is_sequence(value):
        text = "\n".join(canonical.dumps(child) for child in value)
    elif is_mapping(value):
        text = "\n".join(
            f"{key}: {canonical.dumps(child)}" for key, child in value.items()
        )
    else:
        text = canonical.dumps(value)
    if not full and len(text) > CUT:
        text = f"{text[:CUT]}… ({len(text) - CUT} more characters; --full shows them)"
    return safe(text)
