"""Recorded runs run again, offline and exact.

    with itemtrace.replay(ledger) as tape:
        result = await Runner.run(agent, run.input)

The name `itemtrace.replay` is the function; import from this package by `from itemtrace.replay
import ...`. The Agents SDK is loaded when a tape starts.
"""

from __future__ import annotations

from itemtrace.replay.report import Entry, Report
from itemtrace.replay.tape import Options, Tape, replay


__all__ = ["Entry", "Options", "Report", "Tape", "replay"]
