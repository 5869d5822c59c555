"""The endpoints of the fake provider: what each refuses, and how it says a step.

A new endpoint is a function and a line in `APIS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.testing import chat, rules, wire
from itemtrace.testing.wire import Step


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True)
class Reply:
    """What goes back over the wire: a JSON body, or the data of server-sent events."""

    status: int
    request_id: str
    step: Step
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    events: Iterator[str] | None = None


def refusal(request_id: str, step: Step) -> Reply:
    """Returns the answer of a step with another status than 200."""
    kind = "server_error" if step.status >= 500 else "invalid_request_error"
    error = {"message": step.error, "type": kind, "param": None, "code": None}
    return Reply(step.status, request_id, step, {"error": error})


@dataclass(frozen=True)
class Api:
    """One endpoint: what it refuses, and how it says a step."""

    refusals: Callable[[dict[str, Any], set[str]], list[str]]
    reply: Callable[[Step, dict[str, Any], str], Reply]


def _responses(step: Step, body: dict[str, Any], name: str) -> Reply:
    answer = wire.response(step, body, f"resp_{name}")
    events = None
    if body.get("stream"):
        numbered = wire.events(answer, cut=step.ends == "cut")
        events = (
            f"event: {e['type']}\ndata: {canonical.dumps(e)}\n\n" for e in numbered
        )
    return Reply(200, f"req_{name}", step, answer, events)


def _compact(step: Step, body: dict[str, Any], name: str) -> Reply:
    answer = wire.response(step, body, f"cmp_{name}")
    kept = ("id", "created_at", "output", "usage")
    compacted = {"object": "response.compaction"} | {key: answer[key] for key in kept}
    return Reply(200, f"req_{name}", step, compacted)


def _chat(step: Step, body: dict[str, Any], name: str) -> Reply:
    unsayable = chat.unsayable(step)
    if unsayable:
        problem = f"Chat Completions has no {', '.join(unsayable)}; script a message or function_call"
        return refusal(f"req_{name}", Step(status=400, error=problem))
    events = None
    if body.get("stream"):
        data = [
            canonical.dumps(chunk)
            for chunk in chat.chunks(step, body, f"chatcmpl_{name}")
        ]
        data += [] if step.ends == "cut" else ["[DONE]"]
        events = (f"data: {each}\n\n" for each in data)
    answer = chat.completion(step, body, f"chatcmpl_{name}")
    return Reply(200, f"req_{name}", step, answer, events)


APIS: Final[dict[str, Api]] = {
    "/v1/responses": Api(rules.refusals, _responses),
    "/v1/responses/compact": Api(lambda _body, _stored: [], _compact),
    "/v1/chat/completions": Api(lambda body, _: rules.chat_refusals(body), _chat),
}
"""Path -> how it answers."""
