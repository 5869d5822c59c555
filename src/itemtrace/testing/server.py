"""The HTTP server of the fake provider: the standard library's, a thread per connection."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, ClassVar

from itemtrace.codec import canonical
from itemtrace.testing.endpoints import Reply


Answering = Callable[[str, dict[str, Any]], Reply]
"""Path and body of a request -> what goes back."""


class Server(ThreadingHTTPServer):
    """Serves on a free port of 127.0.0.1; `stop` joins every thread.

    Attributes:
        answer: Called from the connections' threads.
        failures: What it raised.
    """

    daemon_threads = False
    request_queue_size = 1024  # a thousand runs at once may knock

    def __init__(self, answer: Answering, failures: list[BaseException]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.failures = failures
        self.stopping = Event()
        self._connections: set[socket.socket] = set()
        self._thread = Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def start(self) -> None:
        """Serves in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Wakes what waits, closes every connection and joins all threads."""
        self.stopping.set()
        self.shutdown()
        self._thread.join()
        for connection in tuple(self._connections):
            with suppress(OSError):  # already closed by the other side
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Handles a connection, known to `stop` while it is open."""
        self._connections.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            self._connections.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Keeps what went wrong, unless a client hung up, as a cancelled run does."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError):
            self.failures.append(error)


class Handler(BaseHTTPRequestHandler):
    """One connection with one request: HTTP/1.0, so no client keeps a connection open."""

    server: Server  # pyright: ignore[reportIncompatibleVariableOverride] - it makes this
    rbufsize: ClassVar[int] = -1

    def do_POST(self) -> None:
        """Answers a request."""
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # the client hung up while it wrote
            return
        reply = self.server.answer(self.path, json.loads(body))
        if self.server.stopping.wait(reply.step.delay):
            return
        with suppress(ConnectionError):  # a cancelled run hangs up
            if reply.events is None:
                self._send(reply, "application/json", [canonical.dumps(reply.body)])
            else:
                self._send(reply, "text/event-stream", self._paced(reply))

    def _paced(self, reply: Reply) -> Iterator[str]:
        assert reply.events is not None
        held = next(reply.events)
        for event in reply.events:
            yield held
            held = event
        if not self.server.stopping.wait(reply.step.pause):
            yield held

    def _send(self, reply: Reply, content_type: str, texts: Iterable[str]) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", content_type)
        self.send_header("x-request-id", reply.request_id)
        self.end_headers()
        for text in texts:
            self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Keeps the terminal quiet."""
