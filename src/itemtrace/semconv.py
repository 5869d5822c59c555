"""Every span name and attribute key that itemtrace emits, each with its documentation.

Call sites use the constants, `docs/attributes.md` is generated from them, and a test compares them
with what is emitted. The names follow the OpenTelemetry GenAI conventions (development, no tagged
release); what those lack goes under `itemtrace.*`. The literals are our own because the released
Python constants are frozen and lack newer names.
"""

from __future__ import annotations

from typing import Final, Literal


Type = Literal["string", "int", "double", "boolean", "string[]"]
Where = Literal["model", "agent", "tool", "workflow", "other", "any", "runner", "sink"]

GENAI: Final = "GenAI conventions"
OPENAI: Final = "OpenAI conventions"
OPENINFERENCE: Final = "OpenInference"
MCP: Final = "MCP conventions"
OTEL: Final = "OpenTelemetry conventions"
OURS: Final = "itemtrace"


class Key(str):
    """An attribute key that carries its documentation.

    Attributes:
        brief: What the value is.
        type: The attribute's type.
        where: Which spans have it: those of the handlers in `itemtrace.capture.spans` (`model`,
            `agent`, `tool`, `workflow`, `other`, `any`), or those that the `runner` seam and the
            record writer (`sink`) open or complete.
        source: The convention it comes from.
        compat: Only emitted with `compat=True`.
        vocabulary: Only emitted where `conventions=` names this one; empty for what is always there.
    """

    brief: str
    type: Type
    where: Where
    source: str
    compat: bool
    vocabulary: str

    __slots__ = ("brief", "compat", "source", "type", "vocabulary", "where")


class SpanName(str):
    """A span name or its pattern, `{key}` standing for the value of that attribute.

    Attributes:
        brief: What the span covers.
        kind: The span kind.
        where: As in `Key`: who opens it.
    """

    brief: str
    kind: Literal["INTERNAL", "CLIENT"]
    where: Where

    __slots__ = ("brief", "kind", "where")


KEYS: Final[dict[str, Key]] = {}
"""Every key that may be emitted, by name. `ITEMTRACE_RECORD` is a prefix; a number follows."""

SPAN_NAMES: Final[dict[str, SpanName]] = {}
"""Every span name or pattern that may be emitted."""


def _key(  # noqa: PLR0913 - the columns of a table
    name: str,
    kind: Type,
    where: Where,
    brief: str,
    *,
    source: str = OURS,
    compat: bool = False,
    vocabulary: str = "",
) -> Key:
    key = Key(name)
    key.brief, key.type, key.where = brief, kind, where
    key.source, key.compat, key.vocabulary = source, compat, vocabulary
    return KEYS.setdefault(name, key)


def _genai(
    name: str, kind: Type, where: Where, brief: str, *, compat: bool = False
) -> Key:
    return _key(f"gen_ai.{name}", kind, where, brief, source=GENAI, compat=compat)


def _openinference(name: str, kind: Type, where: Where, brief: str) -> Key:
    source, vocabulary = OPENINFERENCE, "openinference"
    return _key(name, kind, where, brief, source=source, vocabulary=vocabulary)


def _ours(name: str, kind: Type, where: Where, brief: str) -> Key:
    return _key(f"itemtrace.{name}", kind, where, brief)


def _span(
    name: str, kind: Literal["INTERNAL", "CLIENT"], where: Where, brief: str
) -> SpanName:
    span = SpanName(name)
    span.brief, span.kind, span.where = brief, kind, where
    return SPAN_NAMES.setdefault(name, span)


# --- what the conventions have ----------------------------------------------------------

