"""What a user sees of an error: one line on stderr and an exit code, never a traceback.

| code | meaning |
|---|---|
| 0 | fine |
| 1 | findings: gaps, differences |
| 2 | a bad source, or bad arguments |
| 3 | an optional package is missing |
| 70 | an error inside itemtrace |
| 130 | interrupted from the keyboard |
| 141 | the reader of the output went away |
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any, Final

import typer
from typer.core import TyperGroup

from itemtrace.cli.safe import one_line
from itemtrace.errors import (
    CodecError,
    ConfigError,
    GapError,
    ItemTraceError,
    MissingExtra,
    ReplayError,
    SourceError,
)


FINDINGS: Final = 1
BAD_SOURCE: Final = 2
MISSING: Final = 3
INTERNAL: Final = 70
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

CODES: Final[tuple[tuple[type[BaseException], int], ...]] = (
    (SourceError, BAD_SOURCE),
    (ConfigError, BAD_SOURCE),
    (CodecError, BAD_SOURCE),
    (MissingExtra, MISSING),
    (GapError, FINDINGS),
    (ReplayError, FINDINGS),
    (KeyboardInterrupt, INTERRUPTED),
    (BrokenPipeError, BROKEN_PIPE),
    (OSError, BAD_SOURCE),
)
"""The first class that fits gives the exit code; anything else is an error of ours."""

SILENT: Final = (KeyboardInterrupt, BrokenPipeError)


class Guarded(TyperGroup):
    """The group of all commands: turns what they raise into a line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command."""
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:  # a captured stdout may have none
            reconfigure(errors="backslashreplace")
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort, typer.TyperException):
            raise
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - nobody is above
            code = told(error, debug=bool(ctx.params.get("debug")))
            raise typer.Exit(code) from None
        return found


def told(error: BaseException, *, debug: bool = False) -> int:
    """Tells the user of an error and returns the exit code."""
    if debug:
        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):
        # what is left in buffers must not fail again when the process ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    elif not isinstance(error, SILENT):
        sys.stderr.write(f"itemtrace: {message(error)}\n")
    return next((code for kind, code in CODES if isinstance(error, kind)), INTERNAL)


def message(error: BaseException) -> str:
    """Returns the line about an error."""
    if isinstance(error, ItemTraceError):
        return one_line(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return one_line(f"{where}{error.strerror or error}")
    text = one_line(error, 300)
    return (
        f"internal error: {type(error).__name__}: {text}; "
        "run it again with `itemtrace --debug …` and report what that prints"
    )
