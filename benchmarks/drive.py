"""Runs a job in a fresh process of its recorder's environment, and keeps what came of it."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
from collections import deque
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from benchmarks import envs
from benchmarks.peers import PEERS, Peer


if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.sections.base import Job, Row


KEPT = envs.ENVS / "rows.json"
"""What was measured last, by section, so that one section can be measured again."""

FOREIGN = ("ITEMTRACE_", "LOGFIRE_", "OPENAI_", "OTEL_", "TRACELOOP_")
"""Settings of the person's own that would change what is measured."""


def environment(peer: Peer) -> dict[str, str]:
    """Returns the environment variables of a worker."""
    own = {
        key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)
    }
    fixed = {
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(envs.SOURCES),
        "ITEMTRACE_STORE": str(envs.ENVS / "stores" / "unused.sqlite"),
        "BENCHMARK_STORES": str(envs.ENVS / "stores"),
    }
    return own | fixed | dict(peer.variables)


def run(job: Job, progress: Callable[[Row], None]) -> Row:
    """Runs one job; a worker that fails gives a row that says so."""
    peer = PEERS[job["peer"]]
    (envs.ENVS / "stores").mkdir(parents=True, exist_ok=True)
    try:
        command = [str(envs.python(peer)), "-m", "benchmarks.worker", json.dumps(job)]
    except envs.EnvironmentBuildError as error:
        return job | {"failed": str(error)}
    with TemporaryFile("w+") as complaints:
        worker = subprocess.Popen(  # noqa: S603 - our own worker
            command,
            cwd=envs.ROOT,
            env=environment(peer),
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        )
        assert worker.stdout is not None
        result: Row | None = None
        for message in map(json.loads, worker.stdout):
            if message.pop("event") == "result":
                result = message
            else:
                progress(message)
        if worker.wait() == 0 and result is not None:
            return job | result
        complaints.seek(0)
        last = deque(complaints, maxlen=1)
        return job | {
            "failed": last[0].strip()[:200]
            if last
            else f"exit code {worker.returncode}"
        }


def load(path: Path = KEPT) -> dict[str, dict[str, Any]]:
    """Returns the kept measurements by section; none if there are none."""
    return json.loads(path.read_text()) if path.exists() else {}


def keep(section: str, rows: list[Row], *, quick: bool, path: Path = KEPT) -> None:
    """Puts a section's rows in the place of its older ones."""
    kept = load(path)
    today = dt.datetime.now(dt.UTC).date().isoformat()
    kept[section] = {"date": today, "quick": quick, "rows": rows}
    path.write_text(json.dumps(kept))
