"""The transcript of runs: what the user said, what agents thought, said and did, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from itemtrace.cli.safe import (
    between,
    counted,
    duration,
    moment,
    number,
    one_line,
)
from itemtrace.cli.sources import own_usage
from itemtrace.cli.views.content import text_of
from itemtrace.cli.views.frame import Gutter, label, prose
from itemtrace.cli.views.history import Block, Recalled, blocks
from itemtrace.cli.views.items import error_text, parts_of
from itemtrace.cli.views.pretty import compact, from_text, shown
from itemtrace.cli.views.scene import Nested, Part, RunScene, Scene, gap_line
from itemtrace.ledger import Gap, Item, ModelCall, Run
from itemtrace.ledger.items import type_of
from itemtrace.ledger.parts import mapping, sequence


DEEPEST: Final = 12
"""Rules at the left; runs nested deeper are not indented further; a forged trace may nest thousands."""

STATUS_STYLES: Final[Mapping[str, str]] = {
    "completed": "green",
    "interrupted": "yellow",
    "cancelled": "yellow",
    "failed": "red",
    "unsealed": "red",
}

Rules = tuple[str, ...]


def transcript(runs: Iterable[Run], scene: Scene) -> Iterator[RenderableType]:
    """Yields what is printed of runs, nested ones under the call that started them."""
    waiting: list[tuple[Iterator[Part], Rules]] = [(iter(map(Nested, runs)), ())]
    while waiting:
        parts, rules = waiting[-1]
        part = next(parts, None)
        if part is None:
            waiting.pop()
        elif isinstance(part, Nested):
            inner = (*rules, *part.rules)[:DEEPEST]
            waiting.append((run_parts(part.run, scene, len(waiting) > 1), inner))
        elif rules:
            yield Gutter(part, rules)
        else:
            yield part


def run_parts(run: Run, scene: Scene, nested: bool) -> Iterator[Part]:
    """Yields the parts of one run."""
    context = scene.of_run(run)
    everything = scene.wanted.everything
    yield from nested_heading(run) if nested else heading(run)
    if everything:
        yield from given(context)
        yield from guardrails(context, "input")
    yield from body(context)
    if everything:
        for kind in ("tool_input", "tool_output", "output"):
            yield from guardrails(context, kind)
        yield from ending(context)


# --- headings -------------------------------------------------------------------


def heading(run: Run) -> Iterator[Part]:
    """The line above a root run."""
    yield Text()
    yield label(
        ("━━ ", "bold"), (run.agent or "run", "bold"), f"  {run.run_id}  ", *facts(run)
    )


def nested_heading(run: Run) -> Iterator[Part]:
    """The line above a nested run."""
    yield label(
        ("↳ ", "bold"), (run.agent or "run", "bold"), f"  {run.run_id}  ", *facts(run)
    )


def facts(run: Run) -> list[tuple[str, str]]:
    """Returns status, time, items and tokens of a run."""
    usage = own_usage(run)
    found = [
        between(run.started_ns, run.ended_ns),
        counted(len(run.new_items), "item"),
        f"{number(usage.input_tokens)} → {number(usage.output_tokens)} tokens",
        "streamed" if run.streamed else "",
        "captured from spans only" if run.capture == "spans" else "",
    ]
    style = STATUS_STYLES.get(run.status, "yellow")
    facts = " · ".join(fact for fact in found if fact)
    return [(run.status, style), (f" · {facts}", "dim")]


# --- input ----------------------------------------------------------------------


def given(context: RunScene) -> Iterator[Part]:
    """What the caller gave."""
    run, scene = context.run, context.scene
    resumed = mapping(run.begin.get("resumed"))
    if resumed:
        yield label((f"goes on with run {resumed.get('run', '')}", "bold"))
        return
    if run.starts_elsewhere:
        words = f"goes on with {run.starts_elsewhere}, which is not in this ledger"
        yield label((one_line(words), "yellow"))
    value = run.given_input
    if value is None:
        return
    yield label(("input", "bold"))
    for part in given_parts(value, scene):
        yield Gutter(part, ("bold",))


def given_parts(value: Any, scene: Scene) -> Iterator[RenderableType]:
    """What was given: a text, or a list whose last words are shown."""
    items = sequence(value)
    if not items:
        yield from prose(text_of(value), scene.fold, markdown=scene.markdown)
        return
    first = 0 if scene.fold.lines > len(items) * 12 else last_words(items)
    if first:
        kinds = Counter(type_of(item) or "item" for item in items[:first])
        what = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(5))
        yield label((f"… {counted(first, 'earlier item')}: {what}", "dim italic"))
    for item in items[first:]:
        known = mapping(item)
        role = known.get("role")
        if role != "user":
            yield label((str(role or type_of(item) or "item"), "dim"))
        content = known.get("content", item)
        yield from prose(text_of(content), scene.fold, markdown=scene.markdown)


def last_words(items: list[Any]) -> int:
    """Returns where the user's last words begin."""
    place = len(items)
    while place and mapping(items[place - 1]).get("role") == "user":
        place -= 1
    return place if place < len(items) else max(len(items) - 1, 0)


# --- body -----------------------------------------------------------------------


