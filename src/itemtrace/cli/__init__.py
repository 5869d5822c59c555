"""The command line: `itemtrace`, or `python -m itemtrace`. One module for each command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import metadata
from typing import Annotated

import typer

from itemtrace.cli.convert import convert
from itemtrace.cli.demo import demo
from itemtrace.cli.diff import diff
from itemtrace.cli.guard import Guarded
from itemtrace.cli.rebuild import rebuild
from itemtrace.cli.replay import replay
from itemtrace.cli.runs import runs
from itemtrace.cli.show import show
from itemtrace.cli.stats import stats
from itemtrace.cli.verify import verify


__all__ = ["app", "main"]

app = typer.Typer(
    name="itemtrace",
    cls=Guarded,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def help_of(function: Callable[..., None]) -> str:
    """Returns a docstring with each paragraph on one line, for the terminal to wrap."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for command in (demo, runs, show, rebuild, verify, stats, convert, replay, diff):
    app.command(help=help_of(command))(command)


def print_version(asked: bool) -> None:
    """Prints the version and ends."""
    if asked:
        typer.echo(f"itemtrace {metadata.version('itemtrace')}")
        raise typer.Exit


def root(
    *,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", envvar="ITEMTRACE_DEBUG", help="Show the traceback of an error."
        ),
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=print_version,
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    """The flight recorder of OpenAI Agents SDK runs: list, read, check and convert what was recorded.

    SOURCE is a path or a URL; without one, commands read the local store (ITEMTRACE_STORE, or a file in
    your data directory).

    Exit codes: 0 fine; 1 findings, such as gaps or differences; 2 a bad source or bad arguments;
    3 an optional package is missing; 70 an error inside itemtrace; 130 interrupted; 141 the reader of
    the output went away.
    """


app.callback(help=help_of(root))(root)


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    app()
