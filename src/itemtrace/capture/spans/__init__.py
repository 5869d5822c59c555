"""SDK spans to names, kinds and attributes: one registered handler per span type.

    name, kind, attributes = on_start(span.span_data, info)
    name, attributes, error_type, message = on_end(span.span_data, info, span.error)

The functions are pure. Status is ERROR where `error_type` is set, else UNSET. A span type without a
handler keeps all it has (`steps.UNKNOWN`). A new type is one `register` call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemtrace.capture.spans import audio, model, run, steps, tool
from itemtrace.capture.spans.base import (
    HANDLERS,
    Attributes,
    Bare,
    CallInfo,
    End,
    Handler,
    SpanContextInfo,
    Start,
    finish,
    keep_alive,
    register,
)
from itemtrace.capture.spans.errors import error_type, span_error_type
from itemtrace.capture.spans.run import workflow_name, workflow_start


if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = [
    "HANDLERS",
    "Attributes",
    "Bare",
    "CallInfo",
    "End",
    "Handler",
    "SpanContextInfo",
    "Start",
    "error_type",
    "keep_alive",
    "on_end",
    "on_start",
    "register",
    "span_error_type",
    "workflow_name",
    "workflow_start",
]

MODULES = (audio, model, run, steps, tool)
"""The modules that register handlers; a new one is a line here."""


def on_start(span_data: Any, info: SpanContextInfo) -> Start:
    """Returns how a span opens: its name, kind and what samplers may ask for."""
    return HANDLERS.get(span_data.type, steps.UNKNOWN).start(span_data, info)


def on_end(
    span_data: Any, info: SpanContextInfo, error: Mapping[str, Any] | None = None
) -> End:
    """Returns how a span closes.

    Args:
        span_data: The SDK's span data, as it is at the end.
        info: As at the start, by now with all that `call` can have.
        error: The SDK's `SpanError`.
    """
    handler = HANDLERS.get(span_data.type, steps.UNKNOWN)
    return finish(handler, span_data, info, error)
