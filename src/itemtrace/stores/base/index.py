"""Runs as their spans' attributes tell them: what a store lists without rebuilding anything.

`RunDraft` takes the rows of a run one at a time and in any order, so a store can keep drafts in a
table and go on with them at the next batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from itemtrace import semconv
from itemtrace.codec.record import HEADER
from itemtrace.stores.base.query import Query, RunSummary, in_time, matches
from itemtrace.stores.base.values import as_int


if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from itemtrace.codec.spans import SpanRow


# Plain strings: lookups with a subclass of str are slower, and this runs for every span.
RUN_ID: Final = str(semconv.ITEMTRACE_RUN_ID)
PARENT: Final = str(semconv.ITEMTRACE_RUN_PARENT)
GROUP: Final = str(semconv.GEN_AI_CONVERSATION_ID)
WORKFLOW: Final = str(semconv.GEN_AI_WORKFLOW_NAME)
AGENT: Final = str(semconv.GEN_AI_AGENT_NAME)
STARTED: Final = str(semconv.ITEMTRACE_RUN_STARTED_NS)
STATUS: Final = str(semconv.ITEMTRACE_RUN_STATUS)
ITEMS: Final = str(semconv.ITEMTRACE_RUN_ITEMS)
INPUT_TOKENS: Final = str(semconv.ITEMTRACE_USAGE_INPUT_TOKENS)
OUTPUT_TOKENS: Final = str(semconv.ITEMTRACE_USAGE_OUTPUT_TOKENS)
RUN_START: Final = str(semconv.RUN_START)
RUN_END: Final = str(semconv.RUN_END)

UNSEALED: Final = "unsealed"
"""The status of a run whose end was not seen."""

FACETS: Final = (
    ("agent", AGENT),
    ("tool", str(semconv.GEN_AI_TOOL_NAME)),
    ("model", str(semconv.GEN_AI_REQUEST_MODEL)),
    ("model", str(semconv.GEN_AI_RESPONSE_MODEL)),
)
"""Kinds of names that a run is found by, and the attributes that hold them."""


@dataclass(slots=True)
class RunDraft:
    """A run's summary in the making."""

    trace_id: str
    run_id: str
    group: str = ""
    workflow: str = ""
    agent: str = ""
    parent: str = ""
    status: str = UNSEALED
    started_ns: int = 0
    ended_ns: int = 0
    items: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    facets: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def add(self, row: SpanRow) -> None:
        """Takes in a span of the run."""
        attributes = row.attributes
        self.group = self.group or text(attributes.get(GROUP))
        self.workflow = self.workflow or text(attributes.get(WORKFLOW))
        self.parent = self.parent or text(attributes.get(PARENT))
        for kind, key in FACETS:
            name = attributes.get(key)
            if name is not None:
                self.facets.add((kind, text(name)))
        self._see(row.start_ns)
        self._see(as_int(attributes.get(STARTED)) or 0)
        self.ended_ns = max(self.ended_ns, row.end_ns)
        if row.name == RUN_START:
            self.agent = self.agent or text(attributes.get(AGENT))
        elif row.name == RUN_END:
            self.status = text(attributes.get(STATUS)) or self.status
            self.items = as_int(attributes.get(ITEMS))
            self.input_tokens = as_int(attributes.get(INPUT_TOKENS))
            self.output_tokens = as_int(attributes.get(OUTPUT_TOKENS))

    def _see(self, at_ns: int) -> None:
        if at_ns and (not self.started_ns or at_ns < self.started_ns):
            self.started_ns = at_ns

    def merge(self, earlier: RunDraft) -> None:
        """Takes in what was known before; where both tell something, this draft wins."""
        for name in ("group", "workflow", "agent", "parent"):
            setattr(self, name, getattr(self, name) or getattr(earlier, name))
        for name in ("items", "input_tokens", "output_tokens"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(earlier, name))
        if self.status == UNSEALED:
            self.status = earlier.status
        self._see(earlier.started_ns)
        self.ended_ns = max(self.ended_ns, earlier.ended_ns)
        self.facets |= earlier.facets

    def summary(self) -> RunSummary:
        """Returns what is known so far."""
        agents = self.names("agent")
        return RunSummary(
            run_id=self.run_id,
            trace_id=self.trace_id,
            group=self.group,
            workflow=self.workflow,
            agent=self.agent or (agents[0] if len(agents) == 1 else ""),
            agents=agents,
            tools=self.names("tool"),
            models=self.names("model"),
            status=self.status,
            started_ns=self.started_ns,
            ended_ns=self.ended_ns,
            items=self.items,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            parent=self.parent,
            nested=bool(self.parent),
        )

    def names(self, kind: str) -> tuple[str, ...]:
        """Returns the names of a kind, sorted."""
        return tuple(sorted(name for of, name in self.facets if of == kind))


def index_runs(rows: Iterable[SpanRow]) -> list[RunDraft]:
    """Returns a draft for each run that the rows tell of, in order of appearance."""
    drafts: dict[tuple[str, str], RunDraft] = {}
    workflows: dict[str, str] = {}
    for row in rows:
        run_id = run_of(row)
        if not run_id:
            named = text(row.attributes.get(WORKFLOW))
            if named:
                workflows.setdefault(row.trace_id, named)
            continue
        key = (row.trace_id, run_id)
        draft = drafts.get(key)
        if draft is None:
            draft = drafts[key] = RunDraft(*key)
        draft.add(row)
    for draft in drafts.values():
        draft.workflow = draft.workflow or workflows.get(draft.trace_id, "")
    return list(drafts.values())


def workflow_of(rows: Iterable[SpanRow]) -> str:
    """Returns the workflow's name, which stands on the root span of a trace; empty without one."""
    names = (text(row.attributes.get(WORKFLOW)) for row in rows)
    return next(filter(None, names), "")


def run_of(row: SpanRow) -> str:
    """Returns the id of the run that a span is of, empty for none.

    Few spans name their run in an attribute of its own; the others do in the ledger chunks on them.
    """
    named = row.attributes.get(RUN_ID)
    if named is not None:
        return text(named)
    for value in row.attributes.values():
        chunk: Any = cast("list[Any]", value)[0] if is_full_list(value) else value
        if type(chunk) is str and chunk[:2] == "it":
            found = HEADER.match(chunk)
            if found and found.group(1) != "trace":  # that one is about the whole trace
                return found.group(2)
    return ""


def is_full_list(value: object) -> bool:
    """Whether a value is an array that is not empty."""
    return type(value) is list and value != []


def selects_trace(
    query: Query, trace_id: str, start_ns: int, runs: Sequence[RunSummary]
) -> bool:
    """Whether a trace is what the query asks for; `limit` aside."""
    if query.trace_ids and trace_id not in query.trace_ids:
        return False
    if any(matches(run, query) for run in runs):
        return True
    return not query.about_runs and not runs and in_time(start_ns, query)


def text(value: Any) -> str:
    """Returns an attribute as text; empty for None."""
    return value if type(value) is str else "" if value is None else str(value)
