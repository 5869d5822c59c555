"""The pytest plugin, in processes of its own: recorded, played, and failing for the right reasons."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from itemtrace.ledger import io
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider


TEST = '''
"""A test of somebody's agents."""

import os
from pathlib import Path

import pytest
from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_trace_processors
from openai import AsyncOpenAI

set_trace_processors([])


@function_tool
def count(start: int) -> int:
    """Counts on."""
    with Path("done.txt").open("a") as file:
        file.write(f"{start} ")
    return start + 1


def agent():
    client = AsyncOpenAI(base_url=os.environ["FAKE_URL"], api_key="not-a-key", max_retries=0)
    model = OpenAIResponsesModel(model="m", openai_client=client)
    return Agent(name="Counter", model=model, instructions="INSTRUCTIONS", tools=[count])


@pytest.mark.itemtrace("ledgers/count.jsonl"OPTIONS)
def test_count(tape):
    result = Runner.run_sync(agent(), "Go.")
    assert result.final_output == "Two."
    assert (tape is None) == ("RECORD" in os.environ)


def test_unmarked(tape):
    assert tape is None
'''

SCRIPT = {"m": [[function_call("count", "call_1", start=1)], [message("Two.")]]}


@pytest.fixture
def project(tmp_path: Path):
    """A directory with a test of somebody's agents; returns what runs pytest in it."""
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-markers -p no:cacheprovider\n"
    )

    def run(*args, text=TEST, environ=(), options="", instructions="Count."):
        test = text.replace("OPTIONS", options).replace("INSTRUCTIONS", instructions)
        (tmp_path / "test_count.py").write_text(test)
        plugins = ["-p", "itemtrace.plugin"]
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *plugins, *args],
            cwd=tmp_path,
            env={
                **os.environ,
                "FAKE_URL": "http://127.0.0.1:9",
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                **dict(environ),
            },
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def recorded_project(project, tmp_path):
    """The same, with its ledger recorded."""
    with FakeProvider(SCRIPT) as fake:
        environ = {"FAKE_URL": fake.base_url, "RECORD": "1"}
        done = project("--itemtrace-record", environ=environ)
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(fake.requests) == 2
    assert (tmp_path / "done.txt").read_text() == "1 "
    return project


def test_recorded_and_played(recorded_project, tmp_path):
    """A test is recorded once and then played without its provider, and without its tools."""
    done = recorded_project()
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done.stdout
    assert (tmp_path / "done.txt").read_text() == "1 "
    (ledger,) = io.read(tmp_path / "ledgers" / "count.jsonl")
    assert (ledger.exact, [run.final_output for run in ledger.runs]) == (True, ["Two."])


def test_a_divergence_is_shown_as_a_difference(recorded_project):
    """A test fails with what was recorded and what the code does now, and not with a traceback."""
    done = recorded_project(instructions="Count down.")
    assert done.returncode == 1
    for line in (
        "R0#0 (turn 1, agent Counter): the instructions is not as recorded",
        '-"Count."',
        '+"Count down."',
    ):
        assert line in done.stdout.split("\n"), done.stdout
    assert "Traceback" not in done.stdout
    assert "site-packages" not in done.stdout


def test_options_of_the_marker(recorded_project):
    """Keywords of the marker are those of `itemtrace.replay`."""
    done = recorded_project(options=", verify='off'", instructions="Count down.")
    assert done.returncode == 0, done.stdout


def test_unused_calls_fail_a_test(recorded_project):
    """A test that asks for less than was recorded fails."""
    text = TEST.replace(
        'result = Runner.run_sync(agent(), "Go.")\n    assert result.final_output == "Two."',
        "pass",
    )
    done = recorded_project(text=text)
    assert done.returncode == 1
    assert "1 recorded calls were not asked for" in done.stdout


def test_a_file_that_is_not_there(project):
    """A test without its file says how to write it."""
    done = project()
    assert done.returncode == 1
    assert "--itemtrace-record" in done.stdout


def test_a_marker_without_a_file(project):
    """A marker that names no file is refused."""
    done = project(text=TEST.replace('"ledgers/count.jsonl"OPTIONS', ""))
    assert done.returncode != 0
    assert 'expected @pytest.mark.itemtrace("ledgers/name.jsonl")' in done.stdout


def test_nothing_to_record(project):
    """A test that runs no agent has nothing to record."""
    text = TEST.replace(
        'result = Runner.run_sync(agent(), "Go.")\n    assert result.final_output == "Two."',
        "pass",
    )
    done = project("--itemtrace-record", text=text, environ={"RECORD": "1"})
    assert done.returncode == 1
    assert "no run was recorded" in done.stdout


def test_the_entry_point_is_there():
    """The installed package names the plugin."""
    from importlib.metadata import entry_points

    found = [
        point.value
        for point in entry_points(group="pytest11")
        if point.name == "itemtrace"
    ]
    assert found == ["itemtrace.plugin"]
