"""Items to message parts, by registration on the item's type.

An item of an unknown type leaves no part, and so do approvals: the conventions have no words for
them. The ledger has every item whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from itemtrace.capture.messages.content import Part, content_parts
from itemtrace.capture.messages.fields import field, plain


ItemBuilder = Callable[[Any], list[Part]]

PARTS: Final[dict[str, ItemBuilder]] = {}
"""Item type -> what makes its parts."""

PARSE_BYTES: Final = 16_000
"""Longer arguments stay the string they are."""

CLIENT_CALLS: Final = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "tool_search_call",
    }
)
"""Types of items that may ask the client to run a tool."""


_MAYBE_HOSTED: Final = frozenset({"shell_call", "tool_search_call"})


def register(*types: str) -> Callable[[ItemBuilder], ItemBuilder]:
    """Returns a decorator that makes a function the builder for these item types."""

    def add(builder: ItemBuilder) -> ItemBuilder:
        for item_type in types:
            PARTS[item_type] = builder
        return builder

    return add


def item_parts(item: object) -> list[Part]:
    """Returns the parts of one item; none for a type that has no part."""
    builder = PARTS.get(item_type(item))
    return builder(item) if builder else []


def item_type(item: object) -> str:
    """Returns an item's type; an item with a role and no type is a message."""
    named = field(item, "type")
    if isinstance(named, str):
        return named
    return "message" if field(item, "role") is not None else ""


def is_client_call(item: object) -> bool:
    """Whether an item asks the client to run a tool: not one that the provider has run."""
    kind = item_type(item)
    return kind in CLIENT_CALLS and not (kind in _MAYBE_HOSTED and _is_hosted(item))


def parsed(arguments: Any) -> Any:
    """Returns the object in a JSON string of arguments, or what was given."""
    if not isinstance(arguments, str):
        return plain(arguments)
    if not arguments or len(arguments) > PARSE_BYTES:
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def tool_call(call_id: Any, name: Any, arguments: Any) -> Part:
    """Returns the part of a call that the client executes."""
    part: Part = {"type": "tool_call", "id": call_id, "name": name or ""}
    if arguments is not None:
        part["arguments"] = arguments
    if call_id is None:
        del part["id"]
    return part


def tool_response(call_id: Any, response: Any) -> Part:
    """Returns the part of a tool's answer."""
    part: Part = {"type": "tool_call_response", "id": call_id, "response": response}
    if call_id is None:
        del part["id"]
    return part


def _is_hosted(item: object) -> bool:
    if field(item, "execution") == "server":
        return True
    return bool(field(field(item, "environment"), "type") == "container_reference")


def _payload(kind: str, item: object, *names: str) -> dict[str, Any]:
    payload: dict[str, Any] = {"type": kind}
    for name in names:
        value = plain(field(item, name))
        if value is not None:
            payload[name] = value
    return payload


def _server_call(kind: str, item: object, *names: str) -> Part:
    part: Part = {"type": "server_tool_call", "name": field(item, "name") or kind}
    call_id = field(item, "call_id") or field(item, "id")
    if call_id:
        part["id"] = call_id
    part["server_tool_call"] = _payload(kind, item, *names)
    return part


def _server_response(kind: str, item: object, *names: str) -> list[Part]:
    payload = _payload(kind, item, *names)
    if len(payload) == 1:
        return []
    part: Part = {"type": "server_tool_call_response"}
    call_id = field(item, "call_id") or field(item, "id")
    if call_id:
        part["id"] = call_id
    part["server_tool_call_response"] = payload
    return [part]


@register("message")
def message(item: Any) -> list[Part]:
    """A Responses or chat message; chat messages hold calls and answers inside."""
    if field(item, "role") == "tool":
        return [
            tool_response(field(item, "tool_call_id"), plain(field(item, "content")))
        ]
    parts = content_parts(field(item, "content"))
    refusal = field(item, "refusal")
    if refusal:
        parts.append({"type": "text", "content": refusal})
    parts.extend(_chat_call(call) for call in field(item, "tool_calls") or ())
    return parts


def _chat_call(call: object) -> Part:
    function = field(call, "function") or field(call, "custom")
    arguments = field(function, "arguments")
    if arguments is None:
        arguments = field(function, "input")
    return tool_call(field(call, "id"), field(function, "name"), parsed(arguments))


@register("reasoning")
def reasoning(item: Any) -> list[Part]:
    """The summaries and texts; reasoning without text has no part."""
    return content_parts(field(item, "summary")) + content_parts(field(item, "content"))


