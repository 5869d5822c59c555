"""What the Grafana dashboards show: panels and their queries, by the names of the registry.

`dashboards.py` makes Grafana's JSON of it; the tests evaluate every query against a real Prometheus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from itemtrace import semconv
from itemtrace import semconv_metrics as names


if TYPE_CHECKING:
    from itemtrace.semconv_metrics import Metric


SUFFIXES: Final = {"s": "_seconds", "By": "_bytes"}
HERE: Final = 'job=~"$job", instance=~"$instance"'
"""What every query is narrowed by."""

RATE: Final = "$__rate_interval"
RANGE: Final = "$__range"


@dataclass(frozen=True)
class Query:
    """One query of a panel, PromQL or TraceQL, and how its series are called."""

    expr: str
    legend: str = ""


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        title: As it is shown.
        description: What it tells, and what to do about it.
        kind: `stat`, `timeseries`, `table`, `text`, `traces` or `spans`.
        unit: Grafana's name of the unit.
        queries: In order; the text of a `text` panel is its only one.
        width: Of 24 columns.
    """

    title: str
    description: str
    kind: str
    unit: str
    queries: tuple[Query, ...]
    width: int = 8


@dataclass(frozen=True)
class Board:
    """One dashboard: rows of panels."""

    uid: str
    title: str
    description: str
    rows: tuple[tuple[str, tuple[Panel, ...]], ...]


def prometheus(metric: Metric, part: str = "") -> str:
    """Returns the name of a metric in Prometheus; `part` is `bucket`, `count` or `sum`."""
    name = metric.name.replace(".", "_") + SUFFIXES.get(metric.unit, "")
    if "counter" in metric.instrument and metric.instrument != "updowncounter":
        return f"{name}_total"
    return f"{name}_{part}" if part else name


def label(key: str) -> str:
    """Returns an attribute key as Prometheus has it."""
    return key.replace(".", "_")


def _series(metric: Metric, part: str, match: str) -> str:
    return f"{prometheus(metric, part)}{{{HERE}{', ' + match if match else ''}}}"


def _sum(by: tuple[str, ...], inner: str) -> str:
    keys = ", ".join(label(key) for key in by)
    return f"sum by ({keys}) ({inner})" if by else f"sum({inner})"


def grown(metric: Metric, *by: str, part: str = "", match: str = "") -> str:
    """How much was counted in the time that is shown."""
    return _sum(by, f"increase({_series(metric, part, match)}[{RANGE}])")


def rate(metric: Metric, *by: str, part: str = "", match: str = "") -> str:
    """How much is counted in a second."""
    return _sum(by, f"rate({_series(metric, part, match)}[{RATE}])")


def mean(metric: Metric, *by: str) -> str:
    """The mean of a histogram."""
    return f"{rate(metric, *by, part='sum')} / {rate(metric, *by, part='count')}"


def quantile(share: float, metric: Metric, *by: str) -> str:
    """A quantile of a histogram."""
    return f"histogram_quantile({share}, {rate(metric, 'le', *by, part='bucket')})"


def named(*keys: str) -> str:
    """The legend of series that are told apart by some keys."""
    return " · ".join(f"{{{{{label(key)}}}}}" for key in keys)


AGENT: Final = str(semconv.GEN_AI_AGENT_NAME)
MODEL: Final = str(semconv.GEN_AI_REQUEST_MODEL)
TOOL: Final = str(semconv.GEN_AI_TOOL_NAME)
STATUS: Final = str(semconv.ITEMTRACE_RUN_STATUS)
ERROR: Final = str(semconv.ERROR_TYPE)
FROM: Final = str(semconv.ITEMTRACE_HANDOFF_FROM_AGENT)
TO: Final = str(semconv.ITEMTRACE_HANDOFF_TO_AGENT)
GUARDRAIL: Final = str(semconv.ITEMTRACE_GUARDRAIL_NAME)

