"""One virtual environment per recorder, kept under `benchmarks/.envs/` until its requirements change."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peers import BASE, CHECKOUT, ENCODER, Peer


ROOT = Path(__file__).resolve().parent.parent
ENVS = ROOT / "benchmarks" / ".envs"


SOURCES = ENVS / "sources"
"""The checkout's `src` as it was when measuring began."""


def freeze_sources() -> None:
    """Copies the checkout's sources, so that an edit while measuring does not mix two versions."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", SOURCES, ignore=ignored)


class EnvironmentBuildError(Exception):
    """An environment could not be built; the message has the installer's last words."""


def python(peer: Peer) -> Path:
    """Returns the interpreter of a peer's environment, built if need be.

    Raises:
        EnvironmentBuildError: The installer failed.
    """
    home = ENVS / peer.env
    interpreter = home / "bin" / "python"
    wanted = [*BASE, ENCODER, *peer.requirements]
    stamp = "\n".join(wanted)
    if CHECKOUT in wanted:  # its dependencies may have changed
        stamp += "\n" + (ROOT / "pyproject.toml").read_text()
    ready = home / "ready.txt"
    if interpreter.exists() and ready.exists() and ready.read_text() == stamp:
        return interpreter
    shutil.rmtree(home, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(home)], peer)
    _run([str(interpreter), "-m", "pip", "install", "--quiet", *wanted], peer)
    ready.write_text(stamp)
    return interpreter


def _run(command: list[str], peer: Peer) -> None:
    done = subprocess.run(  # noqa: S603 - our own words
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        msg = f"the environment for {peer.label} could not be built: {done.stderr.strip()[-500:]}"
        raise EnvironmentBuildError(msg)
