"""What all span handlers share: their input, their output, and the registry.

A handler is a pure pair of functions for one SDK span type. `on_start` gives what samplers need;
`on_end` gives the rest. Neither touches OpenTelemetry spans, clocks or the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from itemtrace import semconv
from itemtrace.capture.items import dump
from itemtrace.capture.messages import LIMIT
from itemtrace.capture.spans.errors import error_type, span_error_type
from itemtrace.codec import canonical


if TYPE_CHECKING:
    from opentelemetry.trace import SpanKind

    from itemtrace.capture.privacy import Privacy


Attributes = dict[str, Any]
"""Attribute key -> str, int, float, bool or list of str."""


@dataclass(slots=True, kw_only=True)
class CallInfo:
    """What only the runner seam knows of one span; filled in as the call goes on.

    Attributes:
        model: The asked model.
        stream: Whether the call streams.
        settings: The `ModelSettings` of the call.
        base_url: The model's endpoint.
        provider: `gen_ai.provider.name`, where the seam knows better.
        api: `responses` or `chat_completions`, likewise.
        system: Instructions to show; with `messages="delta"` only when they are new.
        tools: Tool definitions to show, likewise.
        new_input: Input items that no earlier call of the run had.
        full_input: All input items, for `messages="full"`.
        output: Output items, for span data that has none.
        response_id: Likewise.
        response_model: Likewise.
        usage: Token usage, a mapping as in span data: of this call, or of an agent span the sum.
        finish_reason: As in `gen_ai.response.finish_reasons`; on agent spans that of the last call.
        time_to_first_chunk: Seconds.
        tool_call_id: Id of the tool call.
        tool_description: Shown on every call of the tool: leave out what is long.
        call_id_source: How the id was found, where no hook gave it.
        executed: False for a call that did not run.
        guardrail_kind: `input` or `output`.
        handoff_tool: Name of the tool that the model called for the handoff.
        error: The exception that ended the span.
    """

    model: str | None = None
    stream: bool = False
    settings: object | None = None
    base_url: str | None = None
    provider: str | None = None
    api: str | None = None
    system: str | None = None
    tools: Sequence[Any] | None = None
    new_input: str | Sequence[Any] | None = None
    full_input: str | Sequence[Any] | None = None
    output: Sequence[Any] | None = None
    response_id: str | None = None
    response_model: str | None = None
    usage: Mapping[str, Any] | None = None
    finish_reason: str | None = None
    time_to_first_chunk: float | None = None
    tool_call_id: str | None = None
    tool_description: str | None = None
    call_id_source: str | None = None
    executed: bool | None = None
    guardrail_kind: str | None = None
    handoff_tool: str | None = None
    error: BaseException | None = None


@dataclass(slots=True)
class SpanContextInfo:
    """Where a span stands, and what may be shown of it.

    Attributes:
        group_id: The trace's group id.
        agent_name: The nearest agent span above; for a task, the first agent below, once known.
        workflow: The trace's workflow name, as it was given.
        content: False withholds arguments, results, messages, error texts and custom data.
        messages: Readable copies: `delta`, `full` or `off`.
        compat: Emit the older names beside the newer ones.
        vocabularies: What else names the same things, of `VOCABULARIES`.
        call: What the runner seam knows; None when only tracing callbacks are there.
        limit: Most UTF-8 bytes of one readable copy.
        privacy: Redacts what is shown; None where there are no redactions.
    """

    group_id: str | None = None
    agent_name: str | None = None
    workflow: str | None = None
    content: bool = True
    messages: str = "delta"
    compat: bool = False
    vocabularies: tuple[str, ...] = ()
    call: CallInfo | None = None
    limit: int = LIMIT
    privacy: Privacy | None = None

    def shown(self, value: Any) -> Any:
        """Returns content that is no item as it may be shown."""
        if self.privacy is None:
            return value
        public = self.privacy.value(value)
        # a mark in place of a text: a redaction failed on it
        marked = isinstance(value, str) and not isinstance(public, str)
        return None if marked else public

    def shown_items(self, items: Any) -> Any:
        """Returns items, or an input text, as they may be shown."""
        if self.privacy is None or not items:
            return items
        if isinstance(items, str):
            return self.privacy.text(items)
        shown = [self.privacy.item(dump(item))[0] for item in items]
        return [item for item in shown if not _has_mark(item)]


def _has_mark(item: Any) -> bool:
    """Whether a redaction failed on an item, so that marks stand for its content."""
    values = (
        list(cast("dict[str, Any]", item).values())
        if isinstance(item, dict)
        else [item]
    )
    return any(isinstance(value, canonical.Escaped) for value in values)


@dataclass(frozen=True, slots=True)
class Bare:
    """Span data for work that the SDK opened no span for, known from the runner seam alone."""

    type: str
    name: str = ""


class Start(NamedTuple):
    """How a span opens."""

    name: str
    kind: SpanKind
    attributes: Attributes


class End(NamedTuple):
    """How a span closes; status is ERROR with `error_type`, else UNSET.

    `message` is the status description. `attributes` has `error.type` already. Each of `more` gives
    attributes for the eyes that may be left out, for as many as there is room for.
    """

    name: str
    attributes: Attributes
    error_type: str | None
    message: str | None
    more: tuple[Callable[[int], Attributes], ...] = ()


class Named(NamedTuple):
    """The final name and the attributes of a span."""

    name: str
    attributes: Attributes


OnStart = Callable[[Any, SpanContextInfo], Start]
OnEnd = Callable[[Any, SpanContextInfo], Named]


class Handler(NamedTuple):
    """The two functions for one span type."""

    start: OnStart
    end: OnEnd


HANDLERS: Final[dict[str, Handler]] = {}
"""SDK span type -> handler."""


class Vocabulary(NamedTuple):
    """Another set of names for what a span says, made from what the handlers said.

    Attributes:
        start: Span type, where the span stands and its attributes to more attributes, at its start.
        end: As `start`, at its end.
        more: Its attributes and a number to at most so many attributes that may be left out.
    """

    start: Callable[[str, SpanContextInfo, Attributes], Attributes]
    end: Callable[[str, SpanContextInfo, Attributes], Attributes]
    more: Callable[[Attributes, int], Attributes]


VOCABULARIES: Final[dict[str, Vocabulary]] = {}
"""Name, as in `install(conventions=...)` -> vocabulary."""


def register_vocabulary(name: str, vocabulary: Vocabulary) -> None:
    """Makes a vocabulary known."""
    VOCABULARIES[name] = vocabulary


def start_in_all(span_type: str, start: Start, info: SpanContextInfo) -> Start:
    """Returns a start with the attributes of all vocabularies."""
    for name in info.vocabularies:
        found = VOCABULARIES[name].start(span_type, info, start.attributes)
        start = start._replace(attributes={**start.attributes, **found})
    return start


def end_in_all(span_type: str, end: End, info: SpanContextInfo) -> End:
    """Returns an end with the attributes of all vocabularies."""
    said = end.attributes
    for name in info.vocabularies:
        vocabulary = VOCABULARIES[name]
        found = vocabulary.end(span_type, info, said)
        more = partial(vocabulary.more, said)
        end = end._replace(
            attributes={**end.attributes, **found}, more=(*end.more, more)
        )
    return end


def register(span_type: str, start: OnStart, end: OnEnd) -> None:
    """Makes these functions the handler of an SDK span type."""
    HANDLERS[span_type] = Handler(start, end)


def keep_alive(info: SpanContextInfo, agent: str | None = None) -> Attributes:
    """Returns one legal `gen_ai.*` attribute for a span without operation, if there is one.

    Some backends drop spans without any. The conversation id comes first; an agent's name is read as
    a fact about that agent. Any other key would make the span look like a model or tool call.
    """
    if info.group_id:
        return {semconv.GEN_AI_CONVERSATION_ID: info.group_id}
    name = agent or info.agent_name
    return {semconv.GEN_AI_AGENT_NAME: name} if name else {}


def operation(name: str, info: SpanContextInfo) -> Attributes:
    """Returns what a span of a known operation starts with."""
    attributes: Attributes = {semconv.GEN_AI_OPERATION_NAME: name}
    if info.group_id:
        attributes[semconv.GEN_AI_CONVERSATION_ID] = info.group_id
    return attributes


def put(attributes: Attributes, key: str, value: Any) -> None:
    """Sets an attribute, unless its value is None or empty."""
    if value is not None and value not in ("", []):
        attributes[key] = value


def strings(values: object) -> list[str]:
    """Returns a list of strings of what should be one."""
    if not isinstance(values, list | tuple):
        return []
    return [str(value) for value in cast("list[Any]", values)]


def named(head: str, name: object) -> str:
    """Returns a span name: the head, and the name if there is one."""
    return f"{head} {name}" if name else head


def finish(
    handler: Handler,
    data: object,
    info: SpanContextInfo,
    error: Mapping[str, Any] | None,
) -> End:
    """Returns the end of a span, its error included."""
    exception = info.call.error if info.call else None
    name, attributes = handler.end(data, info)
    if error is None and exception is None:
        return End(name, attributes, None, None)
    kind = span_error_type(error) if exception is None else error_type(exception)
    attributes[semconv.ERROR_TYPE] = kind
    if not info.content:
        return End(name, attributes, kind, None)
    if error is None:
        return End(name, attributes, kind, info.shown(str(exception)) or None)
    if error.get("data"):
        data = info.shown(error["data"])
        attributes[semconv.ITEMTRACE_SDK_ERROR_DATA] = canonical.dumps(data)
    return End(name, attributes, kind, info.shown(error.get("message")) or None)