GEN_AI_OPERATION_NAME = _genai(
    "operation.name",
    "string",
    "any",
    "`chat`, `invoke_agent`, `execute_tool` or `invoke_workflow`; absent on spans of no such operation.",
)
GEN_AI_CONVERSATION_ID = _genai(
    "conversation.id", "string", "any", "The trace's `group_id`; never made up."
)
GEN_AI_AGENT_NAME = _genai(
    "agent.name",
    "string",
    "any",
    "`Agent.name`: the agent that runs, or that executes the tool; on spans of no operation only "
    "when the trace has no group id.",
)
GEN_AI_WORKFLOW_NAME = _genai(
    "workflow.name",
    "string",
    "workflow",
    "The application's trace name, else the first agent's; never the SDK's default.",
)
GEN_AI_OUTPUT_TYPE = _genai(
    "output.type",
    "string",
    "any",
    "`json` where an output schema is asked for; `text` on transcriptions, `speech` on speech.",
)
GEN_AI_PROVIDER_NAME = _genai(
    "provider.name",
    "string",
    "model",
    "From the host of the endpoint or the model's LiteLLM or any-llm prefix; else that host or "
    "prefix; `unknown` for a model that says neither.",
)
SERVER_ADDRESS = _key(
    "server.address", "string", "model", "Host of the model's endpoint.", source=OTEL
)
SERVER_PORT = _key(
    "server.port", "int", "model", "Port of the model's endpoint.", source=OTEL
)
ERROR_TYPE = _key(
    "error.type",
    "string",
    "any",
    "The provider's code, else the exception's qualified name, else `_OTHER`; only with status ERROR.",
    source=OTEL,
)
GEN_AI_REQUEST_MODEL = _genai("request.model", "string", "model", "The asked model.")
GEN_AI_REQUEST_STREAM = _genai(
    "request.stream", "boolean", "model", "`true` when streaming, else absent."
)
GEN_AI_REQUEST_TEMPERATURE = _genai(
    "request.temperature", "double", "model", "Sampling temperature."
)
GEN_AI_REQUEST_TOP_P = _genai(
    "request.top_p", "double", "model", "Nucleus sampling share."
)
GEN_AI_REQUEST_TOP_K = _genai(
    "request.top_k", "int", "model", "Top-k sampling, where a provider has it."
)
GEN_AI_REQUEST_FREQUENCY_PENALTY = _genai(
    "request.frequency_penalty", "double", "model", "Frequency penalty."
)
GEN_AI_REQUEST_PRESENCE_PENALTY = _genai(
    "request.presence_penalty", "double", "model", "Presence penalty."
)
GEN_AI_REQUEST_MAX_TOKENS = _genai(
    "request.max_tokens", "int", "model", "Most output tokens."
)
GEN_AI_REQUEST_SEED = _genai(
    "request.seed", "int", "model", "Seed, from `extra_args` or `extra_body`."
)
GEN_AI_REQUEST_CHOICE_COUNT = _genai(
    "request.choice.count", "int", "model", "Asked choices, when not 1."
)
GEN_AI_REQUEST_STOP_SEQUENCES = _genai(
    "request.stop_sequences", "string[]", "model", "Stop sequences, from `extra_args`."
)
GEN_AI_REQUEST_REASONING_LEVEL = _genai(
    "request.reasoning.level", "string", "model", "Reasoning effort as sent."
)
GEN_AI_REQUEST_PREVIOUS_RESPONSE_ID = _genai(
    "request.previous_response.id",
    "string",
    "model",
    "The response that the call continues.",
)
GEN_AI_CONVERSATION_COMPACTED = _genai(
    "conversation.compacted",
    "boolean",
    "model",
    "`true` when the input or output has a compaction item, else absent.",
)
GEN_AI_PROMPT_NAME = _genai(
    "prompt.name", "string", "model", "Id of a stored prompt template."
)
GEN_AI_PROMPT_VERSION = _genai(
    "prompt.version", "string", "model", "Version of that template."
)
GEN_AI_PROMPT_VARIABLE = _genai(
    "prompt.variable.",
    "string",
    "model",
    "Prefix; the variable's name follows: what was filled into the template. Content.",
)
GEN_AI_RESPONSE_ID = _genai("response.id", "string", "model", "The response's id.")
GEN_AI_RESPONSE_MODEL = _genai(
    "response.model", "string", "model", "The model that answered."
)
GEN_AI_RESPONSE_FINISH_REASONS = _genai(
    "response.finish_reasons",
    "string[]",
    "model",
    "One entry: `stop`, `tool_calls`, `length`, `content_filter`, `error` or as given; absent when "
    "unknown. On agent spans that of the last call.",
)
GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK = _genai(
    "response.time_to_first_chunk", "double", "model", "Seconds; only when streaming."
)
GEN_AI_USAGE_INPUT_TOKENS = _genai(
    "usage.input_tokens",
    "int",
    "model",
    "Input tokens, cached ones included. Only on model spans: some backends add up all spans.",
)
GEN_AI_USAGE_OUTPUT_TOKENS = _genai(
    "usage.output_tokens",
    "int",
    "model",
    "Output tokens, reasoning included. Only on model spans.",
)
GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS = _genai(
    "usage.cache_read.input_tokens", "int", "model", "Input tokens read from a cache."
)
GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS = _genai(
    "usage.cache_write.input_tokens", "int", "model", "Input tokens written to a cache."
)
GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS = _genai(
    "usage.cache_creation.input_tokens",
    "int",
    "model",
    "Older name of `gen_ai.usage.cache_write.input_tokens`.",
    compat=True,
)
GEN_AI_USAGE_REASONING_OUTPUT_TOKENS = _genai(
    "usage.reasoning.output_tokens", "int", "model", "Output tokens spent on reasoning."
)
MODALITIES: Final = ("text", "image", "audio")
"""What a provider may split token counts by."""

