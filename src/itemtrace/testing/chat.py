"""A scripted step as the Chat Completions API says it: one JSON body, or chunks.

Chat Completions knows text, refusals and function calls; a step with anything else is refused
with the type's name, since leaving it out would change the script.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemtrace.testing.wire import CREATED, Step, deltas, tokens


if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


KNOWN: Final = frozenset({"message", "function_call"})
"""Item types that a chat message can hold."""

REASONS: Final = {"incomplete": "length", "failed": "content_filter"}
"""How a step ends -> the finish reason, where it is not `stop` or `tool_calls`."""


def unsayable(step: Step) -> list[str]:
    """Returns the item types of a step that Chat Completions has no words for."""
    return sorted({item["type"] for item in step.output} - KNOWN)


def completion(step: Step, body: Mapping[str, Any], answer_id: str) -> dict[str, Any]:
    """Returns the JSON body that answers a `POST /chat/completions`."""
    message = _message(step)
    return _envelope(body, answer_id, "chat.completion") | {
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": _reason(step, message),
                "logprobs": None,
            }
        ],
        "usage": usage(step, body),
    }


def chunks(
    step: Step, body: Mapping[str, Any], answer_id: str
) -> Iterator[dict[str, Any]]:
    """Yields the chunks that answer it when it streams."""
    envelope = _envelope(body, answer_id, "chat.completion.chunk")
    message = _message(step)

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return envelope | {"choices": [choice], "usage": None}

    yield chunk({"role": "assistant", "content": ""})
    for field in ("content", "refusal"):
        yield from (chunk({field: piece}) for piece in deltas(message[field] or ""))
    for number, call in enumerate(message.get("tool_calls", ())):
        start = {**call, "function": {**call["function"], "arguments": ""}}
        yield chunk({"tool_calls": [{"index": number, **start}]})
        for piece in deltas(call["function"]["arguments"]):
            more = {"index": number, "function": {"arguments": piece}}
            yield chunk({"tool_calls": [more]})
    if step.ends == "cut":
        return
    yield chunk({}, _reason(step, message))
    options: Mapping[str, Any] = body.get("stream_options") or {}
    if options.get("include_usage"):
        yield envelope | {"choices": [], "usage": usage(step, body)}


def usage(step: Step, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the `usage` of a completion."""
    into, cached, out, reasoning = tokens(step, body.get("messages"))
    return {
        "prompt_tokens": into,
        "completion_tokens": out,
        "total_tokens": into + out,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def _envelope(body: Mapping[str, Any], answer_id: str, kind: str) -> dict[str, Any]:
    return {
        "id": answer_id,
        "object": kind,
        "created": CREATED,
        "model": body["model"],
    }


def _reason(step: Step, message: Mapping[str, Any]) -> str:
    return REASONS.get(step.ends) or (
        "tool_calls" if "tool_calls" in message else "stop"
    )


def _message(step: Step) -> dict[str, Any]:
    texts: dict[str, list[str]] = {"text": [], "refusal": []}
    calls: list[dict[str, Any]] = []
    for item in step.output:
        if item["type"] == "function_call":
            called = {"name": item["name"], "arguments": item["arguments"]}
            calls.append(
                {"id": item["call_id"], "type": "function", "function": called}
            )
            continue
        for part in item["content"]:
            field = "refusal" if part["type"] == "refusal" else "text"
            texts[field].append(part[field])
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(texts["text"]) or None,
        "refusal": "".join(texts["refusal"]) or None,
    }
    return message | ({"tool_calls": calls} if calls else {})
