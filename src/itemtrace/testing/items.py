"""Builders of the output items that a model may answer with, as the API's JSON.

    Step([reasoning("rs_1", "gAAAA..."), function_call("find_order", "call_1", order="A-7")])

Each returns a plain mapping that may be changed before it is scripted. Item types without a
builder are written by hand: the provider sends any mapping as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemtrace.codec import canonical


if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


Item = dict[str, Any]
"""An output item as JSON."""


def message(
    text: str,
    item_id: str = "msg_1",
    *,
    annotations: Sequence[Mapping[str, Any]] = (),
) -> Item:
    """An assistant message with one text part."""
    part = {
        "type": "output_text",
        "text": text,
        "annotations": [dict(annotation) for annotation in annotations],
        "logprobs": [],
    }
    return {
        "type": "message",
        "id": item_id,
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def refusal(text: str, item_id: str = "msg_1") -> Item:
    """An assistant message in which the model declines."""
    return message("", item_id) | {"content": [{"type": "refusal", "refusal": text}]}


def function_call(name: str, call_id: str, /, **arguments: Any) -> Item:
    """A call of a function tool; a handoff is one to `transfer_to_<agent>`."""
    return {
        "type": "function_call",
        "id": "fc_" + call_id.removeprefix("call_"),
        "call_id": call_id,
        "name": name,
        "arguments": canonical.dumps(arguments),
        "status": "completed",
    }


def custom_tool_call(name: str, call_id: str, text: str) -> Item:
    """A call of a custom tool, whose input is free text."""
    return {
        "type": "custom_tool_call",
        "id": "ctc_" + call_id.removeprefix("call_"),
        "call_id": call_id,
        "name": name,
        "input": text,
    }


def reasoning(
    item_id: str, encrypted_content: str | None = None, *summary: str
) -> Item:
    """A reasoning item; without `encrypted_content` only its id can be sent back."""
    item: Item = {
        "type": "reasoning",
        "id": item_id,
        "summary": [{"type": "summary_text", "text": text} for text in summary],
    }
    if encrypted_content is not None:
        item["encrypted_content"] = encrypted_content
    return item


def web_search_call(item_id: str, query: str) -> Item:
    """A hosted web search that is done."""
    return {
        "type": "web_search_call",
        "id": item_id,
        "status": "completed",
        "action": {"type": "search", "query": query},
    }


def file_search_call(item_id: str, *queries: str) -> Item:
    """A hosted file search that found nothing to quote."""
    return {
        "type": "file_search_call",
        "id": item_id,
        "status": "completed",
        "queries": list(queries),
        "results": None,
    }


def code_interpreter_call(item_id: str, code: str, logs: str) -> Item:
    """A hosted code interpreter call and what it printed."""
    return {
        "type": "code_interpreter_call",
        "id": item_id,
        "status": "completed",
        "container_id": "cntr_1",
        "code": code,
        "outputs": [{"type": "logs", "logs": logs}],
    }


def image_generation_call(item_id: str, image: str) -> Item:
    """A hosted image generation; `image` is base64."""
    return {
        "type": "image_generation_call",
        "id": item_id,
        "status": "completed",
        "result": image,
    }


def mcp_list_tools(item_id: str, server: str, *names: str) -> Item:
    """The tool list of a hosted MCP server."""
    return {
        "type": "mcp_list_tools",
        "id": item_id,
        "server_label": server,
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in names],
    }


def mcp_call(
    item_id: str, server: str, name: str, output: str, /, **arguments: Any
) -> Item:
    """A call of a hosted MCP server's tool, with its output."""
    return {
        "type": "mcp_call",
        "id": item_id,
        "server_label": server,
        "name": name,
        "arguments": canonical.dumps(arguments),
        "output": output,
        "status": "completed",
    }


def mcp_approval_request(
    item_id: str, server: str, name: str, /, **arguments: Any
) -> Item:
    """A hosted MCP server asks before it calls a tool."""
    return {
        "type": "mcp_approval_request",
        "id": item_id,
        "server_label": server,
        "name": name,
        "arguments": canonical.dumps(arguments),
    }


def shell_call(call_id: str, *commands: str) -> Item:
    """A call of the shell tool."""
    return {
        "type": "shell_call",
        "id": "sh_" + call_id.removeprefix("call_"),
        "call_id": call_id,
        "status": "completed",
        "action": {
            "commands": list(commands),
            "timeout_ms": None,
            "max_output_length": None,
        },
        "environment": {"type": "local"},
    }


def apply_patch_call(call_id: str, path: str, diff: str) -> Item:
    """A call that changes a file."""
    return {
        "type": "apply_patch_call",
        "id": "apc_" + call_id.removeprefix("call_"),
        "call_id": call_id,
        "status": "completed",
        "operation": {"type": "update_file", "path": path, "diff": diff},
    }


def compaction(item_id: str, encrypted_content: str) -> Item:
    """What the server made of an earlier history."""
    return {
        "type": "compaction",
        "id": item_id,
        "encrypted_content": encrypted_content,
    }
