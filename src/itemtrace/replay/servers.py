# pyright: basic
"""MCP servers of a replay: never asked; their tools are those that were called."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from agents import FunctionTool
from agents.tool import ToolOrigin, ToolOriginType

from itemtrace.ledger.parts import mapping
from itemtrace.replay.divergence import missing
from itemtrace.replay.frame import FRAME


if TYPE_CHECKING:
    from itemtrace.ledger import Item, Run
    from itemtrace.replay.frame import Frame


def recorded_tools(frame: Frame, agent: Any) -> list[Any]:
    """Returns the tools of an agent's MCP servers, as far as the tape knows them."""
    found: dict[str, Any] = {}
    for recorded in frame.tape.roots:
        for run in recorded.run.all_runs():
            for item in _calls(run, agent.name):
                name = str(item.raw.get("name"))
                if name not in found:
                    found[name] = frame.tape.named(
                        f"{id(agent)}/{name}", partial(_tool, name, item, run, agent)
                    )
    return list(found.values())


def _calls(run: Run, agent: str) -> list[Item]:
    return [
        item
        for item in run.items
        if item.type == "tool_call_item"
        and item.agent == agent
        and mapping(item.extra.get("tool_origin")).get("type") == "mcp"
    ]


def _tool(name: str, item: Item, run: Run, agent: Any) -> FunctionTool:
    origin = mapping(item.extra.get("tool_origin"))
    title = item.extra.get("title")
    waiting = {entry.call_id for entry in run.approvals}

    async def invoke(_context: Any, arguments: str) -> Any:
        frame = FRAME.get()
        place = frame.path if frame is not None else "live"
        cause = "a tool of an MCP server that is known from the tape only; list it from the server"
        raise missing(place, f"a call of {name}({arguments})", arguments, cause)

    async def needs_approval(_context: Any, _arguments: Any, call_id: str) -> bool:
        return call_id in waiting

    made = FunctionTool(
        name=name,
        description=str(item.extra.get("description") or ""),
        params_json_schema={"type": "object", "properties": {}},
        on_invoke_tool=invoke,
        strict_json_schema=False,
        needs_approval=needs_approval if waiting else False,
    )
    server = origin.get("mcp_server_name")
    names = [each.name for each in agent.mcp_servers]
    if (
        server in names
    ):  # a state that waits for this tool is bound to the server's place
        made._mcp_tool_binding = (str(server), name, names.index(server))
    made._tool_origin = ToolOrigin(type=ToolOriginType.MCP, mcp_server_name=server)
    made._mcp_title = title if isinstance(title, str) else None
    return made
