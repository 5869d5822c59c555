"""Which items of a run a transcript shows, in which order; a resumed run does not repeat itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from itemtrace.cli.safe import counted
from itemtrace.cli.views.scene import RunScene
from itemtrace.ledger import Item, ModelCall, Run


@dataclass(frozen=True)
class Recalled:
    """Stands for items that an earlier part of the run shows."""

    text: str


@dataclass
class Block:
    """What one model call gave, or items of one agent that no call is known of.

    Attributes:
        call: The call.
        agent: Whose items.
        items: The items, in order; none where the call gave none.
    """

    call: ModelCall | None
    agent: str | None
    items: list[Item]


def blocks(context: RunScene) -> Iterator[Block | Recalled]:
    """Yields the items to show by model call, in order; calls without items where they belong."""
    entries = list(shown_items(context))
    calls = {call.n: call for call in context.run.model_calls}
    known = {entry.call for entry in entries if isinstance(entry, Item)}
    silent = [c for c in calls.values() if c.n not in known and not c.recalled]
    block: Block | None = None
    for entry in entries:
        if isinstance(entry, Recalled):
            yield entry
            continue
        call = None if entry.call is None else calls.get(entry.call)
        if block is None or begins(block, entry, call):
            if block is not None:
                yield block
            while (
                silent
                and call is not None
                and not call.recalled
                and silent[0].n < call.n
            ):
                yield Block(silent[0], silent.pop(0).agent, [])
            block = Block(call, (call.agent if call else None) or entry.agent, [])
        block.items.append(entry)
    if block is not None:
        yield block
    yield from (Block(call, call.agent, []) for call in silent)


def begins(block: Block, item: Item, call: ModelCall | None) -> bool:
    """Whether an item is none of a block's."""
    if call is None or call.recalled:
        return item.call is not None and item.agent != block.agent
    return call is not block.call


Entry = Recalled | Item


def shown_items(context: RunScene) -> Iterator[Entry]:
    """Yields the items to show, or what stands for some."""
    run = context.run
    listed = {item.seq for item in run.new_items}
    others = (i for i in run.items if i.call is not None and i.seq not in listed)
    earlier = run.resumed
    recalled = _recalled(run) if earlier is not None else set[int]()
    answered = _answered(earlier) if earlier is not None else set[str | None]()
    left_out = 0
    said = False
    for item in (*run.new_items, *others):
        if item.seq in context.answers:
            continue
        call = context.tool_calls.get(item.seq)
        news = (
            call is not None
            and call.output is not None
            and call.call_id not in answered
        )
        if item.seq in recalled and not news:
            left_out += 1 if call is None or call.output is None else 2
            continue
        if left_out and not said:
            said = True
            yield _stands_for(left_out, run)
        yield item
    if left_out and not said:
        yield _stands_for(left_out, run)


def _stands_for(count: int, run: Run) -> Recalled:
    earlier = run.resumed
    run_id = earlier.run_id if earlier is not None else ""
    return Recalled(f"… {counted(count, 'item')} of the part before, run {run_id}")


def _recalled(run: Run) -> set[int]:
    """Returns the seqs of items that are known from the state of the run's earlier part."""
    numbers = {call.n for call in run.model_calls if call.recalled}
    items = {item.seq for item in run.new_items if item.call in numbers}
    calls = {i.call_id for i in run.new_items if i.seq in items and i.call_id}
    return items | {
        item.seq
        for item in run.new_items
        if item.call is None and item.call_id in calls
    }


def _answered(run: Run) -> set[str | None]:
    return {call.call_id for call in run.tool_calls if call.output is not None}
