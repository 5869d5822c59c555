"""Phoenix and MLflow for tests: real servers from PyPI, each in an environment of its own.

    with phoenix(environment("phoenix")) as server:
        load(f"phoenix://{server.address('http')}")

The environments are under `ITEMTRACE_CACHE` (`~/.cache/itemtrace`) and made when first asked for. Both are
large; neither is a dependency.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from itemtrace.testing.servers import HOST, REQUIRE, Server, running


if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence


PINNED: Final = {"phoenix": "arize-phoenix==20.26.1", "mlflow": "mlflow==3.17.2"}
"""What each environment holds."""

INSTALL_SECONDS: Final = 900
READY: Final = ".itemtrace-ready"


def cache() -> Path:
    """Returns the directory of the environments."""
    named = os.environ.get("ITEMTRACE_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "itemtrace"


def environment(name: str) -> Path:
    """Returns the directory of a server's programs, installed if they are not there yet.

    Args:
        name: One of `PINNED`.

    Raises:
        OSError: They cannot be installed.
        subprocess.SubprocessError: The same.
    """
    place = cache() / name
    place.mkdir(parents=True, exist_ok=True)
    with (cache() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes may ask at once
        if not (place / READY).exists():
            install(place, PINNED[name])
            (place / READY).touch()
    return place / "bin"


def install(place: Path, requirement: str) -> None:
    """Makes an environment with one package in it."""
    commands = (
        [sys.executable, "-m", "venv", str(place)],
        [str(place / "bin" / "pip"), "install", "--quiet", requirement],
    )
    for command in commands:
        subprocess.run(  # noqa: S603 - our own commands
            command, check=True, capture_output=True, timeout=INSTALL_SECONDS
        )


def require_environment(name: str) -> Path:
    """Returns `environment(name)`; skips the test where it cannot be installed.

    With `ITEMTRACE_REQUIRE_BACKENDS=1` the test fails instead, as in CI.
    """
    import pytest  # noqa: PLC0415 - users may start servers without it

    try:
        return environment(name)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error).encode()
        reason = f"{PINNED[name]} cannot be installed: {said.decode(errors='replace')[-300:]}"
        if os.environ.get(REQUIRE) == "1":
            pytest.fail(reason)
        pytest.skip(reason)


@contextmanager
def phoenix(programs: Path) -> Generator[Server]:
    """Runs Phoenix; `http` is the port of its API and takes OTLP, `grpc` too."""
    command = (
        "PHOENIX_WORKING_DIR=$PWD PHOENIX_PORT=${HTTP_ENDPOINT##*:} "
        f"PHOENIX_GRPC_PORT=${{GRPC_ENDPOINT##*:}} exec {programs}/phoenix serve"
    )
    environ = {"PHOENIX_HOST": HOST, "PHOENIX_TELEMETRY_ENABLED": "false"}
    with shell(command, ("http", "grpc"), "/healthz", environ) as server:
        yield server


@contextmanager
def mlflow(programs: Path) -> Generator[Server]:
    """Runs MLflow's tracking server; `http` is the port of its API and takes OTLP."""
    command = (
        f"exec {programs}/mlflow server --backend-store-uri sqlite:///$PWD/mlflow.db "
        f"--workers 1 --host {HOST} --port ${{HTTP_ENDPOINT##*:}}"
    )
    environ = {
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "PATH": f"{programs}:{os.environ.get('PATH', os.defpath)}",
    }
    with shell(command, ("http",), "/health", environ) as server:
        yield server


@contextmanager
def shell(
    command: str, names: Sequence[str], ready: str, environ: Mapping[str, str]
) -> Generator[Server]:
    """Runs a server that a line of shell starts, in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="itemtrace-") as place:
        server = Server(["/bin/sh", "-c", command], Path(place), names, ("http", ready))
        server.environ.update(environ)
        with running(server):
            yield server
