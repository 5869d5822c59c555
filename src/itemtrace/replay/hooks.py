"""The caller's run hooks, with a look at whose model is about to be called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import RunHooks


if TYPE_CHECKING:
    from itemtrace.replay.frame import Frame


class ReplayHooks(RunHooks[Any]):
    """Notes the agent before each model call; everything goes on to the caller's hooks as it came.

    The SDK calls some hooks by keyword.
    """

    def __init__(self, frame: Frame, inner: RunHooks[Any] | None) -> None:
        self._frame = frame
        self._inner = inner if inner is not None else RunHooks[Any]()

    async def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
        """Before a model call."""
        self._frame.agent = kwargs["agent"] if "agent" in kwargs else args[1]
        await self._inner.on_llm_start(*args, **kwargs)

    async def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        """After a model call."""
        await self._inner.on_llm_end(*args, **kwargs)

    async def on_agent_start(self, *args: Any, **kwargs: Any) -> None:
        """An agent takes over."""
        await self._inner.on_agent_start(*args, **kwargs)

    async def on_agent_end(self, *args: Any, **kwargs: Any) -> None:
        """An agent gave its output."""
        await self._inner.on_agent_end(*args, **kwargs)

    async def on_handoff(self, *args: Any, **kwargs: Any) -> None:
        """An agent hands off."""
        await self._inner.on_handoff(*args, **kwargs)

    async def on_tool_start(self, *args: Any, **kwargs: Any) -> None:
        """Before a tool."""
        await self._inner.on_tool_start(*args, **kwargs)

    async def on_tool_end(self, *args: Any, **kwargs: Any) -> None:
        """After a tool."""
        await self._inner.on_tool_end(*args, **kwargs)
