"""Decisions on pending approvals, as they were made when the run was recorded."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from itemtrace.errors import GapError


if TYPE_CHECKING:
    from itemtrace.ledger import Approval
    from itemtrace.replay.tape import Tape


def decide(tape: Tape, result: Any) -> Any:
    """Returns the state of an interrupted result with the recorded decisions on it.

    Raises:
        GapError: No recorded run decides on what the result waits for.
    """
    waiting = {item.call_id for item in result.interruptions}
    decisions = _decisions(tape, waiting)
    undecided = waiting - set(decisions)
    if not waiting or not decisions:
        calls = ", ".join(sorted(str(call) for call in undecided)) or "nothing"
        msg = (
            f"the tape has no decision on what this result waits for ({calls}); approve or reject "
            "it yourself on result.to_state()"
        )
        raise GapError(msg)
    state = result.to_state()
    keep_usage(result)
    for item in state.get_interruptions():
        approval = decisions.get(item.call_id)
        if approval is None or approval.decision == "pending":
            continue
        if approval.decision == "approved":
            state.approve(item)
        elif approval.message:
            state.reject(item, rejection_message=approval.message)
        else:
            state.reject(item)
    return state


def keep_usage(result: Any) -> None:
    """Lets an interrupted result keep its usage while its state goes on.

    Before openai-agents 0.22 a state shares the context wrapper of its result, so a resumed run adds
    its tokens to the paused result as well, which then no longer says what its own run used.

    Args:
        result: What `Runner.run` returned; `to_state()` was called on it.
    """
    kept = copy.copy(result.context_wrapper)
    kept.usage = copy.deepcopy(kept.usage)
    result.context_wrapper = kept


def _decisions(tape: Tape, waiting: set[Any]) -> dict[Any, Approval]:
    """Returns the decisions of the next recorded run that resumed one of these calls."""
    for root in tape.roots:
        if root.started:
            continue
        found: dict[Any, Approval] = {}
        for (
            recorded
        ) in root.all_runs():  # a nested run knows what was decided on its calls
            for approval in recorded.run.approvals:
                known = found.get(approval.call_id)
                if approval.item is None and (not known or known.decision == "pending"):
                    found[approval.call_id] = approval
        if waiting & set(found):
            return found
    return {}
