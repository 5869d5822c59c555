"""What a span of another recorder says, in our words; and how a dialect is registered.

A dialect is one module: it says which spans are its own and reads each into a `Step`. It never
raises for what attributes hold.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from itemtrace.ledger.parts import is_mapping, mapping, sequence


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.codec.spans import SpanRow


Kind = Literal["trace", "run", "agent", "model", "tool", "handoff", "other"]
"""`run` frames one call of the runner (the SDK's task span)."""

Raw = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Step:
    """One span, read.

    Attributes:
        row: The span.
        kind: What it is of.
        name: Of the agent, the tool or the workflow.
        group: The conversation.
        trace_id: The SDK's trace id.
        metadata: Of the trace.
        model: The requested model.
        api: `responses` or `chat_completions`, where it is known.
        system: Instructions.
        settings: Model settings, JSON text.
        tools: Tool schemas, JSON text.
        input: What the model was sent, as input items; None where it is not there.
        output: What it answered, as output items; None likewise.
        usage: As in a record (docs/format.md, "Usage").
        response_id: The provider's.
        response_model: The model that answered.
        arguments: Of a tool's call.
        result: What a tool gave.
        call_id: Of a tool's call.
        target: Who takes over; `name` is who hands off.
        agent: The nearest agent above, or the agent that it is.
        error: Type and message.
        error_data: What is said of the error beside that.
        lacks: What this span could not say, in a few words each.
    """

    row: SpanRow
    kind: Kind = "other"
    name: str | None = None
    group: str | None = None
    trace_id: str | None = None
    metadata: Raw | None = None
    model: str | None = None
    api: str | None = None
    system: str | None = None
    settings: str | None = None
    tools: str | None = None
    input: list[Any] | None = None
    output: list[Raw] | None = None
    usage: list[Any] | None = None
    response_id: str | None = None
    response_model: str | None = None
    arguments: str | None = None
    result: Any = None
    call_id: str | None = None
    target: str | None = None
    agent: str | None = None
    error: tuple[str, str] | None = None
    error_data: Raw | None = None
    lacks: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one recorder writes.

    Attributes:
        name: What people call it.
        recognises: Whether a span is of it.
        read: The step of such a span.
        lacks: What it never writes.
        also: Other dialects whose spans it mixes with its own.
    """

    name: str
    recognises: Callable[[SpanRow], bool]
    read: Callable[[SpanRow], Step]
    lacks: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


DIALECTS: Final[dict[str, Dialect]] = {}
"""Every dialect by name; the first that recognises a span has it."""


def register(dialect: Dialect) -> None:
    """Makes a dialect known."""
    DIALECTS[dialect.name] = dialect


ALWAYS: Final = (
    "approvals, sessions, guardrail results and the request ids of responses",
    "which fields of an item were unset and which null",
)
"""What no other recorder writes."""


# --- attributes ---------------------------------------------------------------------


def text(value: Any) -> str | None:
    """Returns a text that says something; None for anything else."""
    return value if isinstance(value, str) and value else None


def parsed(value: Any) -> Any:
    """Returns what a JSON text says; a value that a backend has parsed already as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def count(value: Any) -> int:
    """Returns a number of tokens; backends may have made it a float or a text."""
    if isinstance(value, str):
        return (
            int(value)
            if value.isascii() and value.isdecimal() and len(value) < 16
            else 0
        )
    whole = (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 <= value < 2**53
    )
    return int(value) if whole else 0


def usage_of(value: Any) -> list[Any] | None:
    """Returns the usage of a mapping with the SDK's names."""
    known = mapping(value)
    if not known:
        return None
    given, got = count(known.get("input_tokens")), count(known.get("output_tokens"))
    total = count(known.get("total_tokens")) or given + got
    details = (
        _counts(known.get(f"{side}_tokens_details")) for side in ("input", "output")
    )
    return [1, given, got, total, *details]


def _counts(value: Any) -> Raw:
    return {
        key: number for key, number in mapping(value).items() if isinstance(number, int)
    }


def error_of(row: SpanRow) -> tuple[str, str] | None:
    """Returns the error of a span, from its status, `error.type` and an exception event."""
    if row.status != "ERROR":
        return None
    kind, message = text(row.attributes.get("error.type")), row.status_message
    for event in row.events:
        if event.get("name") == "exception":
            said = mapping(event.get("attributes"))
            kind = kind or text(said.get("exception.type"))
            message = message or text(said.get("exception.message")) or ""
    return kind or "", message


def without_nulls(value: Any) -> Any:
    """Returns a value without the fields that are null: recorders write unset fields so."""
    if is_mapping(value):
        return {
            key: without_nulls(child)
            for key, child in value.items()
            if child is not None
        }
    if isinstance(value, list):
        return [without_nulls(child) for child in sequence(value)]
    return value
