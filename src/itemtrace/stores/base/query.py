"""What can be asked of a store, and the line that it gives for a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from itemtrace import semconv


@dataclass(frozen=True, slots=True)
class Query:
    """Which runs are wanted; a trace is wanted when it holds such a run.

    A query without any criterion for runs (only `trace_ids`, times or `limit`) also selects traces
    that hold no run. Text is compared exactly.

    Attributes:
        trace_ids: Only these traces; empty for all.
        run_id: The run's id.
        group: The run's group id (`gen_ai.conversation.id`).
        agent: An agent that took part.
        tool: A tool that was called.
        status: The run's status, `unsealed` for a run without an end.
        model: A model that was asked or answered.
        since_ns: Runs that started at this time or later; traces without a run by their own start.
        until_ns: The same, before this time.
        limit: At most so many runs or traces, the newest.
    """

    trace_ids: tuple[str, ...] = ()
    run_id: str | None = None
    group: str | None = None
    agent: str | None = None
    tool: str | None = None
    status: str | None = None
    model: str | None = None
    since_ns: int | None = None
    until_ns: int | None = None
    limit: int | None = None

    @property
    def about_runs(self) -> bool:
        """Whether only traces with a certain run can match."""
        criteria = (
            self.run_id,
            self.group,
            self.agent,
            self.tool,
            self.status,
            self.model,
        )
        return any(value is not None for value in criteria)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a store knows of a run without rebuilding it, from the attributes of its spans.

    Attributes:
        run_id: The run's id.
        trace_id: The trace that it is in.
        group: The group id; empty when there is none.
        workflow: The workflow's name.
        agent: The agent that the run started with.
        agents: All agents seen, sorted.
        tools: All tools seen, sorted.
        models: All models seen, sorted.
        status: `completed`, `interrupted`, `failed`, `cancelled`; `unsealed` without an end.
        started_ns: Nanoseconds since the epoch; 0 when unknown.
        ended_ns: Latest time seen in the run.
        items: How many items the run made; None when it has no end.
        input_tokens: As `items`.
        output_tokens: As `items`.
        gaps: How many losses a rebuild found; None when nobody looked.
        parent: Id of the run that started a nested run, else empty.
        nested: Whether another run started it.
    """

    run_id: str
    trace_id: str
    group: str = ""
    workflow: str = ""
    agent: str = ""
    agents: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    status: str = "unsealed"
    started_ns: int = 0
    ended_ns: int = 0
    items: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    gaps: int | None = None
    parent: str = ""
    nested: bool = False


EVERYTHING: Final = Query()
"""The query that selects all."""


def matches(run: RunSummary, query: Query) -> bool:
    """Whether a run is what the query asks for; `limit` aside."""
    equal = (
        (query.run_id, run.run_id),
        (query.group, run.group),
        (query.status, run.status),
    )
    within = (
        (query.agent, run.agents),
        (query.tool, run.tools),
        (query.model, run.models),
    )
    return (
        (not query.trace_ids or run.trace_id in query.trace_ids)
        and all(asked is None or asked == value for asked, value in equal)
        and all(asked is None or asked in values for asked, values in within)
        and in_time(run.started_ns, query)
    )


def in_time(at_ns: int, query: Query) -> bool:
    """Whether a time is within the query's times."""
    return (query.since_ns is None or at_ns >= query.since_ns) and (
        query.until_ns is None or at_ns < query.until_ns
    )


CRITERIA: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("run_id", (semconv.ITEMTRACE_RUN_ID,)),
    ("group", (semconv.GEN_AI_CONVERSATION_ID,)),
    ("tool", (semconv.GEN_AI_TOOL_NAME,)),
    ("agent", (semconv.GEN_AI_AGENT_NAME,)),
    ("model", (semconv.GEN_AI_REQUEST_MODEL, semconv.GEN_AI_RESPONSE_MODEL)),
)
"""Fields of a query and the attributes of which one has the asked value, the narrowest first."""
