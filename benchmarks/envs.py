"""One virtual environment per recorder, kept under `benchmarks/.envs/` until its requirements change."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peers import BASE, ENCODER, Peer


ROOT = Path(__file__).resolve().parent.parent
ENVS = ROOT / "benchmarks" / ".envs"


class EnvironmentFailed(Exception):
    """An environment could not be built; the message has the installer's last words."""


def python(peer: Peer) -> Path:
    """Returns the interpreter of a peer's environment, built if need be.

    Raises:
        EnvironmentFailed: The installer failed.
    """
    home = ENVS / peer.env
    interpreter = home / "bin" / "python"
    wanted = "\n".join((*BASE, ENCODER, *peer.requirements))
    ready = home / "requirements.txt"
    if interpreter.exists() and ready.exists() and ready.read_text() == wanted:
        return interpreter
    shutil.rmtree(home, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(home)], peer)
    _run([str(interpreter), "-m", "pip", "install", "--quiet", *wanted.split("\n")], peer)
    ready.write_text(wanted)
    return interpreter


def _run(command: list[str], peer: Peer) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if done.returncode:
        msg = f"the environment for {peer.label} could not be built: {done.stderr.strip()[-500:]}"
        raise EnvironmentFailed(msg)
