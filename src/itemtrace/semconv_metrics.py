"""Every metric that itemtrace emits, with its unit, attributes and buckets.

`itemtrace.capture.metrics` makes the instruments from this registry, `docs/metrics.md` and the
dashboards are generated from it. Attributes that spans have too are those of `itemtrace.semconv`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from itemtrace import semconv


Instrument = Literal["counter", "histogram", "updowncounter", "observable_counter"]

# The buckets that the conventions advise, and in their manner those for our own.
SECONDS: Final = tuple(0.01 * 2**n for n in range(14))
TOKENS: Final = tuple(float(4**n) for n in range(14))
AGENT_SECONDS: Final = tuple(0.1 * 2**n for n in range(13))
WORKFLOW_SECONDS: Final = (
    1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0,
)  # fmt: skip
CALLS: Final = tuple(float(2**n) for n in range(8))
ITEMS: Final = tuple(float(2**n) for n in range(13))
WAIT_SECONDS: Final = (
    1.0, 10.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 43_200.0, 86_400.0, 259_200.0,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        name: As OpenTelemetry has it.
        instrument: Its kind.
        unit: UCUM, or an annotation in braces.
        brief: What is measured.
        attributes: Keys that a point may have.
        buckets: Advised bucket boundaries of a histogram.
        source: The convention it comes from.
        compat: Only emitted with `compat=True`.
    """

    name: str
    instrument: Instrument
    unit: str
    brief: str
    attributes: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    source: str = semconv.OURS
    compat: bool = False


METRICS: Final[dict[str, Metric]] = {}
"""Every metric that may be emitted, by name."""

ATTRIBUTES: Final[dict[str, str]] = {}
"""Attribute keys that only metrics have -> what the value is."""


def _attribute(name: str, brief: str) -> str:
    ATTRIBUTES[name] = brief
    return name


def _metric(metric: Metric) -> Metric:
    return METRICS.setdefault(metric.name, metric)


def _genai(  # noqa: PLR0913 - the columns of a table
    name: str,
    instrument: Instrument,
    unit: str,
    attributes: tuple[str, ...],
    buckets: tuple[float, ...],
    brief: str,
    *,
    compat: bool = False,
) -> Metric:
    source = semconv.GENAI
    full = f"gen_ai.{name}"
    return _metric(
        Metric(full, instrument, unit, brief, attributes, buckets, source, compat)
    )


def _ours(
    name: str,
    instrument: Instrument,
    unit: str,
    attributes: tuple[str, ...],
    brief: str,
    buckets: tuple[float, ...] = (),
) -> Metric:
    full = f"itemtrace.{name}"
    return _metric(Metric(full, instrument, unit, brief, attributes, buckets))


# --- attributes that only metrics have ----------------------------------------------------

TOKEN_MODALITY = _attribute(
    "gen_ai.token.modality", "`unknown`: the SDK's usage does not say it."
)
TOKEN_TYPE = _attribute(
    "gen_ai.token.type",
    "`input` or `output`; on `itemtrace.tokens` also `cache_read` and `cache_write`, which are parts "
    "of `input`, and `reasoning`, a part of `output`.",
)
RUN_NESTED = _attribute(
    "itemtrace.run.nested", "Whether a tool of another run started the run."
)
ITEM_TYPE = _attribute("itemtrace.item.type", "The SDK's type of a run item.")
APPROVAL_DECISION = _attribute(
    "itemtrace.approval.decision", "`requested`, `approved` or `rejected`."
)
COST_CURRENCY = _attribute(
    "itemtrace.cost.currency", "The price table's currency, such as `EUR`."
)
RECORD_KIND = _attribute(
    "itemtrace.record.kind", "Kind of a record of the ledger (docs/format.md)."
)
GAP_CAUSE = _attribute("itemtrace.gap.cause", "Why a ledger lacks something.")
SINK = _attribute("itemtrace.sink", "`otlp`, `store` or the exporter's class.")
SINK_OUTCOME = _attribute("itemtrace.sink.outcome", "`taken` or `refused`.")
FAILURE_PLACE = _attribute(
    "itemtrace.failure.place", "Where, as `itemtrace.health()` names it."
)
TRACE_METADATA = _attribute(
    "itemtrace.trace.metadata.",
    "Prefix; a key of the trace's metadata that `ITEMTRACE_METRICS_METADATA` allows follows.",
)