FAILED: Final = f'{label(STATUS)}="failed"'
WRONG: Final = f'{label(ERROR)}!=""'
BOTH: Final = f'{label(names.TOKEN_TYPE)}=~"input|output"'
INPUT: Final = f'{label(names.TOKEN_TYPE)}="input"'
CACHED: Final = f'{label(names.TOKEN_TYPE)}="cache_read"'
TRIPPED: Final = f'{label(semconv.ITEMTRACE_GUARDRAIL_TRIGGERED)}="true"'
REFUSED: Final = f'{label(names.SINK_OUTCOME)}="refused"'


def share(metric: Metric, match: str, of: str = "", part: str = "") -> str:
    """The share of some series in all of a metric; 0 where there are none of them."""
    some = grown(metric, match=match, part=part)
    return f"({some} or vector(0)) / {grown(metric, match=of, part=part)}"


def _stat(
    title: str, description: str, unit: str, expr: str, legend: str = ""
) -> Panel:
    return Panel(title, description, "stat", unit, (Query(expr, legend),), 4)


def _lines(
    title: str, description: str, unit: str, expr: str, *keys: str, width: int = 8
) -> Panel:
    query = Query(expr, named(*keys))
    return Panel(title, description, "timeseries", unit, (query,), width)


def _quantiles(title: str, description: str, metric: Metric) -> Panel:
    queries = tuple(
        Query(quantile(number, metric), f"p{number * 100:g}")
        for number in (0.5, 0.95, 0.99)
    )
    return Panel(title, description, "timeseries", "s", queries)


FLEET: Final = Board(
    "itemtrace-fleet",
    "itemtrace / Fleet",
    "All runs of the Agents SDK: how many, how they end, how long they take, what they use.",
    (
        (
            "Now",
            (
                _stat("Runs", "Runs that ended in the time that is shown, nested ones among them.",
                      "short", grown(names.RUNS)),
                _stat("Failed", "Share of the runs that ended with an exception.",
                      "percentunit", share(names.RUNS, FAILED)),
                _stat("Tokens", "Input and output tokens.",
                      "short", grown(names.TOKENS_BY_AGENT, match=BOTH)),
                _stat("Cost", "Money by your price table; empty without one (docs/metrics.md).",
                      "short", grown(names.COST, names.COST_CURRENCY), named(names.COST_CURRENCY)),
                _stat("Cache share", "Share of the input tokens that the provider had in its cache.",
                      "percentunit", share(names.TOKENS_BY_AGENT, CACHED, INPUT)),
                _stat("Model calls", "Calls of models, failed ones among them.",
                      "short", grown(names.INFERENCE_DURATION, part="count")),
            ),
        ),
        (
            "Runs",
            (
                _lines("Runs by outcome", "Runs in a second. `interrupted` runs wait for an approval.",
                       "reqps", rate(names.RUNS, STATUS), STATUS),
                _lines("Runs by agent", "Runs in a second, by the agent that starts them.",
                       "reqps", rate(names.RUNS, AGENT), AGENT),
                _quantiles("Run duration", "How long runs take; the waiting for approvals is not "
                           "among it, since a resumed run is another one.", names.RUN_DURATION),
            ),
        ),
        (
            "Tokens and money",
            (
                _lines("Tokens by agent and model", "Input and output tokens in a second.", "short",
                       rate(names.TOKENS_BY_AGENT, AGENT, MODEL, match=BOTH), AGENT, MODEL, width=12),
                _lines("Cost by agent and model", "Money in a second, by your price table.", "short",
                       rate(names.COST, AGENT, MODEL, names.COST_CURRENCY),
                       AGENT, MODEL, names.COST_CURRENCY, width=12),
            ),
        ),
        (
            "Models",
            (
                _lines("Model call p95", "How long 95 of 100 calls of a model take at most.", "s",
                       quantile(0.95, names.INFERENCE_DURATION, MODEL), MODEL, width=8),
                _lines("Model errors", "Calls that failed, in a second.", "reqps",
                       rate(names.INFERENCE_DURATION, MODEL, ERROR, part="count", match=WRONG),
                       MODEL, ERROR, width=8),
                _lines("Retries", "Attempts that failed and were made again, in a second.", "reqps",
                       rate(names.RETRIES, AGENT, MODEL), AGENT, MODEL, width=8),
            ),
        ),
    ),
)  # fmt: skip

