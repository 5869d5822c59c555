"""What came back from a model, whichever way it is known.

A response span has the `Response`; a generation span a chat message, or a dumped `Response` when it
was streamed; a third-party model may leave both out, and then the runner seam knows the items.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from itemtrace import semconv
from itemtrace.capture.messages import field, is_client_call, item_type
from itemtrace.capture.spans.base import Attributes, CallInfo, SpanContextInfo, put


if TYPE_CHECKING:
    from collections.abc import Sequence


UNKNOWN: Final = "unknown"
"""Finish reason of a message when nothing says it."""

_INCOMPLETE: Final = {"max_output_tokens": "length"}


class Reply(NamedTuple):
    """One answer of a model.

    Attributes:
        response: A `Response` object or mapping, or None.
        id: The response's id.
        model: The model that answered.
        items: Output items, or one chat message.
        finish: As in `gen_ai.response.finish_reasons`; None when unknown.
    """

    response: Any
    id: str | None
    model: str | None
    items: Sequence[Any]
    finish: str | None

    @property
    def message_finish(self) -> str:
        """The finish reason as a message has it."""
        return "tool_call" if self.finish == "tool_calls" else self.finish or UNKNOWN


def reply_of(data: Any, call: CallInfo) -> Reply:
    """Returns the answer in span data, completed by what the seam knows."""
    response = field(data, "response")
    items: Sequence[Any] = field(data, "output") or ()
    if response is None and items and field(items[0], "object") == "response":
        response = items[0]
    if response is not None:
        items = field(response, "output") or ()
    items = items or call.output or ()
    finish = call.finish_reason or _finish(response, items)
    if finish is None and call.stream and call.error is not None:
        finish = "error"  # it was expected and did not come
    return Reply(
        response,
        field(response, "id") or call.response_id or field(data, "_response_id"),
        field(response, "model") or call.response_model,
        items,
        finish,
    )


def _finish(response: Any, items: Sequence[Any]) -> str | None:
    status = field(response, "status")
    if status in ("failed", "cancelled"):
        return "error"
    if status == "incomplete":
        reason = field(field(response, "incomplete_details"), "reason")
        return _INCOMPLETE.get(reason, reason) or None
    if any(is_client_call(item) or field(item, "tool_calls") for item in items):
        return "tool_calls"
    return "stop" if status == "completed" else None


def put_reply(attributes: Attributes, reply: Reply, info: SpanContextInfo) -> None:
    """Sets the response's own attributes."""
    put(attributes, semconv.GEN_AI_RESPONSE_ID, reply.id)
    put(attributes, semconv.GEN_AI_RESPONSE_MODEL, reply.model)
    if reply.finish:
        attributes[semconv.GEN_AI_RESPONSE_FINISH_REASONS] = [reply.finish]
    response = reply.response
    if response is None:
        return
    previous = field(response, "previous_response_id")
    put(attributes, semconv.GEN_AI_REQUEST_PREVIOUS_RESPONSE_ID, previous)
    kind = field(field(field(response, "text"), "format"), "type")
    if isinstance(kind, str) and kind.startswith("json"):
        attributes[semconv.GEN_AI_OUTPUT_TYPE] = "json"
    prompt = field(response, "prompt")
    if prompt is not None:
        _put_prompt(attributes, prompt, info)


def is_compacted(data: Any, call: CallInfo, reply: Reply) -> bool:
    """Whether a compaction item is in what came, in what is new, or leads the input.

    A compacted history starts with that item, so the rest of a long input need not be read.
    """
    sent = field(data, "input")
    lead: Sequence[Any] = () if isinstance(sent, str) else (sent or ())[:1]
    new = () if isinstance(call.new_input, str) else call.new_input or ()
    return any(
        item_type(item) == "compaction" for item in chain(reply.items, new, lead)
    )


def _put_prompt(attributes: Attributes, prompt: Any, info: SpanContextInfo) -> None:
    put(attributes, semconv.GEN_AI_PROMPT_NAME, field(prompt, "id"))
    put(attributes, semconv.GEN_AI_PROMPT_VERSION, field(prompt, "version"))
    variables = field(prompt, "variables")
    if not info.content or not isinstance(variables, dict):
        return
    for name, value in cast("dict[str, Any]", variables).items():
        if isinstance(value, str):
            attributes[f"{semconv.GEN_AI_PROMPT_VARIABLE}{name}"] = info.shown(value)
