"""`itemtrace diff`: two runs side by side."""

import json

import pytest

import itemtrace as package
from itemtrace.cli.diff import apart
from itemtrace.ledger import io
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder


def record(path, *answers):
    """Writes the ledger of a run with these answers."""
    import asyncio

    from agents import Agent, Runner, function_tool
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    @function_tool
    async def look(at: str) -> str:
        """Looks."""
        return at.upper()

    async def run():
        async with FakeProvider({"m": list(answers)}) as fake:
            agent = Agent(name="Guide", model=fake.responses_model("m"), tools=[look])
            await Runner.run(agent, "Where?")

    with SpanRecorder(ids=RandomIdGenerator()) as recorder:
        package.install(tracer_provider=recorder.provider, keep_openai_exporter=False)
        try:
            asyncio.run(run())
        finally:
            package.uninstall()
    ledger = recorder.ledger()
    path.write_text(io.dumps(ledger) + "\n")
    return ledger


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Two files: they part at what the tool was asked."""
    monkeypatch.chdir(tmp_path)
    long = "word " * 300
    record(
        tmp_path / "a.jsonl",
        [function_call("look", "call_1", at="sea")],
        [message(long)],
    )
    record(
        tmp_path / "b.jsonl",
        [function_call("look", "call_2", at="sky")],
        [message("Up.", "m_2")],
    )
    return "a.jsonl", "b.jsonl"


def test_where_they_part(itemtrace, pair):
    """The first difference, then all, side by side; exit code 1."""
    found = itemtrace("diff", *pair)
    assert found.exit_code == 1
    assert found.stdout.startswith("They part at R0#0: output\n")
    assert "R0 turn 1 look  missing" not in found.stdout
    assert 'at: "sea"' in found.stdout
    assert 'at: "sky"' in found.stdout
    assert "--full shows them" in " ".join(found.stdout.split())
    assert "time" not in found.stdout
    assert "--full shows them" not in itemtrace("diff", *pair, "--full").stdout


def test_json(itemtrace, pair):
    """A line of JSON for each difference."""
    found = itemtrace("diff", *pair, "--json", "--timing")
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    assert [line["what"] for line in lines if line["place"] == "R0 turn 1 look"][
        :2
    ] == [
        "arguments",
        "output",
    ]
    assert {"usage"} <= {line["what"] for line in lines}


def test_the_same(itemtrace, pair):
    """Equal runs are said to be so; exit code 0."""
    found = itemtrace("diff", pair[0], pair[0])
    assert (found.exit_code, found.stdout) == (
        0,
        "The same but for ids, tokens and times.\n",
    )


def test_runs_by_id(itemtrace, pair):
    """With a source, A and B are ids of traces or runs in it."""
    (ledger,) = io.read(pair[0])
    run = ledger.runs[0].run_id
    found = itemtrace("diff", run, ledger.trace_ids[0], "--source", pair[0])
    assert found.exit_code == 0, found.output


def test_what_lists_have_in_common_is_left_out():
    """Only what differs in two lists is shown."""
    assert apart([1, 2, 3, 9], [1, 5, 9]) == ([2, 3], [5])
    assert apart([1], [1]) == ([], [])
    assert apart("a", [1]) == ("a", [1])
