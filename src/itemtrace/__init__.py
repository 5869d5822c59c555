"""Lossless OpenTelemetry traces for the OpenAI Agents SDK, and the run back from them.

import itemtrace

itemtrace.install()                       # records every run from now on
ledger = itemtrace.load()                 # the local store; or a path, or a URL
ledger.runs[0].to_input_list()
"""

from __future__ import annotations

from itemtrace.engines.local import iter_ledgers, load
from itemtrace.errors import ItemTraceError
from itemtrace.install import (
    Installation,
    ItemTraceProcessor,
    flush,
    health,
    install,
    uninstall,
)
from itemtrace.ledger import Gap, GapCause, Item, Ledger, ModelCall, Run, ToolCall
from itemtrace.ledger.diff import Diff, Difference, diff
from itemtrace.rebuild import rebuild
from itemtrace.replay import Tape, replay


__all__ = [
    "Diff",
    "Difference",
    "Gap",
    "GapCause",
    "Installation",
    "Item",
    "ItemTraceError",
    "ItemTraceProcessor",
    "Ledger",
    "ModelCall",
    "Run",
    "Tape",
    "ToolCall",
    "diff",
    "flush",
    "health",
    "install",
    "iter_ledgers",
    "load",
    "rebuild",
    "replay",
    "uninstall",
]
