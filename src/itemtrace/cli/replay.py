"""`itemtrace replay`: a recorded trace run again, by the agents of a program."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import RenderableType
from rich.text import Text

from itemtrace.cli import options, output, sources
from itemtrace.cli.guard import FINDINGS
from itemtrace.cli.safe import one_line, safe
from itemtrace.cli.views.grid import Column, Grid
from itemtrace.errors import ConfigError, ReplayError
from itemtrace.replay import Tape
from itemtrace.replay import replay as play
from itemtrace.replay.report import STATUSES
from itemtrace.stores import Query


STYLES: Final = {
    "exact": "green",
    "diverged": "bold red",
    "live": "yellow",
    "unused": "red",
}


def replay(
    target: Annotated[
        list[str],
        typer.Argument(
            metavar="[SOURCE] [TRACE] APP",
            show_default=False,
            help="Where the trace is, which one, and the program's agent as module:name.",
        ),
    ],
    *,
    fork_at: Annotated[
        str | None,
        typer.Option(
            "--fork-at",
            metavar="PLACE",
            help="Go on for real from this model call on: its number, or a place such as R0/call_7#1.",
        ),
    ] = None,
    set_model: Annotated[
        str | None,
        typer.Option("--set-model", metavar="NAME", help="The model for real calls."),
    ] = None,
    live_tools: Annotated[
        list[str] | None,
        typer.Option(
            "--live-tools",
            metavar="NAME",
            help="A tool that is really called; `all` for all. Can be given again.",
        ),
    ] = None,
    live_models: Annotated[
        list[str] | None,
        typer.Option(
            "--live-models",
            metavar="AGENT",
            help="An agent whose model is really called; `all` for all. Can be given again.",
        ),
    ] = None,
    verify: Annotated[
        str,
        typer.Option(help="Where something differs: raise, log (go on), or off."),
    ] = "raise",
    store: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Record the replay there."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Run a recorded trace again with your agents: models and tools answer from the recording, offline.

    Shows what was served as recorded, what differed and what was left. Resumed runs are decided as they
    were. Exit code 1 if the code does something else than was recorded.
    """
    if set_model is not None and fork_at is None and not live_models:
        msg = "--set-model needs real calls: give --fork-at or --live-models as well"
        raise ConfigError(msg)
    source, trace, app = split(target)
    found = sources.find(source, trace, Query())
    agent = load_app(app)
    until = int(fork_at) if fork_at is not None and fork_at.isdecimal() else fork_at
    tape = play(
        found.runs if found.runs != found.ledger.runs else found.ledger,
        verify=verify,  # type: ignore[arg-type] # refused by `replay` with its own words
        live_tools=chosen(live_tools),
        live_models=chosen(live_models),
        until=until,
    )
    error, outputs = run(tape, agent, set_model, store)
    clean = error is None and not tape.report.diverged and not tape.report.unused
    if fork_at is not None or live_models:
        clean = error is None  # what was recorded after the fork is not asked for
    if as_json:
        output.write_json(as_mapping(tape, error, outputs))
    else:
        output.show(parts(tape, error, outputs))
    if not clean:
        raise typer.Exit(FINDINGS)


def split(target: list[str]) -> tuple[str | None, str | None, str]:
    """Returns source, trace and program.

    Raises:
        ConfigError: The last argument is no `module:name`.
    """
    *where, app = target
    module, _, name = app.partition(":")
    if len(where) > 2 or not name.isidentifier() or not module:
        msg = (
            f"{app!r} names no agent; expected at the end the program's agent as module:name, "
            "such as shop.agents:front_desk"
        )
        raise ConfigError(msg)
    source = where[0] if where else None
    trace = where[1] if len(where) > 1 else None
    return (*sources.split_arguments(source, trace), app)


def chosen(names: list[str] | None) -> list[str] | bool:
    """Returns names, or whether all are meant."""
    return "all" in names or names if names else False


def load_app(app: str) -> Any:
    """Returns the agent that `module:name` names; a function without arguments is called for it.

    Raises:
        ConfigError: There is none.
    """
    module_name, _, name = app.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
        found = getattr(module, name)
    except (ImportError, AttributeError) as error:
        msg = f"{app} cannot be imported: {error}; give it as module:name, from {here}"
        raise ConfigError(msg) from error
    if callable(found) and not hasattr(found, "handoffs"):
        found = found()
    if not hasattr(found, "handoffs"):
        msg = f"{app} is a {type(found).__name__}; expected an agent, or a function that makes one"
        raise ConfigError(msg)
    return found


Outputs = list[tuple[str, Any]]
"""Path of each run, and its final output."""


def run(
    tape: Tape, agent: Any, model: str | None, store: str | None
) -> tuple[ReplayError | None, Outputs]:
    """Plays the root runs in their order; returns what stopped it, and what each gave."""
    from itemtrace.install import install, uninstall  # noqa: PLC0415 - loads the SDK

    outputs: Outputs = []
    if store is not None:
        install(store=store, keep_openai_exporter=False)
    try:
        results = asyncio.run(tape.again(agent, model=model, tracing=store is not None))
    except ReplayError as error:
        return error, outputs
    finally:
        if store is not None:
            uninstall()
    for root, result in zip(tape.roots, results, strict=False):
        outputs.append((root.path, getattr(result, "final_output", result)))
    return None, outputs


# --- what is shown -----------------------------------------------------------------


def as_mapping(
    tape: Tape, error: ReplayError | None, outputs: Outputs
) -> dict[str, Any]:
    """Returns the outcome for machines."""
    report = tape.report
    entries = [*report.entries, *report.unused]
    return {
        "clean": report.clean and error is None,
        "counts": report.counts(),
        "entries": [
            {
                "kind": e.kind,
                "place": e.place,
                "name": e.name,
                "status": e.status,
                "note": e.note,
            }
            for e in entries
        ],
        "divergences": [
            {
                "place": d.place,
                "what": d.what,
                "expected": d.expected,
                "got": d.got,
                "cause": d.cause,
            }
            for d in report.divergences
        ],
        "drift": report.drift,
        "network": report.network,
        "outputs": [{"run": path, "final_output": value} for path, value in outputs],
        "error": None if error is None else str(error),
    }


def parts(
    tape: Tape, error: ReplayError | None, outputs: Outputs
) -> Iterator[RenderableType]:
    """Yields the outcome for people."""
    report = tape.report
    for entry in (*report.entries, *report.unused):
        note = f"  {one_line(entry.note, 80)}" if entry.note else ""
        yield Text.assemble(
            (f"{entry.status:<9}", STYLES[entry.status]),
            (f"{entry.kind:<11}", "dim"),
            safe(f"{entry.place}  {entry.name}"),
            (note, "dim"),
        )
    yield Text()
    grid = Grid([Column(""), *(Column(status, right=True) for status in STATUSES)])
    for kind, counted in report.counts().items():
        grid.add(f"{kind}s", *(str(counted.get(status, 0)) for status in STATUSES))
    yield grid
    for path, value in outputs:
        yield Text.assemble((f"\n{path} ", "bold"), one_line(value, 500))
    for line in report.drift:
        yield Text(f"\ndrift: {safe(line)}", style="yellow")
    stopped = [error] if error is not None and error not in report.divergences else []
    for found in (*report.divergences, *stopped):
        yield Text(f"\n{safe(found)}", style="red")
    if report.network:
        yield Text(f"\n{len(report.network)} network calls blocked", style="red")
    elif tape.options.network:
        yield Text("\nReal calls were allowed.", style="yellow")
    else:
        yield Text("\n0 network calls.", style="green" if error is None else "")