AGENTS: Final = Board(
    "itemtrace-agents",
    "itemtrace / Agents and tools",
    "Which agent loops, which tool fails, who hands over to whom, what waits for a person.",
    (
        (
            "Agents",
            (
                _lines("Turns per run", "The mean, by the agent that starts the run. A rise is a loop.",
                       "short", mean(names.RUN_TURNS, AGENT), AGENT, width=6),
                _lines("Model calls per agent's work", "The mean; those of sub-agents not among them.",
                       "short", mean(names.INVOKE_AGENT_INFERENCE_CALLS, AGENT), AGENT, width=6),
                _lines("Tools per agent's work", "The mean; those of sub-agents not among them.",
                       "short", mean(names.INVOKE_AGENT_TOOL_CALLS, AGENT), AGENT, width=6),
                _lines("Agent's work p95", "How long an agent is at work until it answers or hands over.",
                       "s", quantile(0.95, names.INVOKE_AGENT_DURATION, AGENT), AGENT, width=6),
                _lines("Turn p95", "How long a turn takes: the model call and its tools.",
                       "s", quantile(0.95, names.TURN_DURATION, AGENT), AGENT, width=12),
                _lines("Workflow p95", "How long a trace takes from its first to its last run.",
                       "s", quantile(0.95, names.INVOKE_WORKFLOW_DURATION, str(semconv.GEN_AI_WORKFLOW_NAME)),
                       str(semconv.GEN_AI_WORKFLOW_NAME), width=12),
            ),
        ),
        (
            "Tools",
            (
                _lines("Tool calls", "Tools that ran, in a second.", "reqps",
                       rate(names.EXECUTE_TOOL_DURATION, TOOL, part="count"), TOOL),
                _lines("Tool error share", "Share of a tool's calls that failed. Tools without a failed "
                       "call are not shown.", "percentunit",
                       f"{rate(names.EXECUTE_TOOL_DURATION, TOOL, part='count', match=WRONG)} / "
                       f"{rate(names.EXECUTE_TOOL_DURATION, TOOL, part='count')}", TOOL),
                _lines("Tool p95", "How long 95 of 100 calls of a tool take at most.", "s",
                       quantile(0.95, names.EXECUTE_TOOL_DURATION, TOOL), TOOL),
            ),
        ),
        (
            "Handoffs and guardrails",
            (
                Panel("Handoffs", "Who handed over to whom, in the time that is shown.", "table", "short",
                      (Query(grown(names.HANDOFFS, FROM, TO)),), 12),
                Panel("Guardrails", "Checks by guardrails, and how many tripped.", "table", "short",
                      (Query(grown(names.GUARDRAIL_CHECKS, GUARDRAIL, str(semconv.ITEMTRACE_GUARDRAIL_TRIGGERED))),), 6),
                _stat("Tripped", "Share of the checks that ended a run.", "percentunit",
                      share(names.GUARDRAIL_CHECKS, TRIPPED)),
            ),
        ),
        (
            "Approvals",
            (
                _lines("Approvals waiting", "Asked for and not decided, by tool: the sum over all processes. "
                       "A process that ends takes its part with it.", "short",
                       _sum((TOOL,), _series(names.APPROVALS_WAITING, "", "")), TOOL),
                Panel("Approvals", "Asked for, granted and refused in the time that is shown.", "table", "short",
                      (Query(grown(names.APPROVALS, TOOL, names.APPROVAL_DECISION)),), 8),
                _lines("Approval wait p95", "How long people take; known where one process asked and resumed.",
                       "s", quantile(0.95, names.APPROVAL_WAIT, TOOL), TOOL),
            ),
        ),
    ),
)  # fmt: skip