GEN_AI_USAGE_MODALITY: Final[dict[tuple[str, str], Key]] = {
    (modality, what): _genai(
        f"usage.{modality}.{what}",
        "int",
        "model",
        f"Of the {what.replace('_', ' ').replace('.', ' ')}, those that are {modality}; only where "
        "the provider splits them.",
    )
    for modality in MODALITIES
    for what in ("input_tokens", "output_tokens", "cache_read.input_tokens")
}
"""(modality, count) -> key."""

GEN_AI_INPUT_MESSAGES = _genai(
    "input.messages",
    "string",
    "model",
    'Readable copy, JSON: what is new in this call (`messages="delta"`) or all. Content.',
)
GEN_AI_OUTPUT_MESSAGES = _genai(
    "output.messages",
    "string",
    "model",
    "Readable copy, JSON: one assistant message per response. Content.",
)
GEN_AI_SYSTEM_INSTRUCTIONS = _genai(
    "system_instructions", "string", "model", "Readable copy, JSON text parts. Content."
)
GEN_AI_TOOL_DEFINITIONS = _genai(
    "tool.definitions",
    "string",
    "model",
    "Readable copy, JSON: type and name of each tool. Content.",
)
OPENAI_API_TYPE = _key(
    "openai.api.type",
    "string",
    "model",
    "`responses` or `chat_completions`; only where the provider is `openai`.",
    source=OPENAI,
)
OPENAI_REQUEST_SERVICE_TIER = _key(
    "openai.request.service_tier",
    "string",
    "model",
    "Asked service tier, when not `auto`.",
    source=OPENAI,
)
OPENAI_RESPONSE_SERVICE_TIER = _key(
    "openai.response.service_tier",
    "string",
    "model",
    "Service tier that was used.",
    source=OPENAI,
)
GEN_AI_TOOL_NAME = _genai(
    "tool.name",
    "string",
    "tool",
    "The tool's name, with its namespace where it has one.",
)
GEN_AI_TOOL_TYPE = _genai("tool.type", "string", "tool", "`function`.")
GEN_AI_TOOL_CALL_ID = _genai(
    "tool.call.id",
    "string",
    "tool",
    "The call's id; known with `install()`, since span data has none.",
)
GEN_AI_TOOL_DESCRIPTION = _genai(
    "tool.description", "string", "tool", "The tool's description."
)
GEN_AI_TOOL_CALL_ARGUMENTS = _genai(
    "tool.call.arguments",
    "string",
    "tool",
    "Readable copy: the arguments, JSON. Content.",
)
GEN_AI_TOOL_CALL_RESULT = _genai(
    "tool.call.result",
    "string",
    "tool",
    "Readable copy: a string as it is, else JSON. Content.",
)
GEN_AI_SKILL_NAME = _genai(
    "skill.name", "string", "tool", "The skill that the sandbox's `load_skill` loads."
)
MCP_METHOD_NAME = _key(
    "mcp.method.name",
    "string",
    "any",
    "`tools/list`, or `tools/call` on the tool span of an MCP tool.",
    source=MCP,
)


# --- OpenInference, the optional second vocabulary --------------------------------------

