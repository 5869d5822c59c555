"""`itemtrace replay`: a recorded trace with the agents of a program."""

import asyncio
import json
import sys

import pytest

import itemtrace as package
from itemtrace.cli.replay import chosen, split
from itemtrace.errors import ConfigError
from itemtrace.stores import open_store
from itemtrace.testing.demo import run_demo
from itemtrace.testing.recorder import SpanRecorder


APP = "itemtrace.testing.demo:front_desk"
PROGRAM = '''
"""A program."""

from agents import Agent

from itemtrace.testing.demo import front_desk

number = 7


def make():
    """Makes the agent."""
    return front_desk


other = Agent(name="Somebody")
'''


@pytest.fixture(scope="module")
def rows():
    """The spans of the demo."""
    with SpanRecorder() as recorder:
        package.install(tracer_provider=recorder.provider, keep_openai_exporter=False)
        try:
            asyncio.run(run_demo())
        finally:
            package.uninstall()
        return recorder.rows()


@pytest.fixture
def source(rows, tmp_path, monkeypatch):
    """A store with the demo's two traces, in the current directory."""
    with open_store(tmp_path / "runs.db", write=True) as store:
        store.write(rows)
    (tmp_path / "shop_program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "runs.db"
    sys.modules.pop("shop_program", None)


@pytest.fixture
def trace(source):
    """The trace with the approval."""
    (found,) = [
        ledger for ledger in package.iter_ledgers(source) if len(ledger.runs) > 1
    ]
    return found.trace_ids[0]


def test_all_as_recorded(itemtrace, source, trace):
    """Every call is listed and counted, decisions are made again, and the exit code is 0."""
    found = itemtrace("replay", source, trace, APP)
    assert found.exit_code == 0, found.output
    lines = [line.split() for line in found.stdout.split("\n")]
    assert ["exact", "model", "call", "R0#0", "Front", "desk"] in lines
    assert ["runs", "3", "0", "0", "0"] in lines
    assert ["model", "calls", "7", "0", "0", "0"] in lines
    assert ["tool", "calls", "8", "0", "0", "0"] in lines
    assert "0 network calls." in found.stdout


def test_json(itemtrace, source, trace):
    """For machines the same, with the outputs."""
    found = itemtrace("replay", source, trace, APP, "--json")
    told = json.loads(found.stdout)
    assert (found.exit_code, told["clean"], told["error"]) == (0, True, None)
    assert told["counts"]["model call"] == {"exact": 7}
    assert [out["run"] for out in told["outputs"]] == ["R0", "R1"]
    assert told["divergences"] == told["drift"] == told["network"] == []


def test_another_agent(itemtrace, source):
    """Another program's agent is a divergence: exit code 1, and what differs."""
    found = itemtrace("replay", source, "shop_program:other")
    assert found.exit_code == 1
    assert '+"Somebody"' in found.stdout
    found = itemtrace("replay", source, "shop_program:other", "--json")
    (told,) = json.loads(found.stdout)["divergences"]
    assert (told["place"], told["expected"], told["got"]) == (
        "R0",
        "Front desk",
        "Somebody",
    )


def test_differences_that_are_let_through(itemtrace, source):
    """With `--verify log` a replay goes on and shows all that differs."""
    found = itemtrace("replay", source, "shop_program:other", "--verify", "log")
    assert found.exit_code == 1
    assert "R0#0 (turn 1, agent Front desk): the instructions" in found.stdout


def test_a_function_that_makes_the_agent(itemtrace, source):
    """A program may name a function; the newest trace is taken where none is named."""
    found = itemtrace("replay", source, "shop_program:make")
    assert found.exit_code == 0, found.output


def test_recorded_again(itemtrace, source, trace):
    """A replay can be recorded, and is then the same run for `itemtrace diff`."""
    assert itemtrace("replay", source, trace, APP, "--store", "again.db").exit_code == 0
    found = itemtrace("diff", source, "again.db")
    assert found.exit_code == 1  # the newest trace of the source is the other one
    (ledger,) = package.iter_ledgers("again.db")
    assert package.diff(package.load(source, trace_id=trace), ledger).first is None


def test_fork_without_a_model(itemtrace, source, trace):
    """After a fork the program is on its own; what it raises is told in a line."""
    found = itemtrace(
        "replay", source, trace, APP, "--fork-at", "1", "--set-model", "no-such-model"
    )
    assert found.exit_code == 1
    assert "the program raised" in found.stdout
    assert "Real calls were allowed." in found.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["front_desk"], "names no agent"),
        (["a", "b", "c", APP], "names no agent"),
        (["runs.db", "no.such.module:agent"], "cannot be imported"),
        (["runs.db", "shop_program:absent"], "cannot be imported"),
        (["runs.db", "shop_program:number"], "is a int; expected an agent"),
        (["runs.db", APP, "--verify", "maybe"], "expected one of raise, log, off"),
        (["runs.db", APP, "--set-model", "m"], "--set-model needs real calls"),
    ],
)
def test_bad_arguments(arguments, told, itemtrace, source):
    """What cannot be is refused in a line, with exit code 2."""
    found = itemtrace("replay", *arguments)
    assert (found.exit_code, told in found.stderr) == (2, True), found.output


def test_names_of_what_is_real():
    """`all` stands for all."""
    assert chosen(None) is False
    assert chosen(["a", "b"]) == ["a", "b"]
    assert chosen(["a", "all"]) is True


def test_only_a_program():
    """One argument is the program, two may be a trace of the local store."""
    assert split([APP]) == (None, None, APP)
    assert split(["abcdef", APP]) == (None, "abcdef", APP)
    with pytest.raises(ConfigError):
        split(["module:"])
