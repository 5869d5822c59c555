"""The supported versions of openai-agents, and a Python environment with each.

Environments are made on demand under `~/.cache/itemtrace/versions/` (or `ITEMTRACE_CACHE`) and kept.
The oldest has the lowest release that this package's requirements allow of everything they name.
"""

import fcntl
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path


ROOT = Path(__file__).parents[3]
CACHE = Path(os.environ.get("ITEMTRACE_CACHE", "~/.cache/itemtrace")).expanduser()

VERSIONS = ("0.20.0", "0.21.1", "0.22.3", "0.23.1", "0.24.0")
"""The oldest supported, the last of each minor release between, the newest known."""

SECONDS = 600
"""How long the installation of one environment may take."""

OLDEST_OPENAI = "openai==2.45.0"
"""The lowest that openai-agents 0.20.0 allows."""


class NoEnvironment(Exception):
    """An environment could not be made; the message says why."""


def lower_bounds(pyproject):
    """Returns the requirements of a project, each at the lowest release that it allows."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return [re.sub(r">=\s*", "==", each) for each in project["dependencies"]]


def requirements(wanted):
    """Returns what is installed beside this package for a version of openai-agents."""
    if wanted == VERSIONS[0]:
        return [*lower_bounds(ROOT / "pyproject.toml"), OLDEST_OPENAI]
    return [f"openai-agents=={wanted}"]


def python_with(wanted):
    """Returns a Python that has a version of openai-agents; this one, if it has.

    Raises:
        NoEnvironment: It cannot be made here.
    """
    if version("openai-agents") == wanted:
        return Path(sys.executable)
    home = CACHE / "versions" / wanted
    home.mkdir(parents=True, exist_ok=True)
    needed = requirements(wanted)
    ready = home / "ready"
    with (home / "lock").open("w") as lock:  # several test processes want it at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.is_file() or ready.read_text() != repr(needed):
            _make(home, needed)
            ready.write_text(repr(needed))
    return home / "bin" / "python"


def _make(home, needed):
    python = str(home / "bin" / "python")
    install = ["-m", "pip", "install", "--quiet", "--editable", str(ROOT), *needed]
    for command in ([sys.executable, "-m", "venv", str(home)], [python, *install]):
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoEnvironment(str(error)) from error
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise NoEnvironment(lines[-1] if lines else "pip failed without a word")