def body(context: RunScene) -> Iterator[Part]:
    """The items by model call, gaps where they are."""
    everything = context.scene.wanted.everything
    located = [gap for gap in context.run.own_gaps if gap.seq is not None]
    gaps = sorted(located, key=lambda gap: gap.seq or 0)
    for block in blocks(context):
        if isinstance(block, Recalled):
            yield label((block.text, "dim italic"))
            continue
        wanted = [item for item in block.items if context.wants(item)]
        if wanted or (everything and not block.items):
            yield from block_heading(block, context)
        for item in block.items:
            if item in wanted:
                yield from map(gap_line, taken(gaps, item.seq))
                yield from within(item, context)
            else:
                call = context.tool_calls.get(item.seq)
                yield from map(Nested, call.runs if call else ())
    if everything:
        yield from executions(context)
    yield from map(gap_line, gaps)
    yield from map(gap_line, (gap for gap in context.run.own_gaps if gap.seq is None))


def taken(gaps: list[Gap], seq: int) -> list[Gap]:
    """Takes out the gaps before a record, or of it."""
    found = [gap for gap in gaps if gap.seq is not None and gap.seq <= seq]
    del gaps[: len(found)]
    return found


def within(item: Item, context: RunScene) -> Iterator[Part]:
    """What is shown of an item, beside its agent's rule."""
    colour = context.scene.palette.of(item.agent)
    for part in parts_of(item, context):
        if isinstance(part, Nested):
            yield Nested(part.run, (colour, ""))
        else:
            yield Gutter(part, (colour,))


def block_heading(block: Block, context: RunScene) -> Iterator[Part]:
    """The line above what a model answered, and what went wrong before it did."""
    call = block.call
    colour = context.scene.palette.of(block.agent)
    yield Text()
    yield label((block.agent or "agent", f"bold {colour}"), (call_facts(call), "dim"))
    if call is None or call.recalled:
        return
    notes = list(troubles(call))
    if context.scene.instructions and call.system:
        notes.append(label(("instructions", "dim")))
        notes += prose(text_of(call.system), context.scene.fold, style="dim")
    yield from (Gutter(note, (colour,)) for note in notes)


def call_facts(call: ModelCall | None, *, numbered: bool = True) -> str:
    """Returns model, number, time and tokens of a call."""
    if call is None or call.recalled:
        return ""
    found = [call.model or "", f"call {call.n}" if numbered else ""]
    found += [duration(call.duration)] if call.duration else []
    if call.response is not None:
        usage = call.response.usage
        found.append(
            f"{number(usage.input_tokens)} → {number(usage.output_tokens)} tokens"
        )
    return "  " + " · ".join(fact for fact in found if fact)


def troubles(call: ModelCall) -> Iterator[RenderableType]:
    """Failed attempts, and what ended the call."""
    for error in call.attempts:
        yield label((f"tried again after {error_text(error)}", "yellow"))
    if call.error is not None:
        yield label((f"✗ {error_text(call.error)}", "bold red"))
    elif call.response is None:
        yield label(("✗ the call did not end", "bold red"))


def executions(context: RunScene) -> Iterator[Part]:
    """Executions of tools whose call is not among the items, and runs that no tool started."""
    shown_runs = {run.run_id for call in context.run.tool_calls for run in call.runs}
    for call in context.run.tool_calls:
        if call.call is None:
            yield label(
                (f"{call.name}: {call.status}", "yellow"),
                (f"  {shown(call.arguments)}", "dim"),
            )
            yield from map(Nested, call.runs)
    for run in context.run.runs:
        if run.run_id not in shown_runs:
            span = mapping(run.begin.get("parent")).get("span")
            yield label(
                (f"started {f'in a {span}' if span else 'by this run'}:", "dim")
            )
            yield Nested(run)


# --- end ------------------------------------------------------------------------


def guardrails(context: RunScene, kind: str) -> Iterator[Part]:
    """Results of the guardrails of one kind."""
    for found in getattr(context.run, f"{kind}_guardrail_results"):
        stopped = found.tripwire is True
        said = shown(found.output_info) if found.output_info is not None else ""
        decided = mapping(found.behavior).get("type")
        yield label(
            ("✗ " if stopped else "✓ ", "bold red" if stopped else "green"),
            (f"{kind.replace('_', ' ')} guardrail ", "dim"),
            (found.name, "bold" if stopped else ""),
            (
                f" {decided}" if decided else " stopped the run" if stopped else "",
                "red",
            ),
            (f"  {said}", "dim"),
        )


def ending(context: RunScene) -> Iterator[Part]:
    """How the run ended: its typed output, its error, or what it waits for."""
    run, scene = context.run, context.scene
    if run.final_output is not None and run.final_output_type != "str":
        kind = (run.final_output_type or "").rpartition(".")[2]
        said = said_already(run)
        note = f"{kind}, the message above" if said else kind
        yield label(("final output ", "bold"), (note, "dim"))
        for part in [] if said else prose(shown(run.final_output), scene.fold):
            yield Gutter(part, ("green",))
    if run.error is not None:
        yield label(("✗ ", "bold red"), (error_text(run.error), "red"))
    if run.interruptions:
        names = ", ".join(
            f"{item.tool_name} ({item.call_id})" for item in run.interruptions
        )
        yield label(("waits for a decision on ", "bold yellow"), names)
    if run.status == "unsealed":
        yield label(
            (f"no end was recorded; it began at {moment(run.started_ns)}", "bold red")
        )


def said_already(run: Run) -> bool:
    """Whether the last message is the final output."""
    messages = [i for i in run.new_items if i.type == "message_output_item"]
    if not messages or messages[-1].lost:
        return False
    said = from_text(messages[-1].text)
    return compact(said) == compact(run.final_output)
