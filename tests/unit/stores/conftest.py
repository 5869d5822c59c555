"""A server on loopback that answers as it is told."""

import socket
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest


class Script(ThreadingHTTPServer):
    """Gives the answer of a path, else one after the other, the last for ever; keeps what it was asked."""

    def __init__(self, answers, paths):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = list(answers)
        self.paths = paths
        self.asked = []

    @property
    def where(self):
        """Its address."""
        return f"127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Answers `(status, headers, body)`, or hangs up for None."""

    server: Script  # pyright: ignore[reportIncompatibleVariableOverride] - it makes this

    def do_GET(self):
        """Gives the next answer."""
        self.server.asked.append((self.path, dict(self.headers)))
        answers = self.server.answers
        answer = self.server.paths.get(self.path.partition("?")[0])
        if answer is None:
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, headers, body = answer
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):  # noqa: A002 - its name there
        """Keeps the terminal quiet."""


@contextmanager
def serving(*answers, paths=None):
    """Runs a server with these answers."""
    server = Script(answers, paths or {})
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(name="serving")
def serving_fixture():
    """Gives `serving`, to run a server within a test."""
    return serving
