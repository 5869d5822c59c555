"""`itemtrace rebuild`: the ledgers of a source as JSON lines."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from itemtrace.cli import options, output, sources
from itemtrace.cli.files import text_output
from itemtrace.cli.safe import counted
from itemtrace.errors import ConfigError
from itemtrace.ledger import io
from itemtrace.stores import Query, open_store


OTHER_FORMATS: Final = (".parquet", ".db", ".pb", ".binpb", ".gz", ".zst")


def rebuild(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            show_default=False,
            help="As everywhere; the local store by default.",
        ),
    ] = None,
    *,
    out: options.Out,
    force: options.Force = False,
    agent: options.Agent = None,
    tool: options.Tool = None,
    status: options.Status = None,
    model: options.Model = None,
    group: options.Group = None,
    since: options.Since = None,
    until: options.Until = None,
    limit: options.Limit = None,
    as_json: options.Json = False,
) -> None:
    """Write the ledgers of a source to a file, a line of JSON for each trace.

    Every line holds all verified records of its trace and its gaps; other commands read the file like
    any source. Exit code 0 also where there are gaps: `itemtrace verify` judges.
    """
    if out.suffix.lower() in OTHER_FORMATS:
        msg = f"{out} does not sound like JSON lines, which is what is written; name it .jsonl"
        raise ConfigError(msg)
    query = options.query(
        agent=agent, tool=tool, status=status, model=model, group=group, since=since, until=until,
        limit=limit,
    )  # fmt: skip
    traces = runs = gaps = 0
    with (
        text_output(out, force=force) as file,
        output.progress("rebuilding traces", total(source, query)) as advance,
    ):
        for ledger in sources.ledgers(source, query, advance):
            file.write(io.dumps(ledger) + "\n")
            traces += 1
            runs += sum(1 for _ in ledger.all_runs())
            gaps += len(ledger.gaps)
    if as_json and str(out) != "-":
        output.write_json(
            {"output": str(out), "ledgers": traces, "runs": runs, "gaps": gaps}
        )
        return
    output.note(
        f"{counted(traces, 'ledger')} with {counted(runs, 'run')} and {counted(gaps, 'gap')} "
        f"written to {'stdout' if str(out) == '-' else out}"
    )


def total(source: str | None, query: Query) -> int | None:
    """Returns how many traces there are to read, where the source knows it from an index."""
    if sources.is_ledger_file(source):
        return None
    with open_store(source) as store:
        if not store.capabilities.index:
            return None
        return len({run.trace_id for run in store.runs(query)})
