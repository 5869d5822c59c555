"""Runs whose history a server keeps: chained by response ids or by a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from itemtrace.ledger.run import Run


def chained_to(run: Run) -> Run | None:
    """Returns the run of the ledger whose history the server put in front of this one.

    By `previous_response_id` the run that got that response; by `conversation_id` the run before it
    in the same conversation.
    """
    response = run.options.get("previous_response_id")
    conversation = run.options.get("conversation_id")
    before = [
        other
        for other in run.book.runs.values()
        if other is not run and other.started_ns <= run.started_ns
    ]
    if response:
        before = [other for other in before if other.last_response_id == response]
    elif conversation:
        before = [
            other
            for other in before
            if other.options.get("conversation_id") == conversation
        ]
    else:
        return None
    return max(before, key=lambda other: other.started_ns, default=None)


def starts_elsewhere(run: Run) -> str | None:
    """Returns what the server had before the run and this ledger lacks; None where nothing is."""
    if chained_to(run) is not None:
        return None
    response = run.options.get("previous_response_id")
    if response:
        return f"response {response}"
    conversation = run.options.get("conversation_id")
    return f"conversation {conversation}" if conversation else None


def history(run: Run) -> list[Any]:
    """Returns the input lists of the runs before it in its chain, and its own, as one list."""
    chain: list[Run] = []
    at: Run | None = run
    while at is not None and at not in chain:
        chain.append(at)
        at = chained_to(at)
    return [item for each in reversed(chain) for item in each.to_input_list()]
