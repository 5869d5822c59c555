"""Every panel of every dashboard, on a real Prometheus: it is not empty, and it says what the ledgers say."""

import math
from collections import Counter, defaultdict

import pytest

from itemtrace import semconv
from itemtrace.capture.metrics import read_prices
from itemtrace.rebuild import rebuild


def by(pairs, *keys):
    """Adds up values by attributes: `(values of the keys, value)` pairs."""
    found = defaultdict(float)
    for values, value in pairs:
        named = zip(keys, values, strict=True)
        labels = {key.replace(".", "_"): str(of) for key, of in named if of}
        found[frozenset(labels.items())] += value
    return dict(found)


def ratio(some, whole):
    """Divides what has the same labels."""
    return {labels: some[labels] / whole[labels] for labels in some}


AGENT, MODEL, TOOL = "gen_ai.agent.name", "gen_ai.request.model", "gen_ai.tool.name"


class Truth:
    """What the ledgers say of the time that Prometheus saw."""

    def __init__(self, window):
        self.window = window
        self.runs = window.runs()
        self.calls = [
            call for run in self.runs for call in run.model_calls if not call.recalled
        ]
        self.rows = window.rows
        self.records = window.records()
        self.types = {
            (run.run_id, seq): body.get("type") or "unknown"
            for run in self.runs
            for seq, body in run.bodies("item")
        }

    def usages(self):
        """Gives each answered call with its tokens by kind."""
        for call in self.calls:
            if call.response is not None:
                used = call.response.usage
                yield (
                    call,
                    {
                        "input": used.input_tokens,
                        "output": used.output_tokens,
                        "cache_read": used.cached_tokens,
                    },
                )

    def costs(self):
        """Gives each answered call with its price."""
        prices = read_prices(self.window.prices)
        for call, used in self.usages():
            yield call, prices.cost(call.model, used)

    def named(self, operation):
        """Returns the spans of an operation that took place."""
        return [
            row
            for row in self.rows
            if row.attributes.get("gen_ai.operation.name") == operation
            and row.attributes.get("itemtrace.tool.executed") is not False
        ]

    def parent_agent(self, row):
        """Returns the agent that a span is below of."""
        spans = {one.span_id: one for one in self.rows}
        while row.attributes.get("gen_ai.operation.name") != "invoke_agent":
            row = spans[row.parent_id]
        return row.attributes[AGENT]

    def agents(self):
        """Returns how often each agent was at work."""
        return by(
            [((row.attributes[AGENT],), 1) for row in self.named("invoke_agent")], AGENT
        )

    def handoffs(self):
        """Gives the handoffs; a resumed run shows those of its first part again."""
        for run in self.runs:
            if run.resumed is None:
                yield from run.handoffs

    def approvals(self, runs):
        """Gives what was asked for and decided."""
        for run in runs:
            for item in run.interruptions:
                yield item.tool_name, "requested"
            for one in run.approvals:
                if one.decision != "pending":
                    yield one.tool, one.decision

    def guardrails(self):
        """Gives name and outcome of each check, from its span."""
        for row in self.rows:
            if "itemtrace.guardrail.name" in row.attributes:
                tripped = row.attributes["itemtrace.guardrail.triggered"]
                yield (
                    row.attributes["itemtrace.guardrail.name"],
                    str(tripped).lower(),
                )

    def sizes(self):
        """Gives kind, type and size of each record."""
        for key, (kind, size) in self.records.items():
            yield kind, self.types[key] if kind == "item" else None, size


def per_second(window, found):
    """Turns counts into rates."""
    return {labels: count / window.seconds for labels, count in found.items()}


