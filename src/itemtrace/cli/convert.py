"""`itemtrace convert`: a trace or a run in another format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from itemtrace.cli import options, output, sources
from itemtrace.cli.files import text_output
from itemtrace.cli.safe import counted
from itemtrace.cli.sources import Found
from itemtrace.codec import canonical
from itemtrace.errors import ConfigError
from itemtrace.ledger import convert as conversions
from itemtrace.ledger import io


BATCH: Final = 512
"""Most spans on one line of OTLP JSON."""


def known() -> list[str]:
    """Returns the formats, as they are written on the command line."""
    return sorted(
        {*(name.replace("_", "-") for name in conversions.formats()), *OF_TRACES}
    )


To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help="input-list, otlp-json or ledger.",
        autocompletion=known,
    ),
]


def convert(
    source: options.Source = None,
    trace: options.Trace = None,
    *,
    to: To,
    out: options.Out = Path("-"),
    force: options.Force = False,
    agent: options.Agent = None,
    status: options.Status = None,
    group: options.Group = None,
    since: options.Since = None,
) -> None:
    """Write a trace, or one run of it, in another format; what had to be left out is said on stderr.

    input-list: the run's input and items as one list that the SDK takes as the input of a next run;
    a trace with several root runs gives a line for each. otlp-json: the spans as OTLP JSON lines.
    ledger: one line of JSON with all records, as `itemtrace rebuild` writes it.
    """
    if to not in known():
        msg = f"no conversion to {to!r}; expected one of {', '.join(known())}"
        raise ConfigError(msg)
    source, trace = sources.split_arguments(source, trace)
    query = options.query(agent=agent, status=status, group=group, since=since)
    found = sources.find(source, trace, query)
    lines, left_out = OF_TRACES.get(to, of_runs)(Asked(source, found, to))
    with text_output(out, force=force) as file:
        file.writelines(f"{line}\n" for line in lines)
    for text in left_out:
        output.note(f"left out: {text}")
    if str(out) != "-":
        output.note(f"{counted(len(lines), 'line')} written to {out}")


class Asked:
    """What is to be converted, and to what."""

    def __init__(self, source: str | None, found: Found, to: str) -> None:
        self.source, self.found, self.to = source, found, to


Lines = tuple[list[str], list[str]]
"""The lines of the output, and what was left out."""


def of_runs(asked: Asked) -> Lines:
    """A line for each run, by the conversions of runs."""
    lines: list[str] = []
    left_out: list[str] = []
    for run in asked.found.runs:
        converted = conversions.convert(run, asked.to.replace("-", "_"))
        lines.append(canonical.dumps(converted.value))
        left_out += converted.left_out
    return lines, left_out


def otlp_json(asked: Asked) -> Lines:
    """The spans of the trace."""
    from itemtrace.stores.otlp import write_json  # noqa: PLC0415 - only for this format

    rows = sources.rows(asked.source, asked.found.trace_id)
    batches = [rows[at : at + BATCH] for at in range(0, len(rows), BATCH)]
    return [write_json(batch) for batch in batches], []


def ledger(asked: Asked) -> Lines:
    """The ledger of the trace, whole."""
    return [io.dumps(asked.found.ledger)], []


OF_TRACES: Final[Mapping[str, Callable[[Asked], Lines]]] = {
    "ledger": ledger,
    "otlp-json": otlp_json,
}
"""Formats of whole traces; all others are conversions of runs."""
