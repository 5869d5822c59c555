"""Real servers for tests: started on free ports of 127.0.0.1 with a directory of their own, stopped by id.

    with jaeger(binary) as server:
        install(exporter=OTLPSpanExporter(f"{server.url('otlp_http')}/v1/traces"))
        ...
        ledger = load(f"jaeger://{server.address('query')}")

`make backends` builds the binaries. `require_backend` skips a test where one is not there, or lets it fail
with `ITEMTRACE_REQUIRE_BACKENDS=1`, as CI does. Needs pytest only for that.
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.errors import ItemTraceError


if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


HOST: Final = "127.0.0.1"
READY_SECONDS: Final = 180.0  # Phoenix and MLflow take long on a busy machine
STOP_SECONDS: Final = 20.0
ATTEMPTS: Final = 3
"""How often other ports are tried when one was taken between finding and using it."""

REQUIRE: Final = "ITEMTRACE_REQUIRE_BACKENDS"


class ServerError(ItemTraceError):
    """A server ended or did not get ready; the message has the end of its log."""


class PortTakenError(ServerError):
    """Another process took a port first."""


class Server:
    """One server process, which can be stopped and started again.

    The address of each port is in the server's environment, for `otlp_http` as `OTLP_HTTP_ENDPOINT`.

    Attributes:
        directory: Where it runs; its log is there too.
        environ: More environment for it.
        fixed: Port numbers that it must have, by name; the others are free ones.
        ports: Port numbers by name, once it was started.
        process: The process, while it runs.

    Args:
        command: The program with its arguments.
        directory: Where it runs.
        names: Names of the ports that it listens on.
        ready: The name of a port and the path that answers 200 once it is ready.
    """

    def __init__(
        self,
        command: Sequence[str],
        directory: Path,
        names: Sequence[str],
        ready: tuple[str, str],
    ) -> None:
        self.command = list(command)
        self.directory = directory
        self.names = tuple(names)
        self.ready = ready
        self.environ: dict[str, str] = {}
        self.fixed: dict[str, int] = {}
        self.ports: dict[str, int] = {}
        self.process: subprocess.Popen[bytes] | None = None

    def address(self, name: str) -> str:
        """Returns `127.0.0.1:port` of a port."""
        return f"{HOST}:{self.ports[name]}"

    def url(self, name: str) -> str:
        """Returns the HTTP URL of a port."""
        return f"http://{self.address(name)}"

    def log(self) -> str:
        """Returns what the server has written."""
        return self._log_file().read_text(errors="replace")

    def start(self) -> None:
        """Starts it and waits until it is ready; on the same ports when it ran before.

        Raises:
            ServerError: It ended, or is not ready in time.
        """
        attempts = ATTEMPTS
        while True:
            attempts -= 1
            if not self.ports:
                self.ports = free_ports(self.names) | self.fixed
            try:
                return self._start()
            except PortTakenError:
                if not attempts:
                    raise
                self.ports = {}

    def _start(self) -> None:
        addresses = {f"{n.upper()}_ENDPOINT": self.address(n) for n in self.names}
        with self._log_file().open("ab") as log:
            began = log.tell()
            self.process = subprocess.Popen(  # noqa: S603 - the caller's own program
                self.command,
                cwd=self.directory,
                env={**os.environ, **addresses, **self.environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + READY_SECONDS
        while not is_ready(f"{self.url(self.ready[0])}{self.ready[1]}"):
            ended = self.process.poll() is not None
            if not ended and time.monotonic() < until:
                time.sleep(0.05)
                continue
            self.stop()
            said = self._log_file().read_bytes()[began:].decode(errors="replace")
            kind = PortTakenError if "address already in use" in said else ServerError
            state = "ended" if ended else f"was not ready after {READY_SECONDS:g} s"
            msg = f"{self.command[0]} {state}; its log ends with:\n{said[-3000:]}"
            raise kind(msg)

    def stop(self) -> None:
        """Asks it to end, and waits; kills it if it does not."""
        process, self.process = self.process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """Ends it as a crash would."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()

    def _log_file(self) -> Path:
        return self.directory / "server.log"


def free_ports(names: Sequence[str]) -> dict[str, int]:
    """Returns a free port of 127.0.0.1 for each name, all different."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in names]
        for each in sockets:
            each.bind((HOST, 0))
        numbers = [int(each.getsockname()[1]) for each in sockets]
    return dict(zip(names, numbers, strict=True))


def is_ready(url: str) -> bool:
    """Whether a URL answers 200."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except (OSError, http.client.HTTPException):  # URLError is an OSError
        return False