_AGENT = str(semconv.GEN_AI_AGENT_NAME)
_MODEL = str(semconv.GEN_AI_REQUEST_MODEL)
_TOOL = str(semconv.GEN_AI_TOOL_NAME)
_ERROR = str(semconv.ERROR_TYPE)
_STATUS = str(semconv.ITEMTRACE_RUN_STATUS)
_WORKFLOW = str(semconv.GEN_AI_WORKFLOW_NAME)
_CALL = tuple(
    str(key)
    for key in (
        semconv.GEN_AI_OPERATION_NAME,
        semconv.GEN_AI_PROVIDER_NAME,
        semconv.GEN_AI_REQUEST_MODEL,
        semconv.GEN_AI_RESPONSE_MODEL,
        semconv.SERVER_ADDRESS,
        semconv.SERVER_PORT,
    )
)

# --- what the conventions have ------------------------------------------------------------

INFERENCE_DURATION = _genai(
    "client.inference.duration", "histogram", "s", (*_CALL, _ERROR), SECONDS,
    "How long a model call took.",
)  # fmt: skip
TIME_TO_FIRST_CHUNK = _genai(
    "client.inference.time_to_first_chunk", "histogram", "s", _CALL, SECONDS,
    "How long the first chunk of a streamed answer took.",
)  # fmt: skip
USAGE: Final[dict[str, Metric]] = {
    kind: _genai(
        f"client.inference.usage.{kind}", "counter", "{token}", (*_CALL, TOKEN_MODALITY), (), brief,
    )
    for kind, brief in (
        ("input_tokens", "Tokens of the input, cached ones among them."),
        ("output_tokens", "Tokens of the output, reasoning among them."),
        ("cache_read.input_tokens", "Input tokens that the provider had in its cache."),
        ("cache_write.input_tokens", "Input tokens that were written to its cache."),
        ("reasoning.output_tokens", "Output tokens of reasoning."),
    )
}  # fmt: skip
"""Kind of tokens -> the counter of them."""
OPERATION_INPUT_TOKENS = _genai(
    "client.inference.operation.input_tokens", "histogram", "{token}", _CALL, TOKENS,
    "Input tokens of a model call.",
)  # fmt: skip
OPERATION_OUTPUT_TOKENS = _genai(
    "client.inference.operation.output_tokens", "histogram", "{token}", _CALL, TOKENS,
    "Output tokens of a model call.",
)  # fmt: skip
INVOKE_AGENT_DURATION = _genai(
    "invoke_agent.duration", "histogram", "s", (_AGENT, _ERROR), AGENT_SECONDS,
    "How long an agent was at work.",
)  # fmt: skip
INVOKE_AGENT_INFERENCE_CALLS = _genai(
    "invoke_agent.inference_calls", "histogram", "{inference_call}", (_AGENT,), CALLS,
    "Model calls of an agent's work, those of its sub-agents not among them.",
)  # fmt: skip
INVOKE_AGENT_TOOL_CALLS = _genai(
    "invoke_agent.tool_calls", "histogram", "{tool_call}", (_AGENT,), CALLS,
    "Tools that ran in an agent's work, those of its sub-agents not among them.",
)  # fmt: skip
INVOKE_WORKFLOW_DURATION = _genai(
    "invoke_workflow.duration", "histogram", "s", (_WORKFLOW, _ERROR), WORKFLOW_SECONDS,
    "How long a trace took.",
)  # fmt: skip
EXECUTE_TOOL_DURATION = _genai(
    "execute_tool.duration", "histogram", "s",
    (_TOOL, str(semconv.GEN_AI_TOOL_TYPE), _AGENT, _ERROR), SECONDS,
    "How long a tool ran; one that only waits for an approval is left out.",
)  # fmt: skip
OPERATION_DURATION = _genai(
    "client.operation.duration", "histogram", "s", (*_CALL, _ERROR), SECONDS,
    "The older name of `gen_ai.client.inference.duration`.", compat=True,
)  # fmt: skip
OPERATION_TIME_TO_FIRST_CHUNK = _genai(
    "client.operation.time_to_first_chunk", "histogram", "s", _CALL, SECONDS,
    "The older name of `gen_ai.client.inference.time_to_first_chunk`.", compat=True,
)  # fmt: skip
TOKEN_USAGE = _genai(
    "client.token.usage", "histogram", "{token}", (*_CALL, TOKEN_TYPE), TOKENS,
    "The older form of the input and output tokens of a model call.", compat=True,
)  # fmt: skip

