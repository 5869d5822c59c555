"""What `itemtrace stats` counts, one ledger at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from itemtrace.cli.safe import iso
from itemtrace.cli.sources import selects
from itemtrace.cli.views.as_json import usage_json
from itemtrace.ledger import Ledger, ModelCall, Run, Usage
from itemtrace.stores import Query


@dataclass
class Series:
    """Numbers of which only the extremes and the mean are kept."""

    count: int = 0
    total: float = 0
    least: float = 0
    most: float = 0

    def add(self, value: float) -> None:
        """Takes in a number."""
        self.least = min(self.least, value) if self.count else value
        self.most = max(self.most, value)
        self.count += 1
        self.total += value

    @property
    def mean(self) -> float:
        """The mean; 0 of nothing."""
        return self.total / self.count if self.count else 0.0

    def as_json(self) -> dict[str, Any]:
        """Returns the numbers for machines."""
        return {
            "count": self.count,
            "min": self.least,
            "max": self.most,
            "mean": self.mean,
        }


@dataclass
class Use:
    """How often something was called, and what that took."""

    calls: int = 0
    failed: int = 0
    seconds: Series = field(default_factory=Series)
    usage: Usage = field(default_factory=Usage)

    def add(self, seconds: float, *, failed: bool) -> None:
        """Takes in a call."""
        self.calls += 1
        self.failed += failed
        if seconds:
            self.seconds.add(seconds)

    def as_json(self) -> dict[str, Any]:
        """Returns the numbers for machines."""
        return {
            "calls": self.calls,
            "failed": self.failed,
            "seconds": self.seconds.as_json(),
        }


@dataclass
class Tally:
    """The sums of all ledgers so far."""

    traces: int = 0
    runs: int = 0
    nested: int = 0
    first_ns: int = 0
    last_ns: int = 0
    usage: Usage = field(default_factory=Usage)
    turns: Series = field(default_factory=Series)
    status: Counter[str] = field(default_factory=Counter[str])
    items: Counter[str] = field(default_factory=Counter[str])
    handoffs: Counter[str] = field(default_factory=Counter[str])
    approvals: Counter[str] = field(default_factory=Counter[str])
    tripwires: Counter[str] = field(default_factory=Counter[str])
    gaps: Counter[str] = field(default_factory=Counter[str])
    tools: dict[str, Use] = field(default_factory=dict[str, Use])
    agents: dict[str, Use] = field(default_factory=dict[str, Use])
    models: dict[str, Use] = field(default_factory=dict[str, Use])

    def add(self, ledger: Ledger, query: Query) -> None:
        """Takes in the runs of a ledger that a query selects."""
        runs = [run for run in ledger.all_runs() if selects(query, run)]
        self.traces += bool(runs)
        for run in runs:
            self.add_run(run)
        self.gaps.update(str(gap.cause) for gap in ledger.own_gaps)

    def add_run(self, run: Run) -> None:
        """Takes in a run; its nested runs are others."""
        self.runs += 1
        self.nested += run.nested
        self.status[run.status] += 1
        if run.started_ns:
            self.first_ns = min(self.first_ns or run.started_ns, run.started_ns)
            self.last_ns = max(self.last_ns, run.started_ns)
        recalled = {call.n for call in run.model_calls if call.recalled}
        outputs = {i.call_id for i in run.new_items if i.call in recalled and i.call_id}
        self.items.update(
            item.type
            for item in run.new_items
            if not item.lost
            and item.call not in recalled
            and not (item.call is None and item.call_id in outputs)
        )
        self.gaps.update(str(gap.cause) for gap in run.own_gaps)
        self.turns.add(len(run.turns))
        for call in run.model_calls:
            if not call.recalled:
                self.add_call(call)
        self.add_tools(run, recalled)

    def add_call(self, call: ModelCall) -> None:
        """Takes in a model call."""
        usage = call.response.usage if call.response else Usage()
        model = call.model or (call.response.model if call.response else None)
        for by, name in ((self.agents, call.agent), (self.models, model)):
            use = by.setdefault(name or "-", Use())
            use.add(call.duration, failed=call.error is not None)
            use.usage += usage
        self.usage += usage

    def add_tools(self, run: Run, recalled: set[int]) -> None:
        """Takes in tool calls, handoffs, approvals and tripwires."""
        for tool in run.tool_calls:
            if tool.call is None or tool.call.call not in recalled or tool.duration:
                use = self.tools.setdefault(tool.name or "-", Use())
                use.add(tool.duration, failed=tool.status == "failed")
        self.handoffs.update(
            f"{h.source} → {h.target}"
            for h in run.handoffs
            if h.call.call not in recalled and h.target
        )
        self.approvals.update(approval.decision for approval in run.approvals)
        for kind in ("input", "output", "tool_input", "tool_output"):
            found = getattr(run, f"{kind}_guardrail_results")
            self.tripwires.update(result.name for result in found if result.tripwire)

    def as_json(self) -> dict[str, Any]:
        """Returns the sums for machines."""
        return {
            "traces": self.traces,
            "runs": self.runs,
            "nested_runs": self.nested,
            "first": iso(self.first_ns),
            "last": iso(self.last_ns),
            "status": dict(self.status),
            "turns": self.turns.as_json(),
            "usage": usage_json(self.usage),
            "items": dict(self.items),
            "tools": {name: use.as_json() for name, use in self.tools.items()},
            "agents": by_name(self.agents),
            "models": by_name(self.models),
            "handoffs": dict(self.handoffs),
            "approvals": dict(self.approvals),
            "tripwires": dict(self.tripwires),
            "gaps": dict(self.gaps),
        }


def by_name(uses: dict[str, Use]) -> dict[str, Any]:
    """Returns uses with their tokens for machines."""
    return {
        n: {**use.as_json(), "usage": usage_json(use.usage)} for n, use in uses.items()
    }
