"""The SDK's input list: what `RunResult.to_input_list()` gives, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itemtrace.ledger.convert.base import Converted, register


if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemtrace.ledger.run import Run


@register("input_list")
def input_list(run: Run) -> Converted:
    """Returns the run's input and items as one input list."""
    return Converted(run.to_input_list(), tuple(_left_out(run)))


def _left_out(run: Run) -> Iterator[str]:
    for item in run.new_items:
        if item.type == "tool_approval_item":
            yield f"item {item.seq}: a pending approval is no input"
        elif item.lost:
            yield f"item {item.seq}: it is lost"
    listed = {item.seq for item in run.new_items}
    for item in run.items:
        if item.seq not in listed:
            yield f"item {item.seq}: {item.raw_type} is not among the result's items"
    yield from (
        f"run {child.run_id}: a nested run has a list of its own" for child in run.runs
    )