def fleet(truth):
    """What the panels of the fleet show."""
    runs, window = truth.runs, truth.window
    tokens = [
        (call, used["input"] + used["output"], used) for call, used in truth.usages()
    ]
    attempts = [
        ((call.agent, call.model), len(call.attempts))
        for call in truth.calls
        if call.attempts
    ]
    errors = [
        ((call.model,), len(call.attempts) + bool(call.error)) for call in truth.calls
    ]
    failed = sum(run.status == "failed" for run in runs)
    into = sum(used["input"] for _, _, used in tokens)
    cached = sum(used["cache_read"] for _, _, used in tokens)
    nothing = frozenset()
    return {
        "Runs": {nothing: len(runs)},
        "Failed": {nothing: failed / len(runs)},
        "Tokens": {nothing: sum(count for _, count, _ in tokens)},
        "Cost": by(
            [(("EUR",), cost) for _, cost in truth.costs()], "itemtrace.cost.currency"
        ),
        "Cache share": {nothing: cached / into},
        "Model calls": {nothing: sum(1 + len(call.attempts) for call in truth.calls)},
        "Runs by outcome": per_second(
            window, by([((run.status,), 1) for run in runs], "itemtrace.run.status")
        ),
        "Runs by agent": per_second(
            window, by([((run.agent,), 1) for run in runs], AGENT)
        ),
        "Tokens by agent and model": per_second(
            window,
            by(
                [((call.agent, call.model), count) for call, count, _ in tokens],
                *(AGENT, MODEL),
            ),
        ),
        "Cost by agent and model": per_second(
            window,
            by(
                [((c.agent, c.model, "EUR"), cost) for c, cost in truth.costs()],
                *(AGENT, MODEL, "itemtrace.cost.currency"),
            ),
        ),
        "Model errors": per_second(
            window, by([pair for pair in errors if pair[1]], MODEL)
        ),
        "Retries": per_second(window, by(attempts, AGENT, MODEL)),
    }


def agents(truth):
    """What the panels of agents and tools show."""
    runs, window = truth.runs, truth.window
    started = by([((run.agent,), 1) for run in runs], AGENT)
    turns = by([((run.agent,), len(run.turns)) for run in runs], AGENT)
    calls = by([((c.agent,), 1 + len(c.attempts)) for c in truth.calls], AGENT)
    ran = truth.named("execute_tool")
    below = dict.fromkeys(truth.agents(), 0.0)
    below |= by([((truth.parent_agent(row),), 1) for row in ran], AGENT)
    tools = by([((row.attributes[TOOL],), 1) for row in ran], TOOL)
    wrong = [row for row in ran if row.status == "ERROR"]
    checks = list(truth.guardrails())
    decided = [(pair, 1) for pair in truth.approvals(runs)]
    before = list(rebuild(window.before).all_runs())
    waiting = [
        ((tool,), 1 if decision == "requested" else -1)
        for tool, decision in truth.approvals([*before, *runs])
    ]
    return {
        "Turns per run": ratio(turns, started),
        "Model calls per agent's work": {
            labels: calls.get(labels, 0) / count
            for labels, count in truth.agents().items()
        },
        "Tools per agent's work": ratio(below, truth.agents()),
        "Tool calls": per_second(window, tools),
        "Tool error share": ratio(
            by([((row.attributes[TOOL],), 1) for row in wrong], TOOL), tools
        ),
        "Handoffs": by(
            [((one.source, one.target), 1) for one in truth.handoffs()],
            semconv.ITEMTRACE_HANDOFF_FROM_AGENT,
            semconv.ITEMTRACE_HANDOFF_TO_AGENT,
        ),
        "Guardrails": by(
            [(check, 1) for check in checks],
            semconv.ITEMTRACE_GUARDRAIL_NAME,
            semconv.ITEMTRACE_GUARDRAIL_TRIGGERED,
        ),
        "Tripped": {
            frozenset(): sum(found == "true" for _, found in checks) / len(checks)
        },
        "Approvals waiting": by(waiting, TOOL),
        "Approvals": by(decided, TOOL, "itemtrace.approval.decision"),
    }


