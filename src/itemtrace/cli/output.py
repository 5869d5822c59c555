"""Where output goes: a console for people, JSON for machines, progress on stderr.

Consoles interpret no markup and no emoji codes: what is printed may come from a trace.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

from rich.console import Console, RenderableType

from itemtrace.codec import canonical


PIPE_WIDTH = 120
"""Columns where no terminal says how many it has; `COLUMNS` wins."""

Advance = Callable[[int], None]
"""Takes how much is done so far."""


class PlainConsole(Console):
    """A console that leaves a broken pipe to the command line's guard."""

    def on_broken_pipe(self) -> NoReturn:
        """Raises: rich would end the process with the exit code for findings."""
        raise BrokenPipeError


def console(file: TextIO | None = None) -> Console:
    """Returns a console on stdout, or on another file."""
    where = sys.stdout if file is None else file
    width = None if where.isatty() or os.environ.get("COLUMNS") else PIPE_WIDTH
    return PlainConsole(
        file=where, markup=False, emoji=False, highlight=False, width=width
    )


def show(parts: Iterable[RenderableType]) -> None:
    """Prints renderables on stdout; long lines of long texts are not cropped."""
    out = console()
    for part in parts:
        out.print(part, crop=False)


def note(text: str) -> None:
    """Prints a line for people on stderr, apart from what the command gives."""
    console(sys.stderr).print(text, style="dim", soft_wrap=True)


def write_json(value: Any) -> None:
    """Writes a value to stdout as one line of JSON."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(canonical.dumps(value, ascii=not utf8) + "\n")


@contextmanager
def progress(what: str, total: int | None = None) -> Generator[Advance]:
    """Shows a bar on stderr while the block runs, if stderr is a terminal.

    Args:
        what: What is done.
        total: How much there is to do, where that is known.
    """
    if not sys.stderr.isatty():
        yield _no_bar
        return
    from rich import progress as bars  # noqa: PLC0415 - only for people who watch

    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def _no_bar(_: int) -> None:
    """Nobody is watching."""
