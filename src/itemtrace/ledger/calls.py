"""Model calls: what a model was sent, and what it answered."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec.canonical import TAG, Placeholder
from itemtrace.codec.items import as_input_item
from itemtrace.ledger import usage as usages
from itemtrace.ledger.entries import Table, origins
from itemtrace.ledger.items import Item, lost
from itemtrace.ledger.parts import mapping, part, parts, sequence
from itemtrace.ledger.usage import Usage


if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itemtrace.ledger.run import Run


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as it was recorded.

    Attributes:
        type: Class of the exception.
        message: Its text; a `Placeholder` where it is withheld.
        data: What the SDK's span says beside it, such as the exception's own text under `error`.
        class_name: Class of the exception where `type` is the provider's code.
        cause: The exception that it was raised from, such as what a tool raised.
    """

    type: str
    message: Any = ""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    class_name: str | None = None
    cause: ErrorInfo | None = None


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """What a model answered, with the fields of the SDK's `ModelResponse`.

    Attributes:
        items: The output items.
        usage: Tokens.
        response_id: The provider's id, where it gives one.
        request_id: The transport's id.
        raw_usage: The provider's own usage object, where the SDK kept it.
        model: The model that answered, where it is known.
        previous: `previous_response_id` of the request.
    """

    items: tuple[Item, ...] = ()
    usage: Usage = field(default_factory=Usage)
    response_id: str | None = None
    request_id: str | None = None
    raw_usage: Mapping[str, Any] | None = None
    model: str | None = None
    previous: str | None = None

    @property
    def output(self) -> list[Any]:
        """The output items, raw."""
        return [item.raw for item in self.items]

    def to_input_items(self) -> list[Any]:
        """Returns the output as input items, as the SDK's method of this name does."""
        return [
            item.raw if item.lost or not mapping(item.raw) else as_input_item(item.raw)
            for item in self.items
        ]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model.

    Attributes:
        n: Ordinal in the run, from 0.
        agent: Who called.
        turn: The SDK's turn, where it is known.
        start_ns: Nanoseconds since the epoch; 0 when unknown.
        end_ns: As `start_ns`.
        model: The requested model.
        api: `responses` or `chat_completions`, where it is known.
        system: The instructions; a `Placeholder` where they are withheld.
        settings: Model settings that were set.
        tools: Schemas of the agent's own tools.
        response: The answer; None where the call did not end.
        error: What ended the call.
        attempts: Failed attempts before it.
        origin: Where the input came from, on the first call of a run with a session.
        recalled: Whether the response is of an earlier part of the run, known from its state only.
        seq: Number of the record.
    """

    n: int
    agent: str | None = None
    turn: int | None = None
    start_ns: int = 0
    end_ns: int = 0
    model: str | None = None
    api: str | None = None
    system: Any = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tools: Sequence[Any] = ()
    response: ModelResponse | None = None
    error: ErrorInfo | None = None
    attempts: tuple[ErrorInfo, ...] = ()
    origin: tuple[tuple[str, int], ...] = ()
    recalled: bool = False
    seq: int = 0
    ranges: Sequence[Any] = field(default=(), repr=False)
    table: Table | None = field(default=None, repr=False, compare=False)

    @property
    def input(self) -> list[Any]:
        """The items that the model was sent, in order."""
        return self.table.at(self.ranges) if self.table else []

    @property
    def duration(self) -> float:
        """Seconds from start to end; 0 where the call did not end."""
        return max(self.end_ns - self.start_ns, 0) / 1e9 if self.end_ns else 0.0


def model_calls(run: Run) -> tuple[ModelCall, ...]:
    """Returns the model calls of a run in their order."""
    entries: list[Any] = []
    table = Table(entries, run)
    found: list[ModelCall] = []
    asked: dict[Any, Mapping[str, Any]] = {}
    whole = True
    for seq, body in run.bodies("call"):
        n = body.get("n")
        whole = whole and n == len(found)
        sent = part(body, "input")
        if whole:
            entries += parts(sent, "new")
        asked[n] = request = _request(body, asked)
        whole_table = [[0, len(entries) + (not whole)]] if "input" in body else []
        ranges = sent.get("list", whole_table)
        found.append(_call(run, seq, {**body, **request}, table, ranges))
    return tuple(found)


REQUEST: Final = ("system", "settings", "tools", "model", "api")
"""What a call asks with; `as` names an earlier call that asked with the same."""


def _request(
    body: Mapping[str, Any], asked: Mapping[Any, Mapping[str, Any]]
) -> Mapping[str, Any]:
    if "as" not in body:
        return {key: body[key] for key in REQUEST if key in body}
    lost = {"system": Placeholder({TAG: "missing", "call": body["as"]})}
    return asked.get(usages.number(body["as"]), lost)


def _call(
    run: Run, seq: int, body: Mapping[str, Any], table: Table, ranges: Any
) -> ModelCall:
    sent = part(body, "input")
    answer = body.get("response")
    return ModelCall(
        n=usages.number(body.get("n")),
        agent=body.get("agent"),
        turn=body.get("turn"),
        start_ns=run.time_of(body.get("start")),
        end_ns=run.time_of(body.get("end")),
        model=body.get("model"),
        api=body.get("api"),
        system=body.get("system"),
        settings=parsed(body.get("settings"), {}),
        tools=parsed(body.get("tools"), []),
        response=None if answer is None else _response(run, answer),
        error=error_of(body.get("error")),
        attempts=tuple(
            error for entry in parts(body, "attempts") if (error := error_of(entry))
        ),
        origin=tuple(origins(sent)),
        recalled=body.get("recalled") is True,
        seq=seq,
        ranges=sequence(ranges),
        table=table,
    )


def _response(run: Run, body: Mapping[str, Any]) -> ModelResponse:
    return ModelResponse(
        items=tuple(
            run.item_at(seq) or lost(seq, run.run_id) for seq in parts(body, "output")
        ),
        usage=usages.from_body(body.get("usage"), parts(body, "entries")),
        response_id=body.get("id"),
        request_id=body.get("request_id"),
        raw_usage=body.get("raw_usage"),
        model=body.get("model"),
        previous=body.get("previous"),
    )


def error_of(body: Any) -> ErrorInfo | None:
    """Returns the error of a body; None where there is none."""
    if not isinstance(body, dict):
        return None
    known = mapping(body)
    return ErrorInfo(
        str(known.get("type", "")),
        known.get("message", ""),
        part(known, "data"),
        known.get("class"),
        error_of(known.get("cause")),
    )


def parsed(value: Any, default: Any) -> Any:
    """Returns what a JSON text says, or the value itself where it is of the default's type."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return default
    return value if isinstance(value, type(default)) else default