def ledger(truth):
    """What the panels of the ledger's health show."""
    runs, window = truth.runs, truth.window
    gaps = Counter(gap.cause.value for run in runs for gap in run.gaps)
    sizes = list(truth.sizes())
    items = [item for run in runs for item in run.new_items]
    refused, all_rows = window.refused, len(window.rows)
    nothing = frozenset()
    return {
        "Records": {nothing: sum(run.seal["records"] + 1 for run in runs)},
        "Bytes per run": {nothing: sum(size for *_, size in sizes) / len(runs)},
        "Gaps": {nothing: gaps.total()},
        "Spans refused": {nothing: refused / all_rows},
        "Failures": {nothing: window.failures.total()},
        "Items per run": {nothing: len(items) / len(runs)},
        "Records by kind": per_second(
            window, by([((kind,), 1) for kind, *_ in sizes], "itemtrace.record.kind")
        ),
        "Ledger bytes by kind and item type": per_second(
            window,
            by(
                [((kind, type_), size) for kind, type_, size in sizes],
                *("itemtrace.record.kind", "itemtrace.item.type"),
            ),
        ),
        "Items by type": per_second(
            window, by([((item.type,), 1) for item in items], "itemtrace.item.type")
        ),
        "Gaps by cause": per_second(
            window,
            by([((cause,), n) for cause, n in gaps.items()], "itemtrace.gap.cause"),
        ),
        "Spans by sink": per_second(
            window,
            by(
                [
                    (("store", "refused"), refused),
                    (("store", "taken"), all_rows - refused),
                ],
                *("itemtrace.sink", "itemtrace.sink.outcome"),
            ),
        ),
        "Failures by place": per_second(
            window,
            by(
                [((place,), n) for place, n in window.failures.items()],
                "itemtrace.failure.place",
            ),
        ),
    }


LATENCIES = {
    "Run duration": set(),
    "Model call p95": {MODEL},
    "Agent's work p95": {AGENT},
    "Turn p95": {AGENT},
    "Workflow p95": {"gen_ai.workflow.name"},
    "Tool p95": {TOOL},
    "Approval wait p95": {TOOL},
}
"""Panels whose values are times, with the labels that tell their series apart."""


@pytest.fixture(scope="session")
def truth(window):
    """Gives what the ledgers say."""
    return Truth(window)


def panels(tools, uid):
    """Returns the panels of a dashboard that Prometheus answers."""
    boards, _ = tools
    board = next(one for one in boards.BOARDS if one.uid == uid)
    return [panel for _, row in board.rows for panel in row]


@pytest.mark.parametrize(
    ("uid", "expected"),
    [
        ("itemtrace-fleet", fleet),
        ("itemtrace-agents", agents),
        ("itemtrace-ledger", ledger),
    ],
)
def test_panels_say_what_the_ledgers_say(uid, expected, truth, window, tools):
    """Every panel has series, with the labels and values that the ledgers give."""
    wanted = expected(truth)
    wrong = {}
    for panel in panels(tools, uid):
        for query in panel.queries:
            found = window.ask(query.expr)
            assert found, (panel.title, query.expr)
            if panel.title in LATENCIES:
                labels = {key.replace(".", "_") for key in LATENCIES[panel.title]}
                assert {key for of in found for key, _ in of} == labels, panel.title
                assert all(0 < value < 60 for value in found.values()), (
                    panel.title,
                    found,
                )
                continue
            if panel.title == "Model errors":  # the ledger has no class of the error
                found = by(
                    [
                        ((dict(of)["gen_ai_request_model"],), n)
                        for of, n in found.items()
                    ],
                    MODEL,
                )
            # a series that did not grow is at 0 or not a number
            found = {of: n for of, n in found.items() if not math.isnan(n)}
            if found != pytest.approx(wanted[panel.title], rel=2e-3):
                wrong[panel.title] = (found, wanted[panel.title])
    assert wrong == {}
    titles = {panel.title for panel in panels(tools, uid)}
    assert titles == set(wanted) | (titles & set(LATENCIES))
