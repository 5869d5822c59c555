"""A scripted step as the Responses API says it: one JSON body, or server-sent events.

The events are those of the real API for each item type: added, parts and deltas, done. An item
type without an entry in `PARTS` is added and done whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from itemtrace.codec import canonical


CREATED: Final = 1_700_000_000
"""Seconds since the epoch that every response says it was created at."""

Event = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One answer of a model.

    Attributes:
        output: The items of `response.output`, as JSON.
        ends: How the response ends. `cut` hangs up before the last event of a stream, and is
            like `completed` without one.
        delay: Seconds before the answer starts.
        pause: Seconds before the last event of a stream.
        status: HTTP status; anything but 200 answers with an error.
        error: The message of an error answer, or of a failed response.
        usage: `(input, cached, output, reasoning)` tokens; by default a quarter of the
            characters sent and answered, so that equal requests cost the same every time.
    """

    output: Sequence[Mapping[str, Any]] = ()
    ends: Literal["completed", "incomplete", "failed", "cut"] = "completed"
    delay: float = 0.0
    pause: float = 0.0
    status: int = 200
    error: str = ""
    usage: tuple[int, int, int, int] | None = None


def tokens(step: Step, sent: object) -> tuple[int, int, int, int]:
    """Returns the step's usage, made up from the lengths of what was sent and answered."""
    if step.usage is not None:
        return step.usage
    thinking = [item for item in step.output if item.get("type") == "reasoning"]
    reasoning = len(canonical.dumps(thinking)) // 4 if thinking else 0
    return (
        len(canonical.dumps(sent)) // 4,
        0,
        len(canonical.dumps(step.output)) // 4,
        reasoning,
    )


def usage(step: Step, sent: object) -> dict[str, Any]:
    """Returns the `usage` of a response."""
    into, cached, out, reasoning = tokens(step, sent)
    return {
        "input_tokens": into,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": out,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": into + out,
    }


def response(step: Step, body: Mapping[str, Any], response_id: str) -> dict[str, Any]:
    """Returns the JSON body that answers a `POST /responses`."""
    ended = "completed" if step.ends == "cut" else step.ends
    answer: dict[str, Any] = {
        "id": response_id,
        "object": "response",
        "created_at": CREATED,
        "status": ended,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": body.get("metadata") or {},
        "model": body["model"],
        "output": [dict(item) for item in step.output],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "temperature": body.get("temperature"),
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools", []),
        "top_p": body.get("top_p"),
        "usage": usage(step, [body.get("instructions"), body.get("input")]),
    }
    if ended == "incomplete":
        answer["incomplete_details"] = {"reason": step.error or "max_output_tokens"}
    if ended == "failed":
        message = step.error or "the model failed"
        answer["error"] = {"code": "server_error", "message": message}
    return answer


def events(answer: Mapping[str, Any], *, cut: bool = False) -> Iterator[Event]:
    """Yields the server-sent events of a response, numbered.

    Args:
        answer: What `response` returned.
        cut: Leave out the last event.
    """
    for number, event in enumerate(_unnumbered(answer, cut)):
        yield event | {"sequence_number": number}


def _unnumbered(answer: Mapping[str, Any], cut: bool) -> Iterator[Event]:
    opened: dict[str, Any] = {
        **answer,
        "status": "in_progress",
        "output": [],
        "usage": None,
    }
    opened |= {"error": None, "incomplete_details": None}
    yield {"type": "response.created", "response": opened}
    yield {"type": "response.in_progress", "response": opened}
    for index, item in enumerate(answer["output"]):
        at = {"output_index": index}
        opening, between = PARTS.get(item["type"], (_whole, _nothing))
        yield {"type": "response.output_item.added", **at, "item": opening(item)}
        for event in between(item):
            yield event | at | {"item_id": item.get("id", "")}
        yield {"type": "response.output_item.done", **at, "item": item}
    if not cut:
        yield {"type": f"response.{answer['status']}", "response": dict(answer)}


def deltas(text: str, length: int = 24) -> Iterator[str]:
    """Yields a text in pieces, as a model would."""
    return (text[at : at + length] for at in range(0, len(text), length))


Item = Mapping[str, Any]
Part = tuple[Callable[[Item], dict[str, Any]], Callable[[Item], Iterator[Event]]]


def _whole(item: Item) -> dict[str, Any]:
    return dict(item)


def _nothing(_: Item) -> Iterator[Event]:
    return iter(())


def _emptied(key: str, value: Any = "") -> Callable[[Item], dict[str, Any]]:
    """How an item begins: in progress, with one field still empty."""

    def opening(item: Item) -> dict[str, Any]:
        status = {"status": "in_progress"} if "status" in item else {}
        return {**item, key: value, **status}

    return opening


def _message(item: Item) -> Iterator[Event]:
    for number, part in enumerate(item["content"]):
        at = {"content_index": number}
        field = "refusal" if part["type"] == "refusal" else "text"
        name = "response.refusal" if field == "refusal" else "response.output_text"
        logprobs: dict[str, Any] = {} if field == "refusal" else {"logprobs": []}
        yield {"type": "response.content_part.added", **at, "part": {**part, field: ""}}
        for delta in deltas(part[field]):
            yield {"type": f"{name}.delta", **at, "delta": delta, **logprobs}
        yield {"type": f"{name}.done", **at, field: part[field], **logprobs}
        yield {"type": "response.content_part.done", **at, "part": part}


def _reasoning(item: Item) -> Iterator[Event]:
    for number, part in enumerate(item.get("summary", ())):
        at = {"summary_index": number}
        name = "response.reasoning_summary"
        yield {"type": f"{name}_part.added", **at, "part": {**part, "text": ""}}
        for delta in deltas(part["text"]):
            yield {"type": f"{name}_text.delta", **at, "delta": delta}
        yield {"type": f"{name}_text.done", **at, "text": part["text"]}
        yield {"type": f"{name}_part.done", **at, "part": part}


def _typed(field: str, name: str) -> Callable[[Item], Iterator[Event]]:
    """Deltas of one string field, then its whole text."""

    def between(item: Item) -> Iterator[Event]:
        for delta in deltas(item[field]):
            yield {"type": f"response.{name}.delta", "delta": delta}
        more = {"name": item["name"]} if item["type"] == "function_call" else {}
        yield {"type": f"response.{name}.done", field: item[field], **more}

    return between


def _stages(*names: str) -> Callable[[Item], Iterator[Event]]:
    """The life of a hosted tool call, as events without content."""

    def between(item: Item) -> Iterator[Event]:
        return ({"type": f"response.{item['type']}.{name}"} for name in names)

    return between


PARTS: Final[dict[str, Part]] = {
    "message": (_emptied("content", []), _message),
    "reasoning": (_emptied("summary", []), _reasoning),
    "function_call": (
        _emptied("arguments"),
        _typed("arguments", "function_call_arguments"),
    ),
    "custom_tool_call": (_emptied("input"), _typed("input", "custom_tool_call_input")),
    "mcp_call": (_emptied("output", None), _stages("in_progress", "completed")),
    "mcp_list_tools": (_emptied("tools", []), _stages("in_progress", "completed")),
    "web_search_call": (_whole, _stages("in_progress", "searching", "completed")),
    "file_search_call": (_whole, _stages("in_progress", "searching", "completed")),
    "code_interpreter_call": (
        _emptied("outputs", None),
        _stages("in_progress", "interpreting", "completed"),
    ),
    "image_generation_call": (
        _emptied("result", None),
        _stages("in_progress", "generating", "completed"),
    ),
}
"""Item type -> how it opens, and the events between `added` and `done`."""
