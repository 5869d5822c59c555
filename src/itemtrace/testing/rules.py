"""Inputs that the real API is publicly reported to refuse; the fake one answers 400 to them.

The rules come from error reports about openai-agents (the numbers are issues there), not from
the live API. They are written apart from `itemtrace.ledger`, so that its checks meet an
independent opinion in tests.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, cast


OUTPUT_OF: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
"""A call's item type -> its output's."""

PLACEHOLDER_ID: Final = "__fake_id__"
"""What the SDK puts where Chat Completions gave no id."""

Items = Sequence[Mapping[str, Any]]


def refusals(body: Mapping[str, Any], stored: Collection[str] = ()) -> list[str]:
    """Returns why a `POST /responses` would be refused; empty when it is fine.

    Args:
        body: The request's JSON.
        stored: Ids of items that the server kept from earlier responses.
    """
    given = body.get("input")
    if not isinstance(given, list):
        return []
    items: Items = cast("Items", given)
    chained = body.get("previous_response_id") or body.get("conversation")
    found = [] if chained else list(unpaired(items))  # the other half is on the server
    return [*found, *lone_reasoning(items), *unknown_ids(items, stored)]


def unpaired(items: Items) -> Iterator[str]:
    """Calls and outputs without their other half, and doubles (#673, #2664, #4827)."""
    for call_type, output_type in OUTPUT_OF.items():
        calls = [item["call_id"] for item in items if item.get("type") == call_type]
        outputs = [item["call_id"] for item in items if item.get("type") == output_type]
        yield from (f"{call_type} {i} has no output" for i in calls if i not in outputs)
        yield from (f"{output_type} {i} has no call" for i in outputs if i not in calls)
        doubles = sorted({i for i in calls if calls.count(i) > 1})
        yield from (f"{call_type} {i} is there twice" for i in doubles)


def lone_reasoning(items: Items) -> Iterator[str]:
    """A reasoning item needs the item that the model emitted after it (#2503, #2727)."""
    followers: Items = [*items[1:], {"role": "user"}]
    for item, follower in zip(items, followers, strict=True):
        from_caller = (
            follower.get("role", "assistant") != "assistant"
            or follower.get("type") in OUTPUT_OF.values()
        )
        if item.get("type") == "reasoning" and from_caller:
            yield f"reasoning {item.get('id')} lacks its following item"


def unknown_ids(items: Items, stored: Collection[str]) -> Iterator[str]:
    """Ids that only a server could resolve, and does not know (#2265, #2293)."""
    for item in items:
        if item.get("id") == PLACEHOLDER_ID:
            yield f"{item.get('type')} has the placeholder id {PLACEHOLDER_ID}"
        elif (
            item.get("type") == "reasoning"
            and not item.get("encrypted_content")
            and item.get("id") not in stored
        ):
            yield f"reasoning {item.get('id')} was not stored and has no encrypted content"


def chat_refusals(body: Mapping[str, Any]) -> list[str]:
    """Returns why a `POST /chat/completions` would be refused; empty when it is fine."""
    found: list[str] = []
    waiting: list[str] = []
    messages: Items = [*body.get("messages", ()), {"role": "end"}]
    for entry in messages:
        if entry["role"] == "tool":
            if entry["tool_call_id"] in waiting:
                waiting.remove(entry["tool_call_id"])
            else:
                found.append(
                    f"tool message {entry['tool_call_id']} follows no such call"
                )
            continue
        found += [f"tool call {call_id} has no tool message" for call_id in waiting]
        calls: Items = entry.get("tool_calls") or ()
        waiting = [call["id"] for call in calls]
    return found
