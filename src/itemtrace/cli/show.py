"""`itemtrace show`: one trace, or one run, as a person reads it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from itemtrace.cli import options, output, sources
from itemtrace.cli.options import FILTERS
from itemtrace.errors import ConfigError


ItemType = Annotated[
    str | None,
    typer.Option(
        "--type",
        help="Only items of this type: message, reasoning, function_call, tool_call_item, …",
        rich_help_panel=FILTERS,
    ),
]


def show(
    source: options.Source = None,
    trace: options.Trace = None,
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Everything: nothing is folded.")
    ] = False,
    markdown: Annotated[
        bool | None,
        typer.Option(
            "--markdown/--no-markdown",
            help="Render messages as Markdown; by default on a terminal only.",
            show_default=False,
        ),
    ] = None,
    items: Annotated[
        bool, typer.Option("--items", help="One line for each item.")
    ] = False,
    tree: Annotated[
        bool, typer.Option("--tree", help="The spans as a tree, with their times.")
    ] = False,
    model_view: Annotated[
        int | None,
        typer.Option(
            "--model-view",
            metavar="N",
            min=0,
            help="What the model saw at call N, and how that differs from the ledger.",
        ),
    ] = None,
    agent: options.Agent = None,
    tool: options.Tool = None,
    item_type: ItemType = None,
    status: options.Status = None,
    model: options.Model = None,
    group: options.Group = None,
    since: options.Since = None,
    until: options.Until = None,
    as_json: options.Json = False,
) -> None:
    """Print one trace as a transcript: messages, tool calls, handoffs, approvals, gaps, tokens.

    A single argument that is no source but looks like an id is a trace of the local store. Agent,
    tool and type choose the items; with the other filters they choose the trace when none is named.
    """
    from itemtrace.cli.views import shown  # noqa: PLC0415 - rich's parts load when needed

    if sum((items, tree, model_view is not None)) > 1:
        msg = "--items, --tree and --model-view exclude each other; give one of them"
        raise ConfigError(msg)
    source, trace = sources.split_arguments(source, trace)
    query = options.query(
        agent=agent, tool=tool, status=status, model=model, group=group, since=since, until=until,
    )  # fmt: skip
    found = sources.find(source, trace, query)
    wanted = shown.Wanted(agent, tool, item_type)
    if tree:
        rows = sources.rows(source, found.trace_id)
        view = shown.tree_view(rows)
    elif model_view is not None:
        view = shown.call_view(found, model_view, full=full)
    elif items:
        view = shown.item_view(found, wanted)
    else:
        rendered = sys.stdout.isatty() if markdown is None else markdown
        view = shown.transcript_view(found, wanted, full=full, markdown=rendered)
    if as_json:
        for line in view.json():
            output.write_json(line)
        return
    output.show(view.parts())
