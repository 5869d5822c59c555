"""The readable copies on a model span: messages, instructions, tool definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemtrace import semconv
from itemtrace.capture import messages
from itemtrace.capture.messages import field


if TYPE_CHECKING:
    from itemtrace.capture.spans.base import Attributes, CallInfo, SpanContextInfo
    from itemtrace.capture.spans.result import Reply


def put_messages(
    attributes: Attributes,
    data: Any,
    info: SpanContextInfo,
    call: CallInfo,
    reply: Reply,
) -> None:
    """Sets the four content attributes; a copy that was shortened is named."""
    copies = [
        (semconv.GEN_AI_INPUT_MESSAGES, _input(data, info, call)),
        (semconv.GEN_AI_OUTPUT_MESSAGES, _output(info, reply)),
        (semconv.GEN_AI_SYSTEM_INSTRUCTIONS, _system(data, info, call, reply)),
        (semconv.GEN_AI_TOOL_DEFINITIONS, _tools(data, info, call, reply)),
    ]
    put_copies(attributes, *copies)


def put_copies(
    attributes: Attributes, *copies: tuple[str, tuple[str | None, bool]]
) -> None:
    """Sets readable copies: (key, (text, whether it was shortened))."""
    shortened: list[str] = []
    for key, (text, cut) in copies:
        if text is None:
            continue
        attributes[key] = text
        if cut:
            shortened.append(key)
    if shortened:
        attributes[semconv.ITEMTRACE_READABLE_TRUNCATED] = shortened


_NONE: tuple[None, bool] = (None, False)


def _input(data: Any, info: SpanContextInfo, call: CallInfo) -> tuple[str | None, bool]:
    sent = field(data, "input") or ()
    if info.messages == "full":
        items = sent if call.full_input is None else call.full_input
    elif call.new_input is None:
        items = messages.new_items(sent)
    else:
        items = messages.after_answer(call.new_input)
    return messages.input_json(info.shown_items(items), info.limit)


def _output(info: SpanContextInfo, reply: Reply) -> tuple[str | None, bool]:
    if not reply.items:
        return _NONE
    items = info.shown_items(reply.items)
    return messages.output_json(items, reply.message_finish, info.limit)


def _system(
    data: Any, info: SpanContextInfo, call: CallInfo, reply: Reply
) -> tuple[str | None, bool]:
    text = call.system
    if text is None and _shows_setup(data, info, call):
        text = field(reply.response, "instructions")
    if not isinstance(text, str) or not text:
        return _NONE
    return messages.system_json(info.shown(text), info.limit)


def _tools(
    data: Any, info: SpanContextInfo, call: CallInfo, reply: Reply
) -> tuple[str | None, bool]:
    tools = call.tools
    if tools is None and _shows_setup(data, info, call):
        tools = field(reply.response, "tools")
    return messages.definitions_json(tools, info.limit) if tools else _NONE


def _shows_setup(data: Any, info: SpanContextInfo, call: CallInfo) -> bool:
    """Whether this call shows what every call of the run repeats: all with `full`, else the first."""
    if info.messages == "full":
        return True
    items = field(data, "input")
    return call.new_input is None and (
        items is None or messages.new_items(items) is items
    )