OPENINFERENCE_SPAN_KIND = _openinference(
    "openinference.span.kind",
    "string",
    "any",
    "`AGENT`, `LLM`, `TOOL`, `GUARDRAIL` or `CHAIN`.",
)
SESSION_ID = _openinference("session.id", "string", "any", "The trace's `group_id`.")
METADATA = _openinference(
    "metadata", "string", "workflow", "The trace's metadata, JSON. Content."
)
AGENT_NAME = _openinference("agent.name", "string", "agent", "`Agent.name`.")
GRAPH_NODE_ID = _openinference(
    "graph.node.id", "string", "agent", "`Agent.name`, for the graph of agents."
)
LLM_SYSTEM = _openinference(
    "llm.system", "string", "model", "The kind of API, such as `openai`."
)
LLM_PROVIDER = _openinference(
    "llm.provider", "string", "model", "Who hosts it, such as `azure`."
)
LLM_MODEL_NAME = _openinference(
    "llm.model_name",
    "string",
    "model",
    "The model that answered, else the requested one.",
)
LLM_REQUEST_MODEL_NAME = _openinference(
    "llm.request.model_name", "string", "model", "The requested model."
)
LLM_RESPONSE_MODEL_NAME = _openinference(
    "llm.response.model_name", "string", "model", "The model that answered."
)
LLM_INVOCATION_PARAMETERS = _openinference(
    "llm.invocation_parameters",
    "string",
    "model",
    "The settings of `gen_ai.request.*`, JSON.",
)
LLM_FINISH_REASON = _openinference(
    "llm.finish_reason", "string", "model", "Why the model stopped."
)
LLM_TOKEN_COUNT_PROMPT = _openinference(
    "llm.token_count.prompt", "int", "model", "Input tokens."
)
LLM_TOKEN_COUNT_COMPLETION = _openinference(
    "llm.token_count.completion", "int", "model", "Output tokens."
)
LLM_TOKEN_COUNT_TOTAL = _openinference("llm.token_count.total", "int", "model", "Both.")
LLM_TOKEN_COUNT_PROMPT_DETAILS_CACHE_READ = _openinference(
    "llm.token_count.prompt_details.cache_read",
    "int",
    "model",
    "Input tokens read from a cache.",
)
LLM_TOKEN_COUNT_PROMPT_DETAILS_CACHE_WRITE = _openinference(
    "llm.token_count.prompt_details.cache_write",
    "int",
    "model",
    "Input tokens written to a cache.",
)
LLM_TOKEN_COUNT_PROMPT_DETAILS_AUDIO = _openinference(
    "llm.token_count.prompt_details.audio",
    "int",
    "model",
    "Input tokens that are audio.",
)
LLM_TOKEN_COUNT_COMPLETION_DETAILS_REASONING = _openinference(
    "llm.token_count.completion_details.reasoning",
    "int",
    "model",
    "Output tokens spent on reasoning.",
)
LLM_TOKEN_COUNT_COMPLETION_DETAILS_AUDIO = _openinference(
    "llm.token_count.completion_details.audio",
    "int",
    "model",
    "Output tokens that are audio.",
)
LLM_INPUT_MESSAGES = _openinference(
    "llm.input_messages.",
    "string",
    "model",
    "Prefix of the flattened input, one key per leaf: as many of the newest messages as fit. Content.",
)
LLM_OUTPUT_MESSAGES = _openinference(
    "llm.output_messages.",
    "string",
    "model",
    "Prefix of the flattened output. Content.",
)
LLM_TOOLS = _openinference(
    "llm.tools.",
    "string",
    "model",
    "Prefix of the tools: type and name of each. Content.",
)
PROMPT_ID = _openinference("prompt.id", "string", "model", "The id of a stored prompt.")
TOOL_NAME = _openinference(
    "tool.name",
    "string",
    "tool",
    "The tool's name; of a handoff the tool that the model called for it.",
)
TOOL_ID = _openinference("tool.id", "string", "tool", "Id of the tool call.")
TOOL_DESCRIPTION = _openinference(
    "tool.description", "string", "tool", "The tool's description."
)
INPUT_VALUE = _openinference(
    "input.value",
    "string",
    "any",
    "A model's input as in `gen_ai.input.messages`, a tool's arguments, a handoff's source. Content.",
)
INPUT_MIME_TYPE = _openinference(
    "input.mime_type", "string", "any", "`application/json` or `text/plain`."
)
OUTPUT_VALUE = _openinference(
    "output.value",
    "string",
    "any",
    "A model's output as in `gen_ai.output.messages`, a tool's result, a handoff's target, custom data. Content.",
)
OUTPUT_MIME_TYPE = _openinference(
    "output.mime_type", "string", "any", "`application/json` or `text/plain`."
)

# --- ours -------------------------------------------------------------------------------

