"""The program behind `make backends`."""

import os
import subprocess
import sys
from pathlib import Path


TOOL = Path(__file__).parents[3] / "tools" / "backends.py"


def run(cache, *arguments, path=None):
    """Returns what the program says, with a cache of its own."""
    environ = {**os.environ, "ITEMTRACE_CACHE": str(cache)}
    if path is not None:
        environ["PATH"] = str(path)
    command = [sys.executable, str(TOOL), *arguments]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, check=False, timeout=60
    )


def test_where(tmp_path):
    """Each program has a place of its own in the cache, named by what it is built from."""
    done = run(tmp_path, "--where")
    jaeger, collector = map(Path, done.stdout.split())
    assert (jaeger.name, collector.name) == ("jaeger", "collector")
    assert jaeger.parent.parent == collector.parent.parent == tmp_path / "backends"
    assert jaeger.parent != collector.parent
    assert not (tmp_path / "backends").exists()


def test_what_is_there_is_not_built_again(tmp_path):
    """A program that is in the cache is named and left alone."""
    place = Path(run(tmp_path, "--where", "collector").stdout.strip())
    place.parent.mkdir(parents=True)
    place.write_text("built before")
    done = run(tmp_path, "collector")
    assert (done.returncode, done.stdout) == (0, f"collector: {place}\n")
    assert place.read_text() == "built before"


def test_a_build_that_fails(tmp_path):
    """A build that fails is said, and leaves nothing that looks built."""
    go = tmp_path / "go"
    go.write_text("#!/bin/sh\nexit 3\n")
    go.chmod(0o755)
    done = run(tmp_path, "jaeger", path=tmp_path)
    assert done.returncode == 1
    assert "jaeger: could not be built" in done.stderr
    assert not Path(run(tmp_path, "--where", "jaeger").stdout.strip()).exists()


def test_an_unknown_name(tmp_path):
    """A name that is no backend is refused with those that are."""
    done = run(tmp_path, "tempo")
    assert done.returncode == 2
    assert "no backend tempo; expected jaeger, collector" in done.stderr
