# pyright: basic
"""No connections from inside a replayed run.

While a tape is active, what opens connections asks here first. Only code inside a replayed run is
stopped, by its context; exporters in threads of their own and everything else in the process go on.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import context as otel_context

from itemtrace.replay.divergence import Blocked
from itemtrace.replay.frame import FRAME


if TYPE_CHECKING:
    from collections.abc import Callable, Generator


ALLOWED: ContextVar[bool] = ContextVar("itemtrace_network", default=False)
"""Whether connections are wanted here: a real model, a real tool."""


@contextmanager
def allowed() -> Generator[None]:
    """Lets connections through."""
    token = ALLOWED.set(True)
    try:
        yield
    finally:
        with suppress(ValueError):  # a stream may be closed from another context
            ALLOWED.reset(token)


def check(address: Any) -> None:
    """Stops a connection from inside a replayed run.

    Raises:
        NetworkBlocked: The tape is played without network.
    """
    frame = FRAME.get()
    if frame is None or ALLOWED.get() or frame.tape.options.network or _exporting():
        return
    parts: list[Any] = list(address[:2]) if isinstance(address, tuple) else [address]
    shown = ":".join(map(str, parts))
    frame.tape.report.network.append(shown)
    text = (
        f"{frame.path}: code in a replayed run wants to connect to {shown}; a replay is offline. "
        "If it must, pass network=True, or name the tool in live_tools"
    )
    raise Blocked(text, address=shown)


def _exporting() -> bool:
    """Whether this is OpenTelemetry sending spans, which marks its own calls."""
    key = getattr(otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", None)
    return key is not None and bool(otel_context.get_value(key))


class Door:
    """Puts the check in front of what opens connections, and takes it away again."""

    def __init__(self) -> None:
        self._put: list[tuple[Any, str, Any, Any]] = []

    def close(self) -> None:
        """Puts the checks in."""
        for place, name, make in DOORS:
            before: Any = vars(place).get(name, MISSING)
            ours = make(getattr(place, name))
            setattr(place, name, ours)
            self._put.append((place, name, before, ours))

    def open(self) -> None:
        """Takes the checks out where they still are."""
        while self._put:
            place, name, before, ours = self._put.pop()
            if vars(place).get(name) is not ours:
                continue
            if before is MISSING:
                delattr(place, name)
            else:
                setattr(place, name, before)


MISSING: Final = object()


def _method(original: Any) -> Any:
    def connect(sock: Any, address: Any, /) -> Any:
        check(address)
        return original(sock, address)

    return connect


def _lookup(original: Any) -> Any:
    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        check((host, port))
        return original(host, port, *args, **kwargs)

    return getaddrinfo


def _loop(original: Any) -> Any:
    async def create_connection(
        loop: Any, factory: Any, host: Any = None, port: Any = None, **kwargs: Any
    ) -> Any:
        if host is not None:  # with a socket that is connected already there is none
            check((host, port))
        return await original(loop, factory, host, port, **kwargs)

    return create_connection


DOORS: Final[tuple[tuple[Any, str, Callable[[Any], Any]], ...]] = (
    (socket.socket, "connect", _method),
    (socket.socket, "connect_ex", _method),
    (socket, "getaddrinfo", _lookup),
    (asyncio.BaseEventLoop, "create_connection", _loop),
)
