"""Tool calls, handoffs and approvals, derived from the items of a run."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from itemtrace.ledger.calls import ErrorInfo, error_of
from itemtrace.ledger.items import CALL_OF_OUTPUT, OUTPUT_OF_CALL, Item
from itemtrace.ledger.parts import mapping, part, parts


if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from itemtrace.ledger.run import Run


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool, and what became of it.

    Attributes:
        call_id: The call's id.
        name: The tool.
        agent: Whose tool.
        arguments: What the model wrote.
        call: The call's item; None where only its execution is known.
        output: The output's item; None where there is none.
        start_ns: When the execution started, nanoseconds since the epoch; 0 when unknown.
        end_ns: As `start_ns`.
        status: `completed`, `failed`, `cancelled`, `pending` or `rejected`.
        error: What the execution raised.
        hosted: Whether the provider ran it.
        runs: The runs that it started (an agent used as a tool).
    """

    call_id: str | None
    name: str | None
    agent: str | None
    arguments: Any
    call: Item | None
    output: Item | None
    start_ns: int = 0
    end_ns: int = 0
    status: str = "pending"
    error: ErrorInfo | None = None
    hosted: bool = False
    runs: tuple[Run, ...] = ()

    @property
    def duration(self) -> float:
        """Seconds from start to end; 0 when unknown."""
        return max(self.end_ns - self.start_ns, 0) / 1e9 if self.end_ns else 0.0


@dataclass(frozen=True, slots=True)
class Handoff:
    """A handoff from one agent to another.

    Attributes:
        call_id: The call's id.
        tool_name: The tool that stands for the handoff.
        source: Who hands off.
        target: Who takes over; None where the handoff was ignored or is not answered.
        call: The call's item.
        output: The answer's item; a `tool_call_output_item` where the handoff was ignored.
        at_ns: When the call was recorded; 0 when unknown.
    """

    call_id: str | None
    tool_name: str | None
    source: str | None
    target: str | None
    call: Item
    output: Item | None
    at_ns: int = 0


@dataclass(frozen=True, slots=True)
class Approval:
    """A decision on a call that had to be approved.

    Attributes:
        call_id: The call's id.
        tool: The tool.
        decision: `pending`, `approved` or `rejected`.
        message: What a rejection told the model.
        principal: Who decided, where the application said so.
        item: The pending approval's item, where this run has it.
    """

    call_id: str | None
    tool: str | None
    decision: str
    message: Any = None
    principal: str | None = None
    item: Item | None = None


def outputs_of(items: Iterable[Item]) -> dict[tuple[str, str], deque[Item]]:
    """Returns the outputs by raw type of their call and call id, in order."""
    found: dict[tuple[str, str], deque[Item]] = defaultdict(deque)
    for item in items:
        call_type = CALL_OF_OUTPUT.get(item.raw_type)
        if call_type and item.call_id:
            found[call_type, item.call_id].append(item)
    return found


def tool_calls(run: Run) -> tuple[ToolCall, ...]:
    """Returns the tool calls of a run: the model's in order, then executions without a call."""
    outputs = outputs_of(run.items)
    executions: dict[str, Mapping[str, Any]] = {
        str(body.get("call")): body for _, body in run.bodies("tool")
    }
    rejected = {a.call_id for a in run.approvals if a.decision == "rejected"}
    nested: dict[str | None, list[Run]] = defaultdict(list)
    for child in run.runs:
        nested[child.parent_call_id].append(child)
    found: list[ToolCall] = []
    for item in run.items:
        if item.type != "tool_call_item":
            continue
        waiting = outputs.get((item.raw_type, item.call_id or ""))
        output = waiting.popleft() if waiting else None
        execution = executions.pop(item.call_id or "", {})
        children = tuple(nested.pop(item.call_id, ()))
        found.append(_tool_call(run, (item, output), execution, children, rejected))
    found += [
        _tool_call(run, (None, None), body, tuple(nested.pop(call_id, ())), rejected)
        for call_id, body in executions.items()
    ]
    return tuple(found)


def _tool_call(
    run: Run,
    pair: tuple[Item | None, Item | None],
    execution: Mapping[str, Any],
    children: tuple[Run, ...],
    rejected: set[str | None],
) -> ToolCall:
    call, output = pair
    timing = (output.execution if output else None) or execution
    call_id = call.call_id if call else execution.get("call")
    hosted = call is not None and call.raw_type not in OUTPUT_OF_CALL
    error = error_of(timing.get("error"))
    status = _status(output, execution, error, hosted=hosted)
    return ToolCall(
        call_id=call_id,
        name=(call.tool_name if call else None) or timing.get("name"),
        agent=call.agent if call else execution.get("agent"),
        arguments=call.arguments if call else execution.get("arguments"),
        call=call,
        output=output,
        start_ns=run.time_of(timing.get("start")),
        end_ns=run.time_of(timing.get("end")),
        status="rejected" if call_id in rejected else status,
        error=error,
        hosted=hosted,
        runs=children,
    )


def _status(
    output: Item | None,
    execution: Mapping[str, Any],
    error: ErrorInfo | None,
    *,
    hosted: bool,
) -> str:
    if output is not None:
        return "failed" if error else "completed"
    if hosted and not execution:
        return "completed"
    return str(execution.get("status") or "pending")


def handoffs(run: Run) -> tuple[Handoff, ...]:
    """Returns the handoffs of a run in order."""
    outputs = outputs_of(run.items)
    found: list[Handoff] = []
    for item in run.items:
        if item.type != "handoff_call_item":
            continue
        waiting = outputs.get((item.raw_type, item.call_id or ""))
        output = waiting.popleft() if waiting else None
        extra = dict(output.extra) if output else dict[str, Any]()
        found.append(
            Handoff(
                call_id=item.call_id,
                tool_name=item.tool_name,
                source=extra.get("source_agent") or item.agent,
                target=extra.get("target_agent"),
                call=item,
                output=output,
                at_ns=item.at_ns,
            )
        )
    return tuple(found)


def approvals(run: Run) -> tuple[Approval, ...]:
    """Returns the decisions that a resumed run began with, then what it waits for itself."""
    decided = [
        Approval(
            call_id=entry.get("call"),
            tool=entry.get("tool"),
            decision=str(entry.get("decision", "pending")),
            message=entry.get("message"),
            principal=entry.get("principal"),
        )
        for entry in map(mapping, parts(part(run.begin, "resumed"), "decisions"))
    ]
    waiting = [
        Approval(item.call_id, item.tool_name, "pending", item=item)
        for item in run.interruptions
    ]
    return (*decided, *waiting)
