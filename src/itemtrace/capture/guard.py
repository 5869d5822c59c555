"""The one guard between itemtrace and the SDK: nothing of ours raises into a run."""

from __future__ import annotations

import functools
import logging
import threading
from collections import Counter
from contextvars import ContextVar
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from itemtrace.errors import ItemTraceError


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.capture.recording import Recording

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger("itemtrace")

FRAME: ContextVar[Recording | None] = ContextVar("itemtrace_frame", default=None)
"""The run that is being recorded in this context."""


class Health:
    """Counts what itemtrace could not do; `itemtrace.health()` gives a copy.

    The first failure at each place is logged as a warning with its cause (its traceback with the
    logger at DEBUG), later ones are counted only, so that a fault cannot flood a log.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def failed(self, place: str, error: BaseException) -> None:
        """Counts a failure and, the first time, logs it."""
        with self._lock:
            self._counts[place] += 1
            first = self._counts[place] == 1
        if first:
            logger.warning(
                "itemtrace: %s failed (%s); the run goes on, its ledger will name the gap. "
                "Further failures here are counted only.",
                place,
                _described(error),
                exc_info=logger.isEnabledFor(logging.DEBUG),
            )

    def counts(self) -> dict[str, int]:
        """Returns how often each place failed."""
        with self._lock:
            return dict(self._counts)

    def reset(self) -> None:
        """Forgets all counts."""
        with self._lock:
            self._counts.clear()


HEALTH = Health()


def _described(error: BaseException) -> str:
    """Returns an error for the log: a foreign message may hold content of the run."""
    kind = type(error).__name__
    return f"{kind}: {error}" if isinstance(error, ItemTraceError) else kind


def guarded(
    place: str, *, ledger: bool = True
) -> Callable[[Callable[P, T]], Callable[P, T | None]]:
    """Makes a function safe to call from inside a run: it returns None where it would raise.

    The failure is counted, and the run that is being recorded says in its seal that something
    could not be captured.

    Args:
        place: Under which it is counted.
        ledger: False where the ledger lacks nothing by it.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T | None]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T | None:
            try:
                return function(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - the boundary to the user's run
                HEALTH.failed(place, error)
                recording = FRAME.get() if ledger else None
                if recording is not None:
                    recording.failures += 1
                return None

        return call

    return decorate