@register("function_call")
def function_call(item: Any) -> list[Part]:
    """A call of a function tool or a handoff."""
    arguments = parsed(field(item, "arguments"))
    return [tool_call(field(item, "call_id"), field(item, "name"), arguments)]


@register("custom_tool_call")
def custom_tool_call(item: Any) -> list[Part]:
    """A call with free-form input."""
    return [
        tool_call(field(item, "call_id"), field(item, "name"), field(item, "input"))
    ]


@register("computer_call")
def computer_call(item: Any) -> list[Part]:
    """One action, or a list of them."""
    actions = field(item, "action") or field(item, "actions")
    return [tool_call(field(item, "call_id"), "computer", plain(actions))]


@register("local_shell_call")
def local_shell_call(item: Any) -> list[Part]:
    """A command for the local shell."""
    action = plain(field(item, "action"))
    return [tool_call(field(item, "call_id"), "local_shell", action)]


@register("shell_call")
def shell_call(item: Any) -> list[Part]:
    """Commands for a shell: ours, or one in the provider's container."""
    if _is_hosted(item):
        return [_server_call("shell", item, "action")]
    return [tool_call(field(item, "call_id"), "shell", plain(field(item, "action")))]


@register("apply_patch_call")
def apply_patch_call(item: Any) -> list[Part]:
    """A change of one file."""
    operation = plain(field(item, "operation"))
    return [tool_call(field(item, "call_id"), "apply_patch", operation)]


@register(
    "function_call_output",
    "custom_tool_call_output",
    "computer_call_output",
    "shell_call_output",
    "apply_patch_call_output",
)
def call_output(item: Any) -> list[Part]:
    """A tool's answer, as the model gets it."""
    return [tool_response(field(item, "call_id"), plain(field(item, "output")))]


@register("local_shell_call_output")
def local_shell_call_output(item: Any) -> list[Part]:
    """Its id is the call's."""
    call_id = field(item, "call_id") or field(item, "id")
    return [tool_response(call_id, plain(field(item, "output")))]


@register("web_search_call")
def web_search_call(item: Any) -> list[Part]:
    """A search that the provider ran."""
    return [_server_call("web_search", item, "action")]


@register("file_search_call")
def file_search_call(item: Any) -> list[Part]:
    """A search in the provider's files, with what it found if that was asked for."""
    results = _server_response("file_search", item, "results")
    return [_server_call("file_search", item, "queries"), *results]


@register("code_interpreter_call")
def code_interpreter_call(item: Any) -> list[Part]:
    """Code that the provider ran."""
    call = _server_call("code_interpreter", item, "code", "container_id")
    return [call, *_server_response("code_interpreter", item, "outputs")]


@register("image_generation_call")
def image_generation_call(item: Any) -> list[Part]:
    """An image that the provider made; the image itself is only in the ledger."""
    return [_server_call("image_generation", item, "revised_prompt")]


@register("mcp_call")
def mcp_call(item: Any) -> list[Part]:
    """A call of a remote MCP tool that the provider made."""
    call = _server_call("mcp", item, "server_label")
    call["server_tool_call"]["arguments"] = parsed(field(item, "arguments"))
    return [call, *_server_response("mcp", item, "output", "error")]


@register("mcp_list_tools")
def mcp_list_tools(item: Any) -> list[Part]:
    """The provider listed the tools of a remote MCP server; the schemas are in the ledger."""
    return [_server_call("mcp_list_tools", item)]


@register("program")
def program(item: Any) -> list[Part]:
    """A program of the model that calls tools."""
    return [_server_call("program", item, "code")]


@register("program_output")
def program_output(item: Any) -> list[Part]:
    """What the program gave."""
    return _server_response("program", item, "result")


@register("tool_search_call")
def tool_search_call(item: Any) -> list[Part]:
    """A search for tools, by the provider or by us."""
    if _is_hosted(item):
        return [_server_call("tool_search", item, "arguments")]
    arguments = parsed(field(item, "arguments"))
    return [tool_call(field(item, "call_id"), "tool_search", arguments)]


@register("tool_search_output")
def tool_search_output(item: Any) -> list[Part]:
    """The tools that were found."""
    if _is_hosted(item):
        return _server_response("tool_search", item, "tools")
    return [tool_response(field(item, "call_id"), plain(field(item, "tools")))]


@register("compaction")
def compaction(item: Any) -> list[Part]:
    """Marks that earlier history was replaced; its content is encrypted."""
    part: Part = {"type": "compaction"}
    item_id = field(item, "id")
    if item_id:
        part["id"] = item_id
    return [part]
