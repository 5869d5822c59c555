"""The session of a replay: it begins as the recorded one did and is thrown away afterwards."""

from __future__ import annotations

from typing import Any


class ReplaySession:
    """Stands in for a session, so that no history is read from or written to a real one.

    Attributes:
        session_id: The id of the one that it stands for.
        session_settings: Its settings.
        written: How many items the run wrote.
    """

    def __init__(self, history: list[Any], inner: Any, session_id: str) -> None:
        self.session_id = str(getattr(inner, "session_id", None) or session_id)
        self.session_settings = getattr(inner, "session_settings", None)
        self.written = 0
        self._items = list(history)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Returns the recorded history, and what the run has added to it."""
        return list(
            self._items if limit is None else self._items[-limit:] if limit else []
        )

    async def add_items(self, items: list[Any]) -> None:
        """Keeps items until the run ends."""
        self.written += len(items)
        self._items += items

    async def pop_item(self) -> Any:
        """Takes the latest item."""
        return self._items.pop() if self._items else None

    async def clear_session(self) -> None:
        """Forgets all items."""
        self._items.clear()
