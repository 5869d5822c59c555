# pyright: basic
"""Function tools of a replay, those of MCP servers and agents used as tools among them."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any, get_type_hints

from agents import ItemHelpers

from itemtrace.codec.canonical import TAG
from itemtrace.errors import GapError
from itemtrace.ledger.convert import sdk
from itemtrace.replay.calls import Asked, Found
from itemtrace.replay.divergence import gap
from itemtrace.replay.frame import FRAME
from itemtrace.replay.outputs import served


if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from itemtrace.ledger import Item, Run


def function_stub(tool: Any) -> Any:
    """Stands in for a function tool; one that is an agent runs again."""
    made = copy.copy(tool)
    original = tool.on_invoke_tool
    is_agent = bool(getattr(tool, "_is_agent_tool", False))

    async def invoke(context: Any, arguments: str) -> Any:
        call_id = getattr(context, "tool_call_id", None)
        asked = Asked(_name(tool), call_id, arguments, "function_call", agent=is_agent)

        def value(found: Found, item: Item) -> Any:
            return tool_value(found, item, tool)

        return await served(asked, lambda: original(context, arguments), value)

    made.on_invoke_tool = invoke
    if callable(tool.needs_approval):
        made.needs_approval = recorded_approval(tool.needs_approval)
    return made


def _name(tool: Any) -> str:
    return str(getattr(tool, "qualified_name", None) or tool.name)


def recorded_approval(original: Callable[..., Any]) -> Callable[..., Awaitable[bool]]:
    """Returns a policy that says what was decided when the run was recorded."""

    async def needs_approval(context: Any, arguments: Any, call_id: str) -> bool:
        frame = FRAME.get()
        if (
            frame is None
            or frame.recorded is None
            or frame.recorded.tool_by_id(call_id) is None
        ):
            answer = original(context, arguments, call_id)
            return bool(await answer if inspect.isawaitable(answer) else answer)
        return any(
            approval.call_id == call_id for approval in frame.recorded.run.approvals
        )

    return needs_approval


def tool_value(found: Found, item: Item, tool: Any) -> Any:
    """Returns a function tool's value, so that the SDK makes of it the output that was recorded."""
    try:
        value = sdk.output_of(found.run, item)
    except GapError as error:
        raise found.frame.tape.stop(
            gap(found.place, "this output", str(error))
        ) from error
    value = _typed(value, item, found.run, tool)
    text = item.raw.get("output")
    if not isinstance(text, str) or getattr(tool, "output_json_schema", None):
        return value
    call = found.call.call
    if value == text or call is None or _made_of(call, value) == text:
        return value
    return shown_as(value, text)


def _made_of(call: Item, value: Any) -> Any:
    try:
        return ItemHelpers.tool_call_output_item(sdk.raw_object(call), value)["output"]
    except (TypeError, ValueError):
        return None


def _typed(value: Any, item: Item, run: Run, tool: Any) -> Any:
    """Returns a value as the class that the tool's own function says it returns."""
    if "output" not in item.extra:
        return value
    encoded = sdk._encoded_extra(run, item).get("output")
    wanted = (
        encoded.get("type") if isinstance(encoded, dict) and TAG in encoded else None
    )
    function = getattr(tool, "__wrapped__", None)
    if wanted is None or function is None:
        return value
    try:
        declared = get_type_hints(function).get("return")
    except (NameError, TypeError):
        return value
    if not isinstance(declared, type) or _type_name(declared) != wanted:
        return value
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - few values need it

    try:
        return TypeAdapter(declared).validate_python(value)
    except ValidationError:
        return value


def _type_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def shown_as(value: Any, text: str) -> Any:
    """Returns a value that the SDK turns into a given text."""

    class Shown(dict[str, Any]):
        """A recorded object whose class is not at hand."""

        def __str__(self) -> str:
            return text

        __repr__ = __str__

    return Shown(value) if isinstance(value, dict) else text
