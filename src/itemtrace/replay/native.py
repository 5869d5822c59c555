# pyright: basic
"""Tools that are no functions: custom, shell, files, hosted MCP approvals."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any

from itemtrace.replay import failures
from itemtrace.replay.calls import Asked, Found
from itemtrace.replay.divergence import missing
from itemtrace.replay.frame import FRAME, Frame
from itemtrace.replay.outputs import served


if TYPE_CHECKING:
    from itemtrace.ledger import Item


def custom_stub(tool: Any) -> Any:
    """Stands in for a custom tool."""
    made = copy.copy(tool)
    original = tool.on_invoke_tool

    async def invoke(context: Any, text: str) -> Any:
        asked = Asked(tool.name, context.tool_call_id, text, "custom_tool_call")
        return await served(
            asked, lambda: original(context, text), lambda _, item: item.output
        )

    made.on_invoke_tool = invoke
    return made


def shell_stub(tool: Any) -> Any:
    """Stands in for a shell tool that runs on the application's side; hosted ones are the model's."""
    original = tool.executor
    if original is None:
        return tool
    made = copy.copy(tool)

    async def execute(request: Any) -> Any:
        asked = Asked(tool.name, request.data.call_id, None, "shell_call")
        return await served(asked, lambda: original(request), shell_value)

    made.executor = execute
    return made


def shell_value(_found: Found, item: Item) -> Any:
    """Returns what a shell's executor gave, or raises what it raised."""
    from agents import ShellCallOutcome, ShellCommandOutput, ShellResult  # noqa: PLC0415

    raw = item.raw
    if raw.get("status") == "failed":
        raise failures.rebuilt(None, str(item.output))
    entries = raw.get("shell_output") or raw.get("output") or ()
    if (
        not all(isinstance(entry.get("outcome"), dict) for entry in entries)
        or not entries
    ):
        return item.output  # the executor gave text
    outputs = [
        ShellCommandOutput(
            stdout=entry.get("stdout", ""),
            stderr=entry.get("stderr", ""),
            outcome=ShellCallOutcome(**entry["outcome"]),
            command=entry.get("command"),
            provider_data=entry.get("provider_data"),
        )
        for entry in entries
    ]
    return ShellResult(
        output=outputs,
        max_output_length=raw.get("max_output_length"),
        provider_data=raw.get("provider_data"),
    )


def local_shell_stub(tool: Any) -> Any:
    """Stands in for the local shell."""
    made = copy.copy(tool)
    original = tool.executor

    async def execute(request: Any) -> Any:
        asked = Asked(tool.name, request.data.call_id, None, "local_shell_call")
        return await served(
            asked, lambda: original(request), lambda _, item: item.output
        )

    made.executor = execute
    return made


def patch_stub(tool: Any) -> Any:
    """Stands in for a tool that changes files."""
    made = copy.copy(tool)
    made.editor = Editor(tool.editor, tool.name)
    return made


class Editor:
    """An editor that changes nothing and answers as recorded.

    The SDK tells an editor no call id; calls come in the order in which they were recorded.
    """

    def __init__(self, editor: Any, name: str) -> None:
        self._editor = editor
        self._name = name

    async def _do(self, method: str, operation: Any) -> Any:
        asked = Asked(self._name, None, None, "apply_patch_call")

        def live() -> Any:
            return getattr(self._editor, method)(operation)

        return await served(asked, live, patch_value)

    async def create_file(self, operation: Any) -> Any:
        """As recorded."""
        return await self._do("create_file", operation)

    async def update_file(self, operation: Any) -> Any:
        """As recorded."""
        return await self._do("update_file", operation)

    async def delete_file(self, operation: Any) -> Any:
        """As recorded."""
        return await self._do("delete_file", operation)


def patch_value(_found: Found, item: Item) -> Any:
    """Returns what an editor answered."""
    from agents import ApplyPatchResult  # noqa: PLC0415 - few runs patch files

    return ApplyPatchResult(
        status=item.raw.get("status"), output=item.raw.get("output")
    )


def hosted_mcp_stub(tool: Any) -> Any:
    """Stands in for the approvals of a hosted MCP server, where the application gives them by itself."""
    original = tool.on_approval_request
    if original is None:
        return tool
    made = copy.copy(tool)

    async def approve(request: Any) -> Any:
        frame = FRAME.get()
        answer = _approval(frame, request.data.id) if frame is not None else None
        if answer is not None:
            return answer
        if frame is not None and not (frame.recorded is None or frame.tape.live):
            place = f"{frame.path} {request.data.id}"
            cause = "the recording has no answer to this approval request"
            error = missing(place, "an MCP approval", request.data.name, cause)
            frame.tape.diverged(error, stop=True)
        found = original(request)
        return await found if inspect.isawaitable(found) else found

    made.on_approval_request = approve
    return made


def _approval(frame: Frame, request_id: str) -> dict[str, Any] | None:
    for item in frame.recorded.run.items if frame.recorded else ():
        raw = item.raw
        if (
            item.raw_type == "mcp_approval_response"
            and raw.get("approval_request_id") == request_id
        ):
            return {key: raw[key] for key in ("approve", "reason") if key in raw}
    return None