LEDGER: Final = Board(
    "itemtrace-ledger",
    "itemtrace / Ledger health",
    "Whether the ledgers are whole: what was recorded, what was not, and what sinks refused.",
    (
        (
            "Now",
            (
                _stat("Records", "Records of ledgers that were made.", "short", grown(names.RECORDS)),
                _stat("Bytes per run", "Bytes of records, by run.", "bytes",
                      f"{grown(names.RECORD_SIZE)} / {grown(names.RUNS)}"),
                _stat("Gaps", "Gaps that are known when a run ends. Withheld and redacted content is "
                      "meant to be; `not captured` is not.", "short",
                      f"{grown(names.GAPS)} or vector(0)"),
                _stat("Spans refused", "Share of the spans that a sink refused: they are lost.",
                      "percentunit", share(names.SINK_SPANS, REFUSED)),
                _stat("Failures", "What itemtrace itself could not do; the log has the cause.", "short",
                      f"{grown(names.FAILURES)} or vector(0)"),
                _stat("Items per run", "The mean.", "short",
                      f"{grown(names.RUN_ITEMS, part='sum')} / {grown(names.RUN_ITEMS, part='count')}"),
            ),
        ),
        (
            "What was recorded",
            (
                _lines("Records by kind", "In a second.", "short",
                       rate(names.RECORDS, names.RECORD_KIND), names.RECORD_KIND),
                _lines("Ledger bytes by kind and item type", "Bytes in a second: what makes traces large.",
                       "Bps", rate(names.RECORD_SIZE, names.RECORD_KIND, names.ITEM_TYPE),
                       names.RECORD_KIND, names.ITEM_TYPE),
                _lines("Items by type", "Items of results, in a second.", "short",
                       rate(names.ITEMS_BY_TYPE, names.ITEM_TYPE), names.ITEM_TYPE),
            ),
        ),
        (
            "What was not",
            (
                _lines("Gaps by cause", "In a second.", "short",
                       rate(names.GAPS, names.GAP_CAUSE), names.GAP_CAUSE),
                _lines("Spans by sink", "Spans in a second that sinks took and refused.", "short",
                       rate(names.SINK_SPANS, names.SINK, names.SINK_OUTCOME),
                       names.SINK, names.SINK_OUTCOME),
                _lines("Failures by place", "In a second.", "short",
                       rate(names.FAILURES, names.FAILURE_PLACE), names.FAILURE_PLACE),
            ),
        ),
    ),
)  # fmt: skip

HOW: Final = """The same run in a terminal, with all its content:

```
itemtrace show tempo://HOST:3200 $trace
itemtrace show jaeger://HOST:16686 $trace
itemtrace replay tempo://HOST:3200 $trace app:agent
```

Nothing below? Choose a trace by its id, or find one in the list."""

RUN: Final = Board(
    "itemtrace-run",
    "itemtrace / Run",
    "One trace: its spans and its items, from Tempo or Jaeger. The other dashboards need neither.",
    (
        (
            "Find",
            (
                Panel("Latest runs", "Ends of runs, with status, items and tokens.", "spans", "short",
                      (Query('{ name = "run_end" && span.itemtrace.run.id != nil } | select('
                             "span.gen_ai.agent.name, span.itemtrace.run.status, "
                             "span.itemtrace.run.items, span.itemtrace.usage.total_tokens)"),), 16),
                Panel("In a terminal", "The commands for this trace.", "text", "short", (Query(HOW),), 8),
            ),
        ),
        (
            "Trace",
            (
                Panel("Items", "What the run's model calls and tools gave, span by span.", "spans", "short",
                      (Query('{ trace:id = "$trace" && span.gen_ai.operation.name != nil } | select('
                             "span.gen_ai.operation.name, span.gen_ai.agent.name, span.gen_ai.tool.name, "
                             "span.gen_ai.request.model, span.gen_ai.usage.output_tokens)"),), 24),
                Panel("Tempo", "The trace in Tempo.", "traces", "short", (Query("$trace"),), 24),
                Panel("Jaeger", "The same trace, where Jaeger keeps it.", "jaeger", "short",
                      (Query("$trace"),), 24),
            ),
        ),
    ),
)  # fmt: skip

BOARDS: Final = (FLEET, AGENTS, LEDGER, RUN)
