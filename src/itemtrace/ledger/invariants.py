"""What must hold of every ledger, damaged ones too; `Ledger.self_check` calls this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from itemtrace.ledger.items import CALL_OF_OUTPUT


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemtrace.ledger.model import Ledger
    from itemtrace.ledger.run import Run


def records_in_order(run: Run) -> Iterator[str]:
    """Records are of the run, each number once, ascending."""
    numbers = [record.seq for record in run.records]
    if numbers != sorted(set(numbers)):
        yield "its records are not in order"
    if any(record.run != run.run_id for record in run.records):
        yield "it holds records of another run"


def pairs_match(run: Run) -> Iterator[str]:
    """The output of a tool call answers that call."""
    for call in run.tool_calls:
        if call.output is None or call.call is None:
            continue
        if call.output.call_id != call.call_id:
            yield f"the output of {call.call_id} answers {call.output.call_id}"
        if CALL_OF_OUTPUT.get(call.output.raw_type) != call.call.raw_type:
            yield f"{call.call.raw_type} {call.call_id} has a {call.output.raw_type}"


def losses_are_named(run: Run) -> Iterator[str]:
    """Whatever is lost in a view has a gap."""
    lost = [item for item in run.new_items if item.lost]
    if lost and run.exact:
        yield f"item {lost[0].seq} is lost, and no gap says so"
    if not run.sealed and run.exact:
        yield "it is unsealed, and no gap says so"


def views_agree(run: Run) -> Iterator[str]:
    """Items of the result are among all items, and every list has its length."""
    known = {item.seq for item in run.items}
    if any(item.seq not in known for item in run.new_items if not item.lost):
        yield "an item of the result is not among its items"
    for call in run.model_calls:
        if run.exact and len(call.input) != sum(count for _, count in call.ranges):
            yield f"model call {call.n} saw {len(call.input)} items"
    for child in run.runs:
        if child.parent is not run:
            yield f"run {child.run_id} is nested here and does not know it"


CHECKS: Final[tuple[Callable[[Run], Iterator[str]], ...]] = (
    records_in_order,
    pairs_match,
    losses_are_named,
    views_agree,
)


def broken(ledger: Ledger) -> Iterator[str]:
    """Yields what contradicts itself in a ledger."""
    seen: set[str] = set()
    for run in ledger.all_runs():
        if run.run_id in seen:
            yield f"run {run.run_id} is there twice"
        seen.add(run.run_id)
        yield from (
            f"run {run.run_id}: {problem}" for check in CHECKS for problem in check(run)
        )
    if seen != set(ledger.book.runs):
        yield "a run is reached from no root"
