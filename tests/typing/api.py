"""The public API as its users type it; mypy reads this file, nothing runs it."""

from __future__ import annotations

from typing import Any, assert_type

import itemtrace
from itemtrace import Gap, Item, Ledger, ModelCall, Run, ToolCall
from itemtrace.ledger import checks


def reading() -> None:
    """A ledger, its runs and what is in them."""
    ledger = itemtrace.load("traces.db", trace_id="0" * 32)
    assert_type(ledger, Ledger)
    run = ledger.runs[0]
    assert_type(run, Run)
    assert_type(run.to_input_list(mode="normalized"), list[Any])
    assert_type(run.exact, bool)
    for gap in run.gaps:
        assert_type(gap, Gap)
    for item in run.new_items:
        assert_type(item, Item)
    for call in run.model_calls:
        assert_type(call, ModelCall)
        assert_type(call.duration, float)
    for tool in run.tool_calls:
        assert_type(tool, ToolCall)
    for problem in checks.check(run.to_input_list()):
        assert_type(problem.message, str)
    for each in itemtrace.iter_ledgers():
        assert_type(each, Ledger)


def redact(item: dict[str, Any]) -> dict[str, Any] | None:
    """Leaves every item as it is."""
    return None if item else item


def recording() -> None:
    """Installing and its end."""
    installed = itemtrace.install(store="traces.db", messages="off", redact=[redact])
    assert_type(installed.describe, str)
    assert_type(itemtrace.flush(5.0), bool)
    assert_type(itemtrace.health(), dict[str, int])
    itemtrace.uninstall()
