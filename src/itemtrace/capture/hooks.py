"""The user's run hooks with ours in front of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from agents import RunHooks
from agents.tracing import get_current_span

from itemtrace.capture.guard import guarded


if TYPE_CHECKING:
    from itemtrace.capture.recording import Recording


class RecordingHooks(RunHooks[Any]):
    """Sees model and tool calls, then calls the user's hooks with the very same arguments.

    The SDK calls some hooks by keyword, so arguments are passed on as they come.
    """

    def __init__(self, recording: Recording, inner: RunHooks[Any] | None) -> None:
        self._recording = recording
        self._inner = inner

    async def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
        """Before a model call."""
        self._llm_start(*args, **kwargs)
        if self._inner is not None:
            await self._inner.on_llm_start(*args, **kwargs)

    async def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        """After a model call."""
        self._llm_end(*args, **kwargs)
        if self._inner is not None:
            await self._inner.on_llm_end(*args, **kwargs)

    async def on_agent_start(self, *args: Any, **kwargs: Any) -> None:
        """An agent takes over."""
        if self._inner is not None:
            await self._inner.on_agent_start(*args, **kwargs)

    async def on_agent_end(self, *args: Any, **kwargs: Any) -> None:
        """An agent gave its output."""
        if self._inner is not None:
            await self._inner.on_agent_end(*args, **kwargs)

    async def on_handoff(self, *args: Any, **kwargs: Any) -> None:
        """An agent hands off."""
        if self._inner is not None:
            await self._inner.on_handoff(*args, **kwargs)

    async def on_tool_start(self, *args: Any, **kwargs: Any) -> None:
        """Before a tool."""
        self._tool_start(*args, **kwargs)
        if self._inner is not None:
            await self._inner.on_tool_start(*args, **kwargs)

    async def on_tool_end(self, *args: Any, **kwargs: Any) -> None:
        """After a tool."""
        self._tool_end(*args, **kwargs)
        if self._inner is not None:
            await self._inner.on_tool_end(*args, **kwargs)

    # --- ours, guarded ----------------------------------------------------------------

    @guarded("on_llm_start")
    def _llm_start(
        self, context: Any, agent: Any, system_prompt: Any, input_items: Any
    ) -> None:
        recording = self._recording
        span = get_current_span()
        parent = recording.tree.get(span.span_id) if span is not None else None
        recording.call.started(
            agent, system_prompt, input_items, parent, time.time_ns()
        )

    @guarded("on_llm_end")
    def _llm_end(self, context: Any, agent: Any, response: Any) -> None:
        self._recording.call.ended(response)

    @guarded("on_tool_start")
    def _tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        span = get_current_span()
        call_id = getattr(context, "tool_call_id", None)
        if span is not None and call_id is not None:
            self._recording.tools.started(span.span_id, call_id, tool)

    @guarded("on_tool_end")
    def _tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        span = get_current_span()
        if span is not None:
            self._recording.tools.result(span.span_id, result)
