"""Arguments and options that several commands share, and the query they make."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from itemtrace.errors import ConfigError
from itemtrace.stores.base import Query


Source = Annotated[
    str | None,
    typer.Argument(
        metavar="SOURCE",
        show_default=False,
        help="A store, a file, a directory, a pattern or a URL; the local store by default.",
    ),
]
Trace = Annotated[
    str | None,
    typer.Argument(
        metavar="TRACE",
        show_default=False,
        help="A trace id, the SDK's trace id, a run id, or the beginning of one; the newest by default.",
    ),
]

FILTERS: Final = "Filters"
Agent = Annotated[
    str | None,
    typer.Option(help="An agent that took part.", rich_help_panel=FILTERS),
]
Tool = Annotated[
    str | None,
    typer.Option(help="A tool that was called.", rich_help_panel=FILTERS),
]
Status = Annotated[
    str | None,
    typer.Option(
        help="completed, interrupted, failed, cancelled or unsealed.",
        rich_help_panel=FILTERS,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(help="A model that was asked or answered.", rich_help_panel=FILTERS),
]
Group = Annotated[
    str | None,
    typer.Option(help="The SDK's group id.", rich_help_panel=FILTERS),
]
Since = Annotated[
    str | None,
    typer.Option(
        help="Started at this time or later: 90s, 30m, 2h, 3d, 1w ago, or an ISO date or time.",
        rich_help_panel=FILTERS,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(help="Started before this time.", rich_help_panel=FILTERS),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, help="At most so many, the newest.", rich_help_panel=FILTERS),
]
Json = Annotated[
    bool, typer.Option("--json", help="JSON on stdout, and nothing else there.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite the output if it is there.")
]
Out = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="OUT", help="The file to write; `-` for stdout."
    ),
]

UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
STATUSES: Final = ("completed", "interrupted", "failed", "cancelled", "unsealed")


def query(
    *,
    agent: str | None = None,
    tool: str | None = None,
    status: str | None = None,
    model: str | None = None,
    group: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int | None = None,
) -> Query:
    """Returns the query that options make.

    Raises:
        ConfigError: A value is none of the known ones.
    """
    if status is not None and status not in STATUSES:
        msg = f"status {status!r} is not known; expected one of {', '.join(STATUSES)}"
        raise ConfigError(msg)
    now = datetime.now(UTC)
    return Query(
        agent=agent,
        tool=tool,
        status=status,
        model=model,
        group=group,
        since_ns=None if since is None else time_ns(since, now),
        until_ns=None if until is None else time_ns(until, now),
        limit=limit,
    )


def time_ns(text: str, now: datetime) -> int:
    """Returns nanoseconds since the epoch of `2h` (ago) or an ISO time; without a zone it is local.

    Raises:
        ConfigError: It is neither.
    """
    ago = re.fullmatch(r"(\d{1,9})\s*([smhdw])", text.strip())
    try:
        if ago:
            at = now - timedelta(seconds=int(ago[1]) * UNITS[ago[2]])
        else:
            at = datetime.fromisoformat(text.strip())
        return int(at.timestamp() * 1_000_000) * 1_000
    except (ValueError, OverflowError, OSError) as error:
        msg = f"{text!r} is no time; expected 90s, 30m, 2h, 3d, 1w or an ISO date such as 2026-11-30"
        raise ConfigError(msg) from error