ITEMTRACE_RUN_ID = _ours(
    "run.id", "string", "runner", "The run's id, 16 hex digits: on every span of a run."
)
ITEMTRACE_RUN_PARENT = _ours(
    "run.parent", "string", "runner", "Of a nested run: id of the run that started it."
)
ITEMTRACE_RUN_STATUS = _ours(
    "run.status",
    "string",
    "runner",
    "`completed`, `interrupted`, `failed` or `cancelled`.",
)
ITEMTRACE_RUN_ITEMS = _ours(
    "run.items", "int", "runner", "How many run items the run made."
)
ITEMTRACE_RUN_STARTED_NS = _ours(
    "run.started_ns", "int", "runner", "When the run began, nanoseconds since 1970."
)
ITEMTRACE_RUN_CAPTURE = _ours(
    "run.capture",
    "string",
    "runner",
    "`full`: the runner was seen; `spans`: tracing callbacks only.",
)
ITEMTRACE_RUN_STREAMED = _ours(
    "run.streamed", "boolean", "runner", "`true` for `run_streamed`, else absent."
)
ITEMTRACE_SDK_TRACE_ID = _ours(
    "sdk.trace_id", "string", "workflow", "The Agents SDK's own trace id."
)
ITEMTRACE_SDK_SPAN_TYPE = _ours(
    "sdk.span_type",
    "string",
    "other",
    "The SDK's span type, where the span's name does not tell it.",
)
ITEMTRACE_SDK_DATA = _ours(
    "sdk.data",
    "string",
    "other",
    "All data of a span of a type that itemtrace does not know, canonical JSON. Content.",
)
ITEMTRACE_SDK_ERROR_DATA = _ours(
    "sdk.error_data",
    "string",
    "any",
    "The data of the SDK's span error, canonical JSON. Content.",
)
ITEMTRACE_TRACE_METADATA = _ours(
    "trace.metadata",
    "string",
    "workflow",
    "The trace's metadata, canonical JSON. Content.",
)
ITEMTRACE_TASK_NAME = _ours(
    "task.name",
    "string",
    "other",
    "Workflow name of a run, where it is not that of its trace.",
)
ITEMTRACE_TURN_INDEX = _ours("turn.index", "int", "other", "The SDK's turn, from 1.")
ITEMTRACE_READABLE_TRUNCATED = _ours(
    "readable.truncated",
    "string[]",
    "any",
    "Keys of this span's readable copies that were shortened; the ledger is not.",
)
ITEMTRACE_TOOL_EXECUTED = _ours(
    "tool.executed",
    "boolean",
    "tool",
    "`false` where the tool did not run (approval pending, rejected); else absent.",
)
ITEMTRACE_TOOL_CALL_ID_SOURCE = _ours(
    "tool.call_id_source",
    "string",
    "tool",
    "How the call id was found where no hook gave it.",
)
ITEMTRACE_USAGE_REQUESTS = _ours(
    "usage.requests", "int", "any", "Sum over the span: requests to the model."
)
ITEMTRACE_USAGE_INPUT_TOKENS = _ours(
    "usage.input_tokens", "int", "any", "Sum over the span: input tokens."
)
ITEMTRACE_USAGE_OUTPUT_TOKENS = _ours(
    "usage.output_tokens", "int", "any", "Sum over the span: output tokens."
)
ITEMTRACE_USAGE_TOTAL_TOKENS = _ours(
    "usage.total_tokens", "int", "any", "Sum over the span: all tokens."
)
ITEMTRACE_USAGE_CACHED_TOKENS = _ours(
    "usage.cached_tokens", "int", "any", "Sum over the span: cached input tokens."
)
ITEMTRACE_USAGE_CACHE_WRITE_TOKENS = _ours(
    "usage.cache_write_tokens",
    "int",
    "any",
    "Sum over the span: input tokens written to a cache.",
)
ITEMTRACE_USAGE_REASONING_TOKENS = _ours(
    "usage.reasoning_tokens", "int", "any", "Sum over the span: reasoning tokens."
)
ITEMTRACE_AGENT_TOOLS = _ours(
    "agent.tools", "string[]", "agent", "Names of the agent's tools."
)
ITEMTRACE_AGENT_HANDOFFS = _ours(
    "agent.handoffs", "string[]", "agent", "Names of agents it may hand off to."
)
ITEMTRACE_AGENT_OUTPUT_TYPE = _ours(
    "agent.output_type", "string", "agent", "The agent's output type, when not `str`."
)
ITEMTRACE_HANDOFF_FROM_AGENT = _ours(
    "handoff.from_agent", "string", "other", "Source agent of a handoff."
)
ITEMTRACE_HANDOFF_TO_AGENT = _ours(
    "handoff.to_agent", "string", "other", "Target agent of a handoff."
)
ITEMTRACE_HANDOFF_TOOL_NAME = _ours(
    "handoff.tool_name", "string", "other", "The tool the model called for the handoff."
)
ITEMTRACE_GUARDRAIL_NAME = _ours(
    "guardrail.name", "string", "other", "The guardrail's name."
)
ITEMTRACE_GUARDRAIL_TRIGGERED = _ours(
    "guardrail.triggered", "boolean", "other", "Whether its tripwire was triggered."
)
ITEMTRACE_GUARDRAIL_KIND = _ours(
    "guardrail.kind", "string", "other", "`input` or `output`; known with `install()`."
)
ITEMTRACE_MCP_SERVER = _ours("mcp.server", "string", "any", "Name of the MCP server.")
ITEMTRACE_MCP_TOOLS = _ours(
    "mcp.tools", "string[]", "other", "Names of the tools that the server listed."
)
ITEMTRACE_CUSTOM_DATA = _ours(
    "custom.data", "string", "other", "Data of a custom span, canonical JSON. Content."
)
ITEMTRACE_AUDIO_MODEL = _ours(
    "audio.model", "string", "other", "Model of a transcription or speech span."
)
ITEMTRACE_AUDIO_FORMAT = _ours(
    "audio.format", "string", "other", "Format of the audio, such as `pcm`."
)
ITEMTRACE_AUDIO_CONFIG = _ours(
    "audio.config", "string", "other", "Settings of that model, canonical JSON."
)
ITEMTRACE_AUDIO_SIZE = _ours(
    "audio.size", "int", "other", "Characters of the base64 audio, which is not kept."
)
ITEMTRACE_AUDIO_TEXT = _ours(
    "audio.text", "string", "other", "The text that was spoken or understood. Content."
)
ITEMTRACE_AUDIO_FIRST_CONTENT_AT = _ours(
    "audio.first_content_at", "string", "other", "When the first audio came, ISO 8601."
)
ITEMTRACE_RECORD = _ours(
    "r.",
    "string",
    "sink",
    "Prefix; a number follows: chunks of the ledger's records (docs/format.md). The key carries "
    "nothing and depends on the profile.",
)

