"""Each example runs as it is: a fresh process, no key, no network, no warning."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from agents import Agent, Runner

import itemtrace
from itemtrace.stores import open_store
from itemtrace.testing.items import message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder


EXAMPLES = Path(__file__).parents[2] / "examples"
ALONE = sorted(
    path.name for path in EXAMPLES.glob("*.py") if path.name != "verify_in_ci.py"
)


def run(name, *arguments, tmp_path):
    """Runs an example and returns the finished process."""
    environ = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("OPENAI_", "OTEL_", "ITEMTRACE_"))
    }
    environ["ITEMTRACE_STORE"] = str(tmp_path / "default.db")
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environ,
        cwd=tmp_path,
    )


@pytest.mark.parametrize("name", ALONE)
def test_example(name, tmp_path):
    """The example ends well and prints something; its own asserts hold."""
    done = run(name, tmp_path=tmp_path)
    assert (done.returncode, done.stdout != "") == (0, True), done.stderr


def test_quickstart_prints_the_run(tmp_path):
    """The first example shows every item of its run, and that nothing was lost."""
    printed = run("quickstart.py", tmp_path=tmp_path).stdout.splitlines()
    assert [line.split()[1] for line in printed[:-1]] == [
        "reasoning_item",
        "tool_call_item",
        "tool_call_output_item",
        "message_output_item",
    ]
    assert printed[-1].endswith("exact: True")


async def test_verify_in_ci(tmp_path):
    """The check is content with a whole trace, and fails on one that lost a span."""
    with SpanRecorder() as recorded:
        itemtrace.install(tracer_provider=recorded.provider)
        try:
            async with FakeProvider({"a": [[message("Hi")]]}) as fake:
                agent = Agent(name="A", model=fake.responses_model("a"))
                await Runner.run(agent, "Hello")
        finally:
            itemtrace.uninstall()
    rows = recorded.rows()
    damaged = [row for row in rows if row.name != "message_output_item"]
    for name, kept in (("whole.db", rows), ("damaged.db", damaged)):
        with open_store(tmp_path / name, write=True) as store:
            store.write(kept)
    whole = run("verify_in_ci.py", "whole.db", tmp_path=tmp_path)
    lossy = run("verify_in_ci.py", "damaged.db", tmp_path=tmp_path)
    assert (whole.returncode, whole.stdout) == (0, "1 runs, 0 losses\n"), whole.stderr
    assert lossy.returncode == 1, lossy.stderr
    assert "missing" in lossy.stdout


def test_every_example_is_listed():
    """The table of the examples' README has each of them."""
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = {
        line.split("`")[1] for line in readme.splitlines() if line.startswith("| `")
    }
    assert listed == {path.name for path in EXAMPLES.glob("*.py")}
