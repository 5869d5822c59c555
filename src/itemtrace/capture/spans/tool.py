"""Tools: the SDK's `function` spans, and the listing of an MCP server's tools."""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import SpanKind

from itemtrace import semconv
from itemtrace.capture.messages import field, fit_json, fit_value
from itemtrace.capture.messages.parts import parsed
from itemtrace.capture.spans.base import (
    Attributes,
    CallInfo,
    Named,
    SpanContextInfo,
    Start,
    keep_alive,
    named,
    operation,
    put,
    register,
    strings,
)
from itemtrace.capture.spans.readable import put_copies


_LOAD_SKILL = "load_skill"  # the SDK sandbox's tool; the conventions name it


def function_start(data: Any, info: SpanContextInfo) -> Start:
    """One call of a tool is one span."""
    attributes = operation("execute_tool", info)
    attributes[semconv.GEN_AI_TOOL_NAME] = data.name
    attributes[semconv.GEN_AI_TOOL_TYPE] = "function"
    put(attributes, semconv.GEN_AI_AGENT_NAME, info.agent_name)
    return Start(named("execute_tool", data.name), SpanKind.INTERNAL, attributes)


def function_end(data: Any, info: SpanContextInfo) -> Named:
    """Call id, arguments and result; an MCP tool's call gets the MCP attributes as well."""
    attributes: Attributes = {}
    if info.call:
        _put_call(attributes, info.call)
    mcp = field(data, "mcp_data")
    if mcp:
        attributes[semconv.MCP_METHOD_NAME] = "tools/call"
        put(attributes, semconv.ITEMTRACE_MCP_SERVER, field(mcp, "server"))
    name = named("execute_tool", data.name)
    if not info.content:
        return Named(name, attributes)
    arguments = field(data, "input")
    if info.messages != "off":
        _put_content(attributes, arguments, field(data, "output"), info)
    if data.name == _LOAD_SKILL and arguments:
        skill = field(parsed(arguments), "skill_name")
        put(attributes, semconv.GEN_AI_SKILL_NAME, skill)
        name = named(name, skill)
    return Named(name, attributes)


def _put_call(attributes: Attributes, call: CallInfo) -> None:
    put(attributes, semconv.GEN_AI_TOOL_CALL_ID, call.tool_call_id)
    put(attributes, semconv.GEN_AI_TOOL_DESCRIPTION, call.tool_description)
    put(attributes, semconv.ITEMTRACE_TOOL_CALL_ID_SOURCE, call.call_id_source)
    if call.executed is False:
        attributes[semconv.ITEMTRACE_TOOL_EXECUTED] = False


def _put_content(
    attributes: Attributes, arguments: Any, output: Any, info: SpanContextInfo
) -> None:
    arguments, output = info.shown(arguments), info.shown(output)
    given = fit_json(arguments, info.limit) if arguments else (None, False)
    got = (None, False) if output is None else fit_value(output, info.limit)
    put_copies(
        attributes,
        (semconv.GEN_AI_TOOL_CALL_ARGUMENTS, given),
        (semconv.GEN_AI_TOOL_CALL_RESULT, got),
    )


def mcp_start(data: Any, info: SpanContextInfo) -> Start:
    """The client asks an MCP server for its tools."""
    attributes = keep_alive(info)
    attributes[semconv.MCP_METHOD_NAME] = "tools/list"
    put(attributes, semconv.ITEMTRACE_MCP_SERVER, field(data, "server"))
    return Start("tools/list", SpanKind.CLIENT, attributes)


def mcp_end(data: Any, info: SpanContextInfo) -> Named:  # noqa: ARG001 - a handler
    """The names of the tools."""
    attributes: Attributes = {}
    put(attributes, semconv.ITEMTRACE_MCP_TOOLS, strings(field(data, "result")))
    return Named("tools/list", attributes)


register("function", function_start, function_end)
register("mcp_tools", mcp_start, mcp_end)