# --- names of spans ---------------------------------------------------------------------

WORKFLOW = _span(
    "invoke_workflow {gen_ai.workflow.name}",
    "INTERNAL",
    "workflow",
    "One trace of the SDK: the root of its runs.",
)
AGENT = _span(
    "invoke_agent {gen_ai.agent.name}",
    "INTERNAL",
    "agent",
    "An agent at work, until it ends or hands off.",
)
CHAT = _span(
    "chat {gen_ai.request.model}",
    "CLIENT",
    "model",
    "One call of a model; `chat` alone where the asked model is not known.",
)
TOOL = _span(
    "execute_tool {gen_ai.tool.name}", "INTERNAL", "tool", "One call of a tool."
)
TASK = _span("task", "INTERNAL", "other", "One run, as the SDK counts it.")
TURN = _span("turn", "INTERNAL", "other", "One turn of the agent loop.")
HANDOFF = _span(
    "handoff {itemtrace.handoff.to_agent}",
    "INTERNAL",
    "other",
    "A handoff; the target is known at its end.",
)
GUARDRAIL = _span(
    "guardrail {itemtrace.guardrail.name}", "INTERNAL", "other", "One guardrail check."
)
TOOLS_LIST = _span(
    "tools/list", "CLIENT", "other", "Listing the tools of an MCP server."
)
TRANSCRIPTION = _span("transcription", "CLIENT", "other", "Speech to text.")
SPEECH = _span("speech", "CLIENT", "other", "Text to speech.")
SPEECH_GROUP = _span("speech_group", "INTERNAL", "other", "Speech spans of one answer.")
CUSTOM = _span("{name}", "INTERNAL", "other", "A custom span, by its own name.")
UNKNOWN = _span(
    "{itemtrace.sdk.span_type}", "INTERNAL", "other", "A span type of a newer SDK."
)
RUN_START = _span("run_start", "INTERNAL", "runner", "The beginning of a run.")
RUN_END = _span("run_end", "INTERNAL", "runner", "The end of a run.")
ITEM = _span(
    "{item type}",
    "INTERNAL",
    "runner",
    "A run item that no other span has, named by the SDK's item type (`message_output_item`, ...).",
)
RECALLED = _span(
    "recalled_response",
    "INTERNAL",
    "runner",
    "A response of an earlier part of the run, known from its state only.",
)
CONTINUATION = _span(
    "continuation", "INTERNAL", "sink", "Records that did not fit on the span above it."
)
