"""Single values: kinds, names, token counts, and a span's input and output as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from itemtrace import semconv
from itemtrace.capture.spans.base import put
from itemtrace.codec import canonical


if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from itemtrace.capture.spans.base import Attributes, SpanContextInfo


KINDS: Final[Mapping[str, str]] = {
    "trace": "AGENT",
    "agent": "AGENT",
    "response": "LLM",
    "generation": "LLM",
    "function": "TOOL",
    "handoff": "TOOL",
    "guardrail": "GUARDRAIL",
}
"""Span type -> kind, as OpenInference's own processor has them; all else is a `CHAIN`."""

SAME: Final[Mapping[str, semconv.Key]] = {
    semconv.GEN_AI_CONVERSATION_ID: semconv.SESSION_ID,
    semconv.GEN_AI_REQUEST_MODEL: semconv.LLM_REQUEST_MODEL_NAME,
    semconv.GEN_AI_RESPONSE_MODEL: semconv.LLM_RESPONSE_MODEL_NAME,
    semconv.GEN_AI_USAGE_INPUT_TOKENS: semconv.LLM_TOKEN_COUNT_PROMPT,
    semconv.GEN_AI_USAGE_OUTPUT_TOKENS: semconv.LLM_TOKEN_COUNT_COMPLETION,
    semconv.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS: semconv.LLM_TOKEN_COUNT_PROMPT_DETAILS_CACHE_READ,
    semconv.GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS: semconv.LLM_TOKEN_COUNT_PROMPT_DETAILS_CACHE_WRITE,
    semconv.GEN_AI_USAGE_REASONING_OUTPUT_TOKENS: semconv.LLM_TOKEN_COUNT_COMPLETION_DETAILS_REASONING,
    semconv.GEN_AI_USAGE_MODALITY[
        "audio", "input_tokens"
    ]: semconv.LLM_TOKEN_COUNT_PROMPT_DETAILS_AUDIO,
    semconv.GEN_AI_USAGE_MODALITY[
        "audio", "output_tokens"
    ]: semconv.LLM_TOKEN_COUNT_COMPLETION_DETAILS_AUDIO,
    semconv.GEN_AI_PROMPT_NAME: semconv.PROMPT_ID,
    semconv.GEN_AI_TOOL_CALL_ID: semconv.TOOL_ID,
    semconv.GEN_AI_TOOL_DESCRIPTION: semconv.TOOL_DESCRIPTION,
    semconv.GEN_AI_TOOL_NAME: semconv.TOOL_NAME,
    semconv.ITEMTRACE_HANDOFF_TOOL_NAME: semconv.TOOL_NAME,
    semconv.ITEMTRACE_TRACE_METADATA: semconv.METADATA,
}
"""Our key -> theirs, where the value is the same."""

VALUES: Final = (
    (semconv.GEN_AI_INPUT_MESSAGES, semconv.INPUT_VALUE, semconv.INPUT_MIME_TYPE),
    (semconv.GEN_AI_TOOL_CALL_ARGUMENTS, semconv.INPUT_VALUE, semconv.INPUT_MIME_TYPE),
    (semconv.ITEMTRACE_HANDOFF_FROM_AGENT, semconv.INPUT_VALUE, semconv.INPUT_MIME_TYPE),
    (semconv.GEN_AI_OUTPUT_MESSAGES, semconv.OUTPUT_VALUE, semconv.OUTPUT_MIME_TYPE),
    (semconv.GEN_AI_TOOL_CALL_RESULT, semconv.OUTPUT_VALUE, semconv.OUTPUT_MIME_TYPE),
    (semconv.ITEMTRACE_HANDOFF_TO_AGENT, semconv.OUTPUT_VALUE, semconv.OUTPUT_MIME_TYPE),
    (semconv.ITEMTRACE_CUSTOM_DATA, semconv.OUTPUT_VALUE, semconv.OUTPUT_MIME_TYPE),
)  # fmt: skip
"""What a span got and gave: our key, and theirs with its type."""

PROVIDERS: Final[Mapping[str, str]] = {
    "x_ai": "xai",
    "mistral_ai": "mistralai",
    "aws.bedrock": "aws",
    "azure.ai.openai": "azure",
    "azure.ai.inference": "azure",
}
"""Names of providers that differ; those that begin with `gcp.` are `google`."""

SYSTEMS: Final[Mapping[str, str]] = {"azure": "openai"}
"""Provider -> whose API it is, where that is another."""

REQUEST: Final = "gen_ai.request."


def start(span_type: str, info: SpanContextInfo, said: Attributes) -> Attributes:
    """Returns the kind, the session and what else is known from the start."""
    found: Attributes = {
        semconv.OPENINFERENCE_SPAN_KIND: KINDS.get(span_type, "CHAIN"),
        **_same(said),
    }
    put(found, semconv.SESSION_ID, info.group_id)
    extra = EXTRA.get(span_type)
    return found | extra(said) if extra else found


def end(span_type: str, info: SpanContextInfo, said: Attributes) -> Attributes:  # noqa: ARG001 - a vocabulary
    """Returns what came of it."""
    found = _same(said)
    counts = (semconv.LLM_TOKEN_COUNT_PROMPT, semconv.LLM_TOKEN_COUNT_COMPLETION)
    total = sum(found.get(key, 0) for key in counts)
    put(found, semconv.LLM_TOKEN_COUNT_TOTAL, total or None)
    put(found, semconv.LLM_MODEL_NAME, said.get(semconv.GEN_AI_RESPONSE_MODEL))
    if span_type in ("response", "generation"):
        reasons = said.get(semconv.GEN_AI_RESPONSE_FINISH_REASONS) or [None]
        put(found, semconv.LLM_FINISH_REASON, reasons[0])
        asked = {
            key[len(REQUEST) :]: value
            for key, value in said.items()
            if key.startswith(REQUEST)
        }
        if asked:
            found[semconv.LLM_INVOCATION_PARAMETERS] = canonical.dumps(asked)
    return found


def _same(said: Attributes) -> Attributes:
    found: Attributes = {
        theirs: said[ours] for ours, theirs in SAME.items() if ours in said
    }
    for ours, value, mime in VALUES:
        if ours in said:
            found[value] = said[ours]
            found[mime] = "application/json" if said[ours][:1] in "[{" else "text/plain"
    return found


def _model(said: Attributes) -> Attributes:
    name = str(said.get(semconv.GEN_AI_PROVIDER_NAME, "unknown"))
    provider = "google" if name.startswith("gcp.") else PROVIDERS.get(name, name)
    found: Attributes = {
        semconv.LLM_PROVIDER: provider,
        semconv.LLM_SYSTEM: SYSTEMS.get(provider, provider),
    }
    put(found, semconv.LLM_MODEL_NAME, said.get(semconv.GEN_AI_REQUEST_MODEL))
    return found


def _agent(said: Attributes) -> Attributes:
    name = said.get(semconv.GEN_AI_AGENT_NAME)
    return {semconv.AGENT_NAME: name, semconv.GRAPH_NODE_ID: name} if name else {}


EXTRA: Final[dict[str, Callable[[Attributes], Attributes]]] = {
    "response": _model,
    "generation": _model,
    "agent": _agent,
}
"""Span type -> what its start has beside that."""
