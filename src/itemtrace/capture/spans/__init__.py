"""SDK spans to names, kinds and attributes: one registered handler per span type.

    name, kind, attributes = on_start(span.span_data, info)
    name, attributes, error_type, message = on_end(span.span_data, info, span.error)

The functions are pure. Status is ERROR where `error_type` is set, else UNSET. A span type without a
handler keeps all it has (`steps.UNKNOWN`). A new type is one `register` call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.trace import SpanKind

from itemtrace.capture import openinference
from itemtrace.capture.spans import audio, model, run, steps, tool
from itemtrace.capture.spans.base import (
    HANDLERS,
    VOCABULARIES,
    Attributes,
    Bare,
    CallInfo,
    End,
    Handler,
    SpanContextInfo,
    Start,
    end_in_all,
    finish,
    keep_alive,
    register,
    start_in_all,
)
from itemtrace.capture.spans.errors import error_type, span_error_type
from itemtrace.capture.spans.run import workflow_name
from itemtrace.capture.spans.run import workflow_start as plain_workflow_start


if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = [
    "HANDLERS",
    "VOCABULARIES",
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
    "own_start",
    "register",
    "span_error_type",
    "workflow_name",
    "workflow_start",
]

MODULES = (audio, model, run, steps, tool, openinference)
"""The modules that register handlers and vocabularies; a new one is a line here."""


def on_start(span_data: Any, info: SpanContextInfo) -> Start:
    """Returns how a span opens: its name, kind and what samplers may ask for."""
    start = HANDLERS.get(span_data.type, steps.UNKNOWN).start(span_data, info)
    return start_in_all(span_data.type, start, info)


def own_start(info: SpanContextInfo) -> Attributes:
    """Returns what a span of ours has that no SDK span stands behind."""
    start = Start("", SpanKind.INTERNAL, keep_alive(info))
    return start_in_all("itemtrace", start, info).attributes


def workflow_start(
    trace_id: str, info: SpanContextInfo, metadata: Mapping[str, Any] | None = None
) -> Start:
    """Returns how a trace's root span opens; see `run.workflow_start`."""
    start = plain_workflow_start(trace_id, info, metadata)
    return start_in_all("trace", start, info)


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
    end = finish(handler, span_data, info, error)
    return end_in_all(span_data.type, end, info)