# --- ours ---------------------------------------------------------------------------------

RUNS = _ours(
    "runs", "counter", "{run}", (_AGENT, _STATUS, RUN_NESTED, TRACE_METADATA),
    "Runs that ended, by the agent that started them.",
)  # fmt: skip
RUN_DURATION = _ours(
    "run.duration", "histogram", "s", (_AGENT, _STATUS), "How long a run took.", AGENT_SECONDS
)  # fmt: skip
RUN_TURNS = _ours(
    "run.turns", "histogram", "{turn}", (_AGENT,), "Turns of a run.", CALLS
)
RUN_ITEMS = _ours(
    "run.items", "histogram", "{item}", (_AGENT,), "Items of a run's result.", ITEMS
)
TURN_DURATION = _ours(
    "turn.duration", "histogram", "s", (_AGENT,),
    "How long a turn took, its tools among it.", AGENT_SECONDS,
)  # fmt: skip
ITEMS_BY_TYPE = _ours(
    "items", "counter", "{item}", (ITEM_TYPE, _AGENT), "Items of the results of runs."
)
TOKENS_BY_AGENT = _ours(
    "tokens", "counter", "{token}", (_AGENT, _MODEL, TOKEN_TYPE),
    "Tokens by the agent that used them, which the conventions' counters do not say.",
)  # fmt: skip
COST = _ours(
    "cost", "counter", "{currency}", (_AGENT, _MODEL, COST_CURRENCY),
    "Money by the user's price table; models that are not in it are left out.",
)  # fmt: skip
HANDOFFS = _ours(
    "handoffs", "counter", "{handoff}",
    (str(semconv.ITEMTRACE_HANDOFF_FROM_AGENT), str(semconv.ITEMTRACE_HANDOFF_TO_AGENT)),
    "Handoffs that took place.",
)  # fmt: skip
GUARDRAIL_CHECKS = _ours(
    "guardrail.checks", "counter", "{check}",
    (str(semconv.ITEMTRACE_GUARDRAIL_NAME), str(semconv.ITEMTRACE_GUARDRAIL_TRIGGERED)),
    "Checks by guardrails of agents, and whether the tripwire was triggered.",
)  # fmt: skip
APPROVALS = _ours(
    "approvals", "counter", "{approval}", (_TOOL, APPROVAL_DECISION),
    "Approvals that were asked for, granted and refused.",
)  # fmt: skip
APPROVALS_WAITING = _ours(
    "approvals.waiting", "updowncounter", "{approval}", (_TOOL,),
    "Approvals asked for and not decided; the sum over all processes counts.",
)  # fmt: skip
APPROVAL_WAIT = _ours(
    "approval.wait", "histogram", "s", (_TOOL, APPROVAL_DECISION),
    "How long an approval was waited for, where one process asked and resumed.", WAIT_SECONDS,
)  # fmt: skip
RETRIES = _ours(
    "model.retries", "counter", "{retry}", (_AGENT, _MODEL),
    "Attempts of model calls that failed and were made again.",
)  # fmt: skip
RECORDS = _ours(
    "records", "counter", "{record}", (RECORD_KIND,), "Records of runs' ledgers that were made."
)  # fmt: skip
RECORD_SIZE = _ours(
    "record.size", "counter", "By", (RECORD_KIND, ITEM_TYPE), "UTF-8 bytes of those records."
)  # fmt: skip
GAPS = _ours(
    "gaps", "counter", "{gap}", (GAP_CAUSE,),
    "Gaps that are known when a run ends: not captured, withheld, redacted. What is lost later, "
    "`itemtrace verify` finds.",
)  # fmt: skip
SINK_SPANS = _ours(
    "sink.spans", "counter", "{span}", (SINK, SINK_OUTCOME),
    "Spans that the sinks which `install()` made took and refused.",
)  # fmt: skip
FAILURES = _ours(
    "failures", "observable_counter", "{failure}", (FAILURE_PLACE,),
    "What itemtrace itself could not do; the log has the cause.",
)  # fmt: skip
