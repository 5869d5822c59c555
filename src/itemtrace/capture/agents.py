# pyright: basic
# Agents, settings and tools are the user's objects
"""What is recorded of an agent: the tools it hands off through, its settings, its tools' schemas."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from itemtrace.capture.items import handoff_names
from itemtrace.codec import canonical


_UNKEPT: Final = frozenset({"extra_headers", "retry"})
"""Settings that may hold credentials, or code."""

_FREE: Final = frozenset({"metadata", "extra_body", "extra_query", "extra_args"})
"""Settings in which a caller may write anything."""


class Described(NamedTuple):
    """An agent as calls refer to it.

    Attributes:
        agent: The agent, or its name; held, so that its identity stays its own.
        handoffs: Names of the tools through which it hands off.
        settings: Its model settings that are set, as JSON text.
        tools: Schemas of its own tools, as JSON text.
    """

    agent: Any
    handoffs: frozenset[str] = frozenset()
    settings: str | None = None
    tools: str | None = None


def describe(agent: Any, *, content: bool) -> Described:
    """Returns what is recorded of an agent.

    Args:
        agent: The SDK's agent, or only its name.
        content: False leaves out settings in which a caller may write anything.
    """
    if agent is None or isinstance(agent, str):
        return Described(agent)
    settings = _settings(agent, content=content)
    return Described(agent, handoff_names(agent), settings, _tools(agent))


def _settings(agent: Any, *, content: bool) -> str | None:
    """Returns an agent's model settings that are set, as JSON text."""
    fields = getattr(getattr(agent, "model_settings", None), "__dict__", None) or {}
    left = _UNKEPT if content else _UNKEPT | _FREE
    found = {
        key: value
        for key, value in fields.items()
        if value is not None and key not in left
    }
    return canonical.dumps(found) if found else None


def _tools(agent: Any) -> str | None:
    """Returns the schemas of an agent's own function tools, as JSON text."""
    found = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.params_json_schema,
        }
        if hasattr(tool, "params_json_schema")
        else {"type": getattr(tool, "name", type(tool).__name__)}
        for tool in getattr(agent, "tools", ())
    ]
    return canonical.dumps(found) if found else None
