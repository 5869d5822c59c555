# pyright: basic
"""Events of a stream that ends in a recorded response.

The SDK's loop reads whole items and the completed response, so what it makes of them is the same as
when it was recorded. Text and arguments come as one delta each; the recorded deltas are not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from openai.types import responses as api


if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents import ModelResponse


ENDPOINT: Final[dict[str, Any]] = {
    "object": "response", "tool_choice": "auto", "tools": [], "parallel_tool_calls": True,
    "status": "completed",
}  # fmt: skip


def response_of(made: ModelResponse, model: str | None, created: float) -> api.Response:
    """Returns the API's response object for a recorded one.

    Args:
        made: The SDK's response.
        model: The model that answered.
        created: Seconds since the epoch.
    """
    found = api.Response.model_construct(
        id=made.response_id or "",
        created_at=created,
        model=model or "",
        output=made.output,
        usage=_usage(made.usage),
        **ENDPOINT,
    )
    if made.request_id is not None:
        object.__setattr__(found, "_request_id", made.request_id)
    if made.response_id is None:
        object.__setattr__(found, "id", None)
    return found


def _usage(counted: Any) -> api.ResponseUsage:
    made = api.ResponseUsage.model_construct(
        input_tokens=counted.input_tokens,
        output_tokens=counted.output_tokens,
        total_tokens=counted.total_tokens,
        input_tokens_details=counted.input_tokens_details,
        output_tokens_details=counted.output_tokens_details,
    )
    try:  # the SDK's own way to keep counts that the API's usage has no place for
        from agents.usage import _attach_normalized_usage as attach  # noqa: PLC0415
    except ImportError:  # 0.20
        object.__setattr__(made, "_agents_sdk_request_count", counted.requests)
        if counted.request_usage_entries:
            entries = list(counted.request_usage_entries)
            object.__setattr__(made, "_agents_sdk_request_usages", entries)
    else:
        attach(made, counted)
    return made


def events(response: api.Response, raw_usage: Any = None) -> Iterator[Any]:
    """Yields the events of a stream that ends in a response."""
    _keep_raw_usage(response, raw_usage)
    numbers = iter(range(1_000_000))
    started = response.model_copy(
        update={"output": [], "usage": None, "status": "in_progress"}
    )
    yield _event(
        api.ResponseCreatedEvent, "response.created", numbers, response=started
    )
    for place, item in enumerate(response.output):
        at = {"output_index": place}
        added = "response.output_item.added"
        yield _event(api.ResponseOutputItemAddedEvent, added, numbers, item=item, **at)
        for event_class, name, fields in _parts(item):
            yield _event(event_class, name, numbers, **at, **fields)
        done = "response.output_item.done"
        yield _event(api.ResponseOutputItemDoneEvent, done, numbers, item=item, **at)
    yield _event(
        api.ResponseCompletedEvent, "response.completed", numbers, response=response
    )


def _event(kind: Any, name: str, numbers: Iterator[int], **fields: Any) -> Any:
    return kind.model_construct(type=name, sequence_number=next(numbers), **fields)


def _parts(item: Any) -> Iterator[tuple[Any, str, dict[str, Any]]]:
    """Yields what interfaces show while an item comes: text, and arguments."""
    item_id = getattr(item, "id", None) or ""
    kind = getattr(item, "type", None)
    if kind == "function_call":
        argument = {"item_id": item_id, "delta": item.arguments}
        yield (
            api.ResponseFunctionCallArgumentsDeltaEvent,
            "response.function_call_arguments.delta",
            argument,
        )
    if kind != "message":
        return
    for number, part in enumerate(getattr(item, "content", None) or ()):
        text = getattr(part, "text", None)
        if text is not None:
            shown = {
                "item_id": item_id,
                "content_index": number,
                "delta": text,
                "logprobs": [],
            }
            yield api.ResponseTextDeltaEvent, "response.output_text.delta", shown


def _keep_raw_usage(response: api.Response, raw_usage: Any) -> None:
    if raw_usage is None:
        return
    try:
        from agents.usage import _attach_raw_usage_snapshot as attach  # noqa: PLC0415
    except ImportError:
        return
    attach(response, raw_usage)
