"""Spans as points of metrics: for each SDK span type the functions that measure it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from itemtrace import semconv
from itemtrace import semconv_metrics as names


if TYPE_CHECKING:
    from opentelemetry.context import Context

    from itemtrace.capture.metrics.instruments import Instruments
    from itemtrace.capture.metrics.prices import Prices


class Point(NamedTuple):
    """A span that ended.

    Attributes:
        seconds: How long it took.
        attributes: All that it was given, and the keys of this module.
        context: With the span, for exemplars.
    """

    seconds: float
    attributes: dict[str, Any]
    context: Context

    def some(self, *keys: str) -> dict[str, Any]:
        """Returns some of the attributes."""
        return {key: self.attributes.get(key) for key in keys}


AGENT: Final = "itemtrace.point.agent"
INFERENCE_CALLS: Final = "itemtrace.point.inference_calls"
TOOL_CALLS: Final = "itemtrace.point.tool_calls"
"""Keys of a point that are no attributes of its span: whose it is, and what was called below."""

Measure = Callable[["Instruments", Point, "Prices | None"], None]

_CALL: Final = (
    semconv.GEN_AI_OPERATION_NAME,
    semconv.GEN_AI_PROVIDER_NAME,
    semconv.GEN_AI_REQUEST_MODEL,
    semconv.GEN_AI_RESPONSE_MODEL,
    semconv.SERVER_ADDRESS,
    semconv.SERVER_PORT,
)

_TOKENS: Final = (
    ("input_tokens", "input", semconv.GEN_AI_USAGE_INPUT_TOKENS),
    ("output_tokens", "output", semconv.GEN_AI_USAGE_OUTPUT_TOKENS),
    (
        "cache_read.input_tokens",
        "cache_read",
        semconv.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
    ),
    (
        "cache_write.input_tokens",
        "cache_write",
        semconv.GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS,
    ),
    (
        "reasoning.output_tokens",
        "reasoning",
        semconv.GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
    ),
)

_SIZES: Final = {
    "input": names.OPERATION_INPUT_TOKENS,
    "output": names.OPERATION_OUTPUT_TOKENS,
}


def model_call(instruments: Instruments, point: Point, _: Prices | None) -> None:
    """How long a model call took, and its first chunk."""
    call = point.some(*_CALL)
    ended = {**call, **point.some(semconv.ERROR_TYPE)}
    for metric in (names.INFERENCE_DURATION, names.OPERATION_DURATION):
        instruments.add(metric, point.seconds, ended, point.context)
    first = point.attributes.get(semconv.GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK)
    if first is None:
        return
    for metric in (names.TIME_TO_FIRST_CHUNK, names.OPERATION_TIME_TO_FIRST_CHUNK):
        instruments.add(metric, first, call, point.context)


def tokens(instruments: Instruments, point: Point, prices: Prices | None) -> None:
    """What a model call used, by the conventions, by agent, and in money."""
    call = point.some(*_CALL)
    model = point.attributes.get(semconv.GEN_AI_REQUEST_MODEL)
    whose: dict[str, Any] = {
        semconv.GEN_AI_AGENT_NAME: point.attributes.get(AGENT),
        semconv.GEN_AI_REQUEST_MODEL: model,
    }
    counted: dict[str, int] = {}
    for usage, kind, key in _TOKENS:
        count = point.attributes.get(key)
        if not count:
            continue
        counted[kind] = count
        modality = {**call, names.TOKEN_MODALITY: "unknown"}
        instruments.add(names.USAGE[usage], count, modality, point.context)
        typed = {names.TOKEN_TYPE: kind}
        instruments.add(names.TOKENS_BY_AGENT, count, {**whose, **typed}, point.context)
        if kind in _SIZES:
            instruments.add(_SIZES[kind], count, call, point.context)
            instruments.add(names.TOKEN_USAGE, count, {**call, **typed}, point.context)
    answered = point.attributes.get(semconv.GEN_AI_RESPONSE_MODEL) or model
    if prices is None or not counted or not answered:
        return
    cost = prices.cost(answered, counted)
    if cost is not None:
        currency = {names.COST_CURRENCY: prices.currency}
        instruments.add(names.COST, cost, {**whose, **currency}, point.context)


def agent(instruments: Instruments, point: Point, _: Prices | None) -> None:
    """How long an agent was at work, and how often it called a model and tools."""
    name = point.some(semconv.GEN_AI_AGENT_NAME)
    ended = {**name, **point.some(semconv.ERROR_TYPE)}
    instruments.add(names.INVOKE_AGENT_DURATION, point.seconds, ended, point.context)
    for metric, key in (
        (names.INVOKE_AGENT_INFERENCE_CALLS, INFERENCE_CALLS),
        (names.INVOKE_AGENT_TOOL_CALLS, TOOL_CALLS),
    ):
        instruments.add(metric, point.attributes[key], name, point.context)


def tool(instruments: Instruments, point: Point, _: Prices | None) -> None:
    """How long a tool ran."""
    if point.attributes.get(semconv.ITEMTRACE_TOOL_EXECUTED) is False:
        return
    attributes: dict[str, Any] = {
        **point.some(
            semconv.GEN_AI_TOOL_NAME, semconv.GEN_AI_TOOL_TYPE, semconv.ERROR_TYPE
        ),
        semconv.GEN_AI_AGENT_NAME: point.attributes.get(AGENT),
    }
    instruments.add(
        names.EXECUTE_TOOL_DURATION, point.seconds, attributes, point.context
    )


def turn(instruments: Instruments, point: Point, _: Prices | None) -> None:
    """How long a turn took."""
    whose: dict[str, Any] = {semconv.GEN_AI_AGENT_NAME: point.attributes.get(AGENT)}
    instruments.add(names.TURN_DURATION, point.seconds, whose, point.context)


def handoff(instruments: Instruments, point: Point, _: Prices | None) -> None:
    """Who handed over to whom."""
    ends = point.some(
        semconv.ITEMTRACE_HANDOFF_FROM_AGENT, semconv.ITEMTRACE_HANDOFF_TO_AGENT
    )
    if ends[semconv.ITEMTRACE_HANDOFF_TO_AGENT] is not None:
        instruments.add(names.HANDOFFS, 1, ends, point.context)


def guardrail(instruments: Instruments, point: Point, _: Prices | None) -> None:
    """What a guardrail found."""
    found = point.some(
        semconv.ITEMTRACE_GUARDRAIL_NAME, semconv.ITEMTRACE_GUARDRAIL_TRIGGERED
    )
    instruments.add(names.GUARDRAIL_CHECKS, 1, found, point.context)


def workflow(instruments: Instruments, point: Point, _: Prices | None) -> None:
    """How long a trace took."""
    attributes = point.some(semconv.GEN_AI_WORKFLOW_NAME, semconv.ERROR_TYPE)
    instruments.add(
        names.INVOKE_WORKFLOW_DURATION, point.seconds, attributes, point.context
    )


HANDLERS: Final[dict[str, tuple[Measure, ...]]] = {
    "response": (model_call, tokens),
    "generation": (model_call, tokens),
    "agent": (agent,),
    "function": (tool,),
    "turn": (turn,),
    "handoff": (handoff,),
    "guardrail": (guardrail,),
    "trace": (workflow,),
}
"""The SDK's span type, or `trace` for a root span -> what measures it."""
