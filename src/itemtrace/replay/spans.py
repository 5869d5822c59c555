"""Spans of replayed model calls, so that the trace keeps its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agents.tracing import generation_span, response_span

from itemtrace.replay import streams


if TYPE_CHECKING:
    from agents import ModelResponse

    from itemtrace.ledger import ModelCall
    from itemtrace.replay.real import Asked


NANO: Final = 1e9


def span_of(call: ModelCall, asked: Asked) -> Any:
    """Opens the span that the recorded call had; none where its model opened none."""
    if call.api == "responses":
        return response_span(disabled=asked.tracing.is_disabled())
    disabled = asked.tracing.is_disabled() or call.api is None
    return generation_span(model=call.model, disabled=disabled)


def api_response(call: ModelCall, made: ModelResponse) -> Any:
    """Returns the API's response object."""
    answered = call.response.model if call.response else None
    return streams.response_of(made, answered or call.model, call.start_ns / NANO)


def show(
    span: Any, call: ModelCall, asked: Asked, made: ModelResponse, response: Any = None
) -> None:
    """Puts on a span what the SDK's own models put there."""
    if not asked.tracing.include_data() or call.api is None:
        return
    span.span_data.input = asked.items
    if call.api == "responses":
        span.span_data.response = response or api_response(call, made)
    else:
        span.span_data.output = [
            item.model_dump() if hasattr(item, "model_dump") else item
            for item in made.output
        ]
