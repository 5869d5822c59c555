"""Steps to runs: which span belongs to which call of the runner, and which tool started it."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from itemtrace.rebuild.foreign.steps import Step


@dataclass(slots=True, eq=False)
class Draft:
    """One run, as spans tell it.

    Attributes:
        run_id: Made of the trace and the span that frames it; the same in every reading.
        steps: Its spans in order of their start, those of runs that its tools started left out.
        frame: The span of the run itself, where there is one.
        trace: The span of the trace, likewise.
        parent: The run whose tool started it.
        tool: That tool's span.
        place: 0, 1, … for a second run under one call.
        call_ids: Span of a tool -> id of the call, as it was found out.
    """

    run_id: str
    steps: list[Step] = field(default_factory=list["Step"])
    frame: Step | None = None
    trace: Step | None = None
    parent: Draft | None = None
    tool: Step | None = None
    place: int = 0
    call_ids: dict[str, str] = field(default_factory=dict[str, str])

    def of(self, *kinds: str) -> list[Step]:
        """Returns its steps of some kinds."""
        return [step for step in self.steps if step.kind in kinds]


def drafts(steps: Iterable[Step], parents: Mapping[str, str]) -> list[Draft]:
    """Returns the runs of one trace, each before those that its tools started.

    Args:
        steps: Of one trace.
        parents: Span -> parent, for every span of the trace.
    """
    ordered = sorted(
        steps, key=lambda step: (step.row.start_ns, step.row.end_ns, step.row.span_id)
    )
    tree = Tree(ordered, parents)
    tree.correct(ordered)
    found: dict[str, Draft] = {}
    for step in ordered:
        above = list(tree.above(step))
        step.agent = step.name if step.kind == "agent" else _agent(above)
        if step.kind in ("agent", "model", "tool", "handoff"):
            found.setdefault(_key(above), Draft("")).steps.append(step)
    whole = {key: draft for key, draft in found.items() if draft.of("agent", "model")}
    for key, draft in whole.items():
        _place(key, draft, whole, tree, ordered)
    return sorted(whole.values(), key=_depth)


class Tree:
    """Spans by their parents.

    Attributes:
        steps: Span -> step.
        parents: Span -> parent.
    """

    def __init__(self, steps: Iterable[Step], parents: Mapping[str, str]) -> None:
        self.steps = {step.row.span_id: step for step in steps}
        self.parents = dict(parents)

    def above(self, step: Step) -> Iterator[Step]:
        """Yields the steps above, the nearest first; a circle ends where it closes."""
        seen = {step.row.span_id}
        current = self.parents.get(step.row.span_id, "")
        while current and current not in seen:
            seen.add(current)
            if current in self.steps:
                yield self.steps[current]
            current = self.parents.get(current, "")

    def correct(self, ordered: Iterable[Step]) -> None:
        """Puts agents under the tool in whose time they ran, where a recorder put them beside it.

        Agents of one run never overlap: one that starts while another works was started by a tool of
        that one.
        """
        agents = [step for step in ordered if step.kind == "agent"]
        tools = [step for step in ordered if step.kind == "tool"]
        for place, inner in enumerate(agents):
            above = {id(step) for step in self.above(inner)}
            outer = [
                agent
                for agent in agents[:place]
                if _contains(agent, inner) and id(agent) not in above
            ]
            around = [
                tool
                for tool in tools
                if _contains(tool, inner) and id(tool) not in above
            ]
            if outer and around:
                self.parents[inner.row.span_id] = around[-1].row.span_id
                inner.lacks.append(
                    "which tool started an agent: it was told by their times"
                )


def _contains(outer: Step, inner: Step) -> bool:
    return (
        outer.row.start_ns <= inner.row.start_ns
        and inner.row.end_ns <= outer.row.end_ns
    )


def _agent(above: Iterable[Step]) -> str | None:
    """Returns the name of the nearest agent, of the same run."""
    for step in above:
        if step.kind == "agent":
            return step.name
        if step.kind == "tool":
            return None
    return None


def _key(above: Iterable[Step]) -> str:
    """Returns the span that frames a run: its own, the tool that started it, else the trace's."""
    for step in above:
        if step.kind in ("run", "tool", "trace"):
            return step.row.span_id
    return ""


def _place(
    key: str,
    draft: Draft,
    found: Mapping[str, Draft],
    tree: Tree,
    ordered: Iterable[Step],
) -> None:
    """Fills in what frames a run, and what started it."""
    first = draft.steps[0]
    draft.run_id = sha256(f"{first.row.trace_id}/{key}".encode()).hexdigest()[:16]
    frame = tree.steps.get(key)
    chain = [frame, *tree.above(frame)] if frame is not None else []
    draft.frame = frame if frame is not None and frame.kind != "tool" else None
    traces = (step for step in (*chain, *ordered) if step.kind == "trace")
    draft.trace = next(traces, None)
    draft.tool = next((step for step in chain if step.kind == "tool"), None)
    if draft.tool is not None:
        draft.parent = found.get(_key(tree.above(draft.tool)))


def _depth(draft: Draft) -> tuple[int, int, str]:
    """Returns what puts runs before those that they started; a run among its own parents has none."""
    above: list[Draft] = []
    parent = draft.parent
    while parent is not None and parent is not draft and parent not in above:
        above.append(parent)
        parent = parent.parent
    if parent is draft:  # only a forged trace can say so
        draft.parent = draft.tool = None
        return 0, draft.steps[0].row.start_ns, draft.run_id
    return len(above), draft.steps[0].row.start_ns, draft.run_id
