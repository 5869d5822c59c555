"""Questions about items and runs, in the SDK's vocabulary."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from itemtrace.ledger.items import CALL_OF_OUTPUT, Item


if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemtrace.ledger.run import Run


def select(
    items: Iterable[Item],
    *,
    type: str | None = None,
    agent: str | None = None,
    tool: str | None = None,
) -> list[Item]:
    """Returns the items of a type, of an agent, of a tool; outputs count for their call's tool.

    Args:
        items: In order.
        type: The SDK's name such as `tool_call_item`, or a raw type such as `function_call`.
        agent: Name of the agent.
        tool: Name of the tool.
    """
    found = list(items)
    if tool is not None:
        names = {
            item.call_id: item.tool_name
            for item in found
            if item.raw_type not in CALL_OF_OUTPUT
        }
        found = [
            item for item in found if tool in (names.get(item.call_id), item.tool_name)
        ]
    return [
        item
        for item in found
        if (type is None or type in (item.type, item.raw_type))
        and (agent is None or item.agent == agent)
    ]


def messages(items: Iterable[Item]) -> list[Item]:
    """Returns the messages of agents."""
    return select(items, type="message_output_item")


def tool_calls(items: Iterable[Item]) -> list[Item]:
    """Returns the calls of tools."""
    return select(items, type="tool_call_item")


def tool_outputs(items: Iterable[Item]) -> list[Item]:
    """Returns the outputs of tools."""
    return select(items, type="tool_call_output_item")


def text(items: Iterable[Item]) -> str:
    """Returns the text of all messages, one after the other, as the SDK's `text_message_outputs`."""
    return "".join(item.text for item in messages(items))


def tool_usage(run: Run) -> dict[str, int]:
    """Returns how often each tool was called, nested runs included, most used first."""
    counts = Counter(
        call.name or "" for current in run.all_runs() for call in current.tool_calls
    )
    return dict(counts.most_common())


@dataclass(frozen=True, slots=True)
class TurnShape:
    """What happened in a turn, without content.

    Attributes:
        index: The turn's number.
        agent: Whose turn.
        model_calls: How often a model was asked.
        tools: The tools that were called, in order.
        handoff: The agent that took over, where one did.
        message: Whether the agent wrote a message.
    """

    index: int
    agent: str | None
    model_calls: int
    tools: tuple[str, ...]
    handoff: str | None
    message: bool


def turn_structure(run: Run) -> list[TurnShape]:
    """Returns the shape of each turn."""
    targets = {
        handoff.call.call: handoff.target for handoff in run.handoffs if handoff.target
    }
    return [
        TurnShape(
            index=turn.index,
            agent=turn.agent,
            model_calls=len(turn.calls),
            tools=tuple(call.name or "" for call in turn.tool_calls),
            handoff=next(
                (targets[call.n] for call in turn.calls if call.n in targets), None
            ),
            message=bool(messages(turn.items)),
        )
        for turn in run.turns
    ]


def handoff_points(run: Run) -> list[tuple[int, str | None, str | None]]:
    """Returns where agents took over: place in `new_items`, source, target."""
    places = {item.seq: place for place, item in enumerate(run.new_items)}
    return [
        (places[handoff.call.seq], handoff.source, handoff.target)
        for handoff in run.handoffs
        if handoff.target is not None and handoff.call.seq in places
    ]
