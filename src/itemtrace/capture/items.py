# pyright: basic
# Raw items and SDK objects are JSON values and Any at this edge
"""SDK items, responses and usage as the bodies of records (docs/format.md)."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, Final, get_args


def dump(raw: Any) -> Any:
    """Returns a raw item as a mapping with unset fields left out; mappings as they are.

    The same dump as the SDK's `to_input_item` makes (agents/items.py), so what a model is sent can
    be compared with what was recorded.
    """
    if isinstance(raw, dict):
        return raw
    model_dump = getattr(raw, "model_dump", None)
    if model_dump is None:
        return raw
    return model_dump(exclude_unset=True, warnings=False)


@functools.cache
def usual_classes() -> dict[str, type]:
    """Returns raw type -> the class that the `openai` package gives an output item of it."""
    from openai.types.responses import ResponseOutputItem

    union = get_args(ResponseOutputItem)[0]
    classes: dict[str, type] = {}
    for member in get_args(union):
        for name in get_args(member.model_fields["type"].annotation):
            classes[name] = member
    return classes


MADE_BY_SDK: Final = frozenset(
    {
        "function_call_output", "custom_tool_call_output", "computer_call_output",
        "local_shell_call_output", "shell_call_output", "apply_patch_call_output",
        "mcp_approval_response", "program_output", "tool_search_output",
    }
)  # fmt: skip
"""Raw types that answer a call; seen in an input first, such an entry is an item of the run."""


def class_name(raw: Any) -> str | None:
    """Returns the class of a raw item where a reader would not expect it (docs/format.md, `item`)."""
    if isinstance(raw, dict):
        return (
            "dict"
            if raw.get("type") in usual_classes() and raw.get("type") not in MADE_BY_SDK
            else None
        )
    kind = type(raw)
    name = getattr(raw, "type", None)
    if name in MADE_BY_SDK:
        return kind.__name__
    return None if usual_classes().get(name or "") is kind else kind.__name__


ITEM_TYPES: Final = {
    "message": "message_output_item",
    "reasoning": "reasoning_item",
    "compaction": "compaction_item",
    "mcp_list_tools": "mcp_list_tools_item",
    "mcp_approval_request": "mcp_approval_request_item",
    "mcp_approval_response": "mcp_approval_response_item",
    "tool_search_call": "tool_search_call_item",
    "tool_search_output": "tool_search_output_item",
    "program_output": "tool_call_output_item",
    "shell_call_output": "tool_call_output_item",
}
"""Raw type -> the run item that the SDK usually makes of it; every other call is a `tool_call_item`."""


def usual_type(raw: Any, handoffs: frozenset[str]) -> str:
    """Returns the run item type that the SDK will most likely give a response's item.

    It is confirmed or corrected by the run's result; an unsealed ledger says that it is not.
    """
    kind = raw.get("type") if isinstance(raw, dict) else getattr(raw, "type", None)
    if kind == "function_call":
        name = raw.get("name") if isinstance(raw, dict) else getattr(raw, "name", None)
        return "handoff_call_item" if name in handoffs else "tool_call_item"
    if not isinstance(raw, dict) and type(raw).__name__ == "ResponseOutputMessage":
        return (
            "message_output_item"  # the client's class for types that it does not know
        )
    return ITEM_TYPES.get(kind or "", "tool_call_item")


def handoff_names(agent: Any) -> frozenset[str]:
    """Returns the names of the tools through which an agent hands off."""
    from agents import Handoff

    return frozenset(
        entry.tool_name
        if isinstance(entry, Handoff)
        else Handoff.default_tool_name(entry)
        for entry in getattr(agent, "handoffs", ())
    )


EXTRA_FIELDS: Final = (
    "description", "title", "tool_origin", "custom_data", "tool_name", "tool_namespace",
    "tool_lookup_key", "input_id", "_resolved_tool_name", "_allow_bare_name_alias",
)  # fmt: skip
"""Fields of the SDK's items beside `agent`, `raw_item`, `type` and `output`."""


def extras_of(item: Any) -> dict[str, Any]:
    """Returns what an SDK item holds beside its raw item: what is set, as JSON."""
    found: dict[str, Any] = {}
    fields = item.__dict__
    raw = item.raw_item
    for name in EXTRA_FIELDS:
        value = fields.get(name)
        if value is None or value is False:
            continue
        if name == "tool_name" and value == _get(raw, "name"):
            continue
        if name == "tool_namespace" and value == _get(raw, "namespace"):
            continue
        found[name] = value
    for name in ("source_agent", "target_agent"):
        agent = getattr(item, name, None)
        if agent is not None:
            found[name] = agent.name
    return found


def differs(output: Any, raw: Any) -> bool:
    """Whether a tool's value is not what its raw item says, and so must be kept beside it."""
    return not (isinstance(output, str) and output == _get(raw, "output"))


def _get(raw: Any, name: str) -> Any:
    return raw.get(name) if isinstance(raw, dict) else getattr(raw, name, None)


def usage(value: Any) -> list[Any] | None:
    """Returns `[requests, input, output, total, input details, output details]`."""
    if value is None:
        return None
    return [getattr(value, "requests", None), *_entry(value)]


def entries(value: Any) -> list[list[Any]]:
    """Returns the `request_usage_entries` of a usage, without a request count each."""
    return [
        _entry(entry) for entry in getattr(value, "request_usage_entries", None) or ()
    ]


def _entry(value: Any) -> list[Any]:
    return [
        value.input_tokens,
        value.output_tokens,
        value.total_tokens,
        _details(value.input_tokens_details),
        _details(value.output_tokens_details),
    ]


def _details(value: Any) -> Any:
    if value is None or isinstance(value, dict):
        return value
    fields = {**value.__dict__, **(getattr(value, "__pydantic_extra__", None) or {})}
    given = getattr(value, "model_fields_set", fields)
    return {key: found for key, found in fields.items() if key in given}


@dataclass(slots=True)
class Recorded:
    """An item record that was written, kept until its run ends.

    Attributes:
        seq: Its number.
        raw: The raw item as a mapping, before redaction.
        source: The SDK's object; held so that its identity stays its own.
        type: The run item type it was written with, or None.
        agent: The agent's name it was written with.
        extra: What was written beside the raw item.
        sent: The raw item as an input item, what the next model call should see.
        output: The tool's value, for outputs.
        call: Ordinal of the model call whose response has it.
        kind: The class that was written, where it was.
        predicted: Made before the SDK's own item was seen; the next input or the result confirms it.
    """

    seq: int
    raw: Any
    source: Any
    type: str | None
    agent: str | None
    sent: Any
    extra: dict[str, Any] = field(default_factory=dict)
    output: Any = None
    call: int | None = None
    kind: str | None = None
    predicted: bool = False
