"""The computer tool of a replay: nothing is clicked, the recorded screenshots come back."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

from agents import AsyncComputer

from itemtrace.replay.calls import Asked, Found, called
from itemtrace.replay.divergence import missing
from itemtrace.replay.outputs import output
from itemtrace.replay.tape import current


if TYPE_CHECKING:
    from itemtrace.ledger import ToolCall


PREFIX: Final = "data:image/png;base64,"


def computer_stub(tool: Any) -> Any:
    """Stands in for a computer tool; its computer is neither made nor touched."""
    tape = current()
    if tape is None or tape.options.tool_is_live(tool.name):
        return tool
    made = copy.copy(tool)
    made.computer = RecordedComputer(tool.name)
    return made


class RecordedComputer(AsyncComputer):
    """A computer on which nothing happens.

    The SDK tells it no call id; calls come in the order in which they were recorded, and each takes
    as many screenshots as its actions say (agents/run_internal/tool_actions.py).
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: Found | None = None
        self._left = 0

    async def screenshot(self) -> str:
        """Returns the screenshot that the call ended with."""
        if self._found is None:
            asked = Asked(self._name, None, None, "computer_call")
            found = await called(asked)
            if not isinstance(found, Found):
                cause = "a real model calls it; name it in live_tools to let it act"
                msg = "live"
                raise missing(msg, f"an action of {self._name}", None, cause)
            self._found, self._left = found, screenshots(found.call)
        self._left -= 1
        found = self._found
        if self._left <= 0:
            self._found = None
        if self._left > 0 and found.output is not None:
            return _image(found)
        await output(found)
        return _image(found)

    async def click(self, x: int, y: int, button: Any) -> None:
        """Does nothing."""

    async def double_click(self, x: int, y: int) -> None:
        """Does nothing."""

    async def scroll(self, x: int, y: int, scroll_x: int, scroll_y: int) -> None:
        """Does nothing."""

    async def type(self, text: str) -> None:
        """Does nothing."""

    async def wait(self) -> None:
        """Does nothing."""

    async def move(self, x: int, y: int) -> None:
        """Does nothing."""

    async def keypress(self, keys: list[str]) -> None:
        """Does nothing."""

    async def drag(self, path: list[tuple[int, int]]) -> None:
        """Does nothing."""


def _image(found: Found) -> str:
    item = found.output
    raw: Any = item.raw if item is not None else {}
    return str(raw.get("output", {}).get("image_url", "")).removeprefix(PREFIX)


def screenshots(call: ToolCall) -> int:
    """Returns how many screenshots the SDK takes for a call."""
    raw: Any = call.call.raw if call.call is not None else {}
    actions: list[Any] = raw.get("actions") or [raw.get("action") or {}]
    kinds = [str(action.get("type")) for action in actions]
    return int(kinds.count("screenshot") + (kinds[-1] != "screenshot"))
