"""`itemtrace show --model-view N`: what a model saw, and how that differs from the ledger's history.

The history is what the caller gave and every item before the call. Session callbacks, input
filters, handoff filters and trimming change it on its way to the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from itemtrace.cli.safe import counted, one_line
from itemtrace.cli.views.content import text_of
from itemtrace.cli.views.frame import Gutter, label, prose
from itemtrace.cli.views.pretty import Fold, shown
from itemtrace.cli.views.transcript import call_facts
from itemtrace.codec import canonical
from itemtrace.ledger import ModelCall, Run
from itemtrace.ledger.items import type_of
from itemtrace.ledger.parts import mapping, sequence


KEPT: Final = "kept"
LEFT_OUT: Final = "left out"
ADDED: Final = "added"
SIGNS: Final = {KEPT: ("  ", ""), LEFT_OUT: ("- ", "red"), ADDED: ("+ ", "green")}


@dataclass(frozen=True, slots=True)
class Entry:
    """An input item, and what became of it.

    Attributes:
        change: `kept`, `left out` or `added`.
        item: The input item.
        origin: `history`, `input` or `added` where a session was used; else empty.
    """

    change: str
    item: Any
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a model saw at one call.

    Attributes:
        run: The run.
        call: The call.
        entries: Its input beside the ledger's history.
    """

    run: Run
    call: ModelCall
    entries: tuple[Entry, ...]

    def count(self, change: str) -> int:
        """Returns how many entries there are of a kind."""
        return sum(entry.change == change for entry in self.entries)


def seen(run: Run, call: ModelCall) -> Seen:
    """Returns what a call saw, compared with the ledger."""
    before, after = history(run, call), call.input
    matcher = SequenceMatcher(
        a=[canonical.dumps(item) for item in before],
        b=[canonical.dumps(item) for item in after],
        autojunk=False,
    )
    origins = [
        origin for origin, count in call.origin for _ in range(min(count, len(after)))
    ]
    origins += [""] * (len(after) - len(origins))
    entries: list[Entry] = []
    for change, a, b, c, d in matcher.get_opcodes():
        if change == "equal":
            entries += [Entry(KEPT, after[at], origins[at]) for at in range(c, d)]
        else:
            entries += [Entry(LEFT_OUT, item) for item in before[a:b]]
            entries += [Entry(ADDED, after[at], origins[at]) for at in range(c, d)]
    return Seen(run, call, tuple(entries))


def history(run: Run, call: ModelCall) -> list[Any]:
    """Returns the input list that the ledger has before a call."""
    given = run.input if run.given_input is None else run.given_input
    found = list(sequence(given))
    if isinstance(given, str):
        found = [{"content": given, "role": "user"}]
    before = {c.n for c in run.model_calls if c.recalled or c.n < call.n}
    items = [item for item in run.new_items if item.type != "tool_approval_item"]
    calls = {item.call_id for item in items if item.call in before and item.call_id}
    return found + [
        item.to_input_item()
        for item in items
        if item.call in before or (item.call is None and item.call_id in calls)
    ]


def parts(found: Seen, others: list[str], fold: Fold) -> Iterator[RenderableType]:
    """Yields what a person reads."""
    call = found.call
    yield label((f"Model call {call.n}", "bold"), (call_facts(call, numbered=False), "dim"), ("  of ", "dim"), (call.agent or "?", "bold"), (f", run {found.run.run_id}", "dim"))  # fmt: skip
    yield label((summary(found), "bold"))
    reference = by_reference(found)
    if reference:
        yield label((f"the rest was sent by reference: {reference}", "yellow"))
    if call.tools:
        yield label(("tools   ", "dim"), one_line(tool_names(call), 500))
    if call.settings:
        yield label(("settings ", "dim"), one_line(shown(dict(call.settings)), 500))
    if call.system:
        yield label(("instructions", "dim"))
        for part in prose(text_of(call.system), fold, style="dim"):
            yield Gutter(part, ("",))
    yield Text()
    for entry in found.entries:
        yield from entry_parts(entry, fold)
    if others:
        some = ", ".join(others[:4]) + (", …" if len(others) > 4 else "")
        yield label((f"\nother runs of this trace: {some}; name one as TRACE", "dim"))


def summary(found: Seen) -> str:
    """Returns how many items were kept, left out and added."""
    saw = len(found.entries) - found.count(LEFT_OUT)
    numbers = ", ".join(
        f"{found.count(kind)} {kind}" for kind in (KEPT, LEFT_OUT, ADDED)
    )
    return f"it saw {counted(saw, 'item')}; beside the ledger's history: {numbers}"


def by_reference(found: Seen) -> str:
    """Returns what stands at the provider for items that were not sent again."""
    options = found.run.options
    previous = found.call.response.previous if found.call.response else None
    if previous:
        return f"previous_response_id {previous}"
    if options.get("conversation_id"):
        return f"conversation {options['conversation_id']}"
    return ""


def tool_names(call: ModelCall) -> str:
    """Returns the names of the tools that the model was offered."""
    tools = map(mapping, call.tools)
    return ", ".join(str(tool.get("name") or tool.get("type")) for tool in tools)


def entry_parts(entry: Entry, fold: Fold) -> Iterator[RenderableType]:
    """Yields one entry: what became of it, what it is, what it says."""
    sign, style = SIGNS[entry.change]
    item = entry.item
    kind = type_of(item) or "item"
    known = mapping(item)
    role, name = known.get("role"), known.get("name") or known.get("call_id")
    yield label(
        (sign, f"bold {style}" if style else ""),
        (str(role or kind), f"bold {style}"),
        (f" {name}" if name else "", style),
        (f"  {entry.change}" if style else "", style),
        (f"  {entry.origin}" if entry.origin else "", "dim"),
    )
    for part in prose(says(item), fold, style=style or "dim"):
        yield Gutter(part, ("", ""))


def says(item: Any) -> str:
    """Returns the content of an input item."""
    known = mapping(item)
    for key in ("content", "arguments", "output", "summary"):
        if known.get(key):
            return text_of(known[key])
    if isinstance(known.get("encrypted_content"), str):
        return "(encrypted)"
    return shown(item)


def as_json(found: Seen) -> dict[str, Any]:
    """Returns the same for machines."""
    call = found.call
    return {
        "run_id": found.run.run_id,
        "model_call": call.n,
        "agent": call.agent,
        "model": call.model,
        "instructions": call.system,
        "settings": dict(call.settings),
        "tools": list(call.tools),
        "entries": [
            {"change": e.change, "origin": e.origin or None, "item": e.item}
            for e in found.entries
        ],
    }