JAEGER_PORTS: Final = ("otlp_grpc", "otlp_http", "query", "query_grpc", "health")
JAEGER: Final[Mapping[str, Any]] = {
    "service": {
        "extensions": ["jaeger_storage", "jaeger_query", "healthcheckv2"],
        "pipelines": {
            "traces": {"receivers": ["otlp"], "exporters": ["jaeger_storage_exporter"]}
        },
        "telemetry": {"metrics": {"level": "none"}},
    },
    "extensions": {
        "healthcheckv2": {
            "use_v2": True,
            "http": {"endpoint": "${env:HEALTH_ENDPOINT}"},
        },
        "jaeger_query": {
            "storage": {"traces": "some_storage"},
            "http": {"endpoint": "${env:QUERY_ENDPOINT}"},
            "grpc": {"endpoint": "${env:QUERY_GRPC_ENDPOINT}"},
        },
        "jaeger_storage": {
            "backends": {"some_storage": {"memory": {"max_traces": 100_000}}}
        },
    },
    "receivers": {
        "otlp": {
            "protocols": {
                "grpc": {"endpoint": "${env:OTLP_GRPC_ENDPOINT}"},
                "http": {"endpoint": "${env:OTLP_HTTP_ENDPOINT}"},
            }
        }
    },
    "exporters": {"jaeger_storage_exporter": {"trace_storage": "some_storage"}},
}
"""Jaeger with its storage in memory."""

COLLECTOR_PORTS: Final = ("otlp_grpc", "otlp_http", "prometheus", "health")

Config = Path | Mapping[str, Any]
"""A configuration file, or what would be in one."""


@contextmanager
def running(
    server: Server, files: Mapping[str, str] | None = None
) -> Generator[Server]:
    """Runs a server while the context lasts.

    Args:
        server: The server.
        files: Texts that are in its directory before it starts, by file name.
    """
    for file, text in (files or {}).items():
        (server.directory / file).write_text(text)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@contextmanager
def jaeger(
    binary: Path,
    *configs: Config,
    environ: Mapping[str, str] | None = None,
    ports: Mapping[str, int] | None = None,
) -> Generator[Server]:
    """Runs Jaeger; `query` is the port of its API, `otlp_http` and `otlp_grpc` take spans.

    Args:
        binary: The program.
        configs: Its configuration; a later one adds to those before. `JAEGER` if none is given.
        environ: More environment for it.
        ports: Port numbers that it must have, by name; the others are free ones.
    """
    with tempfile.TemporaryDirectory(prefix="itemtrace-") as name:
        command, files = configured(binary, configs or (JAEGER,))
        server = Server(command, Path(name), JAEGER_PORTS, ("health", "/status"))
        # it would trace its own queries, to the usual port, and wait for that when it ends
        server.environ["OTEL_TRACES_SAMPLER"] = "always_off"
        server.environ.update(environ or {})
        server.fixed.update(ports or {})
        with running(server, files):
            yield server


@contextmanager
def collector(
    binary: Path,
    *configs: Config,
    environ: Mapping[str, str] | None = None,
    ports: Mapping[str, int] | None = None,
) -> Generator[Server]:
    """Runs a Collector; its configuration has the extension `health_check` at `HEALTH_ENDPOINT`.

    Args:
        binary: The program.
        configs: Its configuration; a later one adds to those before.
        environ: More environment for it.
        ports: Port numbers that it must have, by name; the others are free ones.
    """
    with tempfile.TemporaryDirectory(prefix="itemtrace-") as name:
        command, files = configured(binary, configs)
        server = Server(command, Path(name), COLLECTOR_PORTS, ("health", "/"))
        server.environ.update(environ or {})
        server.fixed.update(ports or {})
        with running(server, files):
            yield server


def configured(
    binary: Path, configs: Sequence[Config]
) -> tuple[list[str], dict[str, str]]:
    """Returns the command for a program that takes `--config`, and the files that it needs."""
    command, files = [str(binary)], dict[str, str]()
    for number, config in enumerate(configs):
        if isinstance(config, Path):
            source = str(config.resolve())
        else:
            source = f"config-{number}.yaml"
            files[source] = canonical.dumps(config)  # JSON is YAML
        command += ["--config", source]
    return command, files


def require_backend(name: str, binary: Path | None) -> Path:
    """Returns a program that a test needs; skips the test where it is not there.

    Args:
        name: What it is called in the reason.
        binary: Where it should be.
    """
    import pytest  # noqa: PLC0415 - users may start servers without it

    if binary is None or not binary.is_file():
        reason = f"needs the real {name}: run `make backends` (looked for {binary})"
        if os.environ.get(REQUIRE) == "1":
            pytest.fail(f"{reason}, and {REQUIRE} is 1")
        pytest.skip(reason)
    return binary
