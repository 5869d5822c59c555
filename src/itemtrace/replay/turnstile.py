"""Completions in the order in which they were recorded.

Parallel tools and nested agents end in some order, and hooks, spans and usage follow it. In a
replay all of them could end at once; here each waits until everything has ended that ended before
it when it was recorded. What was recorded could happen in this order, so nothing waits for ever,
unless the code has changed; then a wait gives up after a while.
"""

from __future__ import annotations

import asyncio
from threading import Lock
from typing import TYPE_CHECKING, Final


if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable


PATIENCE: Final = 5.0
"""Seconds after which a call no longer waits for one that does not come."""


class Turnstile:
    """Lets through what ends, in recorded order.

    Args:
        events: Key and recorded time of each completion; equal times are in no order.
        patience: Seconds that one may wait.
    """

    def __init__(
        self, events: Iterable[tuple[Hashable, int]], patience: float = PATIENCE
    ) -> None:
        ordered = sorted(events, key=lambda event: event[1])
        self._order = [key for key, _ in ordered]
        self._place: dict[Hashable, int] = {}
        first = 0
        for place, (key, time) in enumerate(ordered):
            if time != ordered[first][1]:
                first = place
            self._place[key] = first
        self._done: set[Hashable] = set()
        self._next = 0
        self._waiting: dict[asyncio.Future[None], int] = {}
        self._patience = patience
        self._lock = Lock()

    async def wait(self, key: Hashable) -> bool:
        """Waits until all has ended that ended before; False when it gave up."""
        with self._lock:
            place = self._place.get(key, 0)
            if place <= self._next:
                return True
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting[future] = place
        try:
            async with asyncio.timeout(self._patience):
                await future
        except TimeoutError:
            return False
        finally:
            with self._lock:
                self._waiting.pop(future, None)
        return True

    def done(self, *keys: Hashable) -> None:
        """Says that something has ended, or never will."""
        with self._lock:
            self._done.update(keys)
            while (
                self._next < len(self._order) and self._order[self._next] in self._done
            ):
                self._next += 1
            ready = [f for f, place in self._waiting.items() if place <= self._next]
            for future in ready:
                del self._waiting[future]
        for future in ready:
            future.get_loop().call_soon_threadsafe(_release, future)


def _release(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
