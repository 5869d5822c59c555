"""Records, compares and replays the programs on the openai-agents of this interpreter.

    python version_run.py OUT        # ledgers go to OUT; prints one line of JSON
    OTHER                            # each line on stdin: ledgers of another version to replay

Prints a line of JSON for each directory; ends with stdin. Run by test_versions.py.
"""

import asyncio
import json
import sys
from importlib.metadata import version
from pathlib import Path

from agents import set_trace_processors
from agents.run import AgentRunner
from programs import PROGRAMS, Stage

import itemtrace
from itemtrace.errors import ReplayError
from itemtrace.ledger import io
from itemtrace.testing import truth
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder


CASES = [
    (name if not streamed else f"{name}, streamed", name, streamed)
    for name in PROGRAMS
    for streamed in (False, True)
]


def differences(ledger, ended):
    """Returns what differs between the runs of a ledger and how runs ended."""
    if len(ledger.runs) != len(ended):
        return [f"{len(ledger.runs)} runs recorded, {len(ended)} ended"]
    return [
        str(found)[:2_000]
        for run, result in zip(ledger.runs, ended, strict=True)
        for found in truth.differences(run, result)
    ]


async def recorded(name, streamed):
    """Runs a program under itemtrace; returns its ledger and how its runs ended."""
    script, program = PROGRAMS[name]
    with SpanRecorder() as recorder:
        itemtrace.install(tracer_provider=recorder.provider)
        try:
            async with FakeProvider(script) as fake:
                stage = Stage(fake, streamed)
                await program(stage)
        finally:
            itemtrace.uninstall()
        return recorder.ledger(), stage.ended


async def replayed(name, streamed, ledger, verify):
    """Runs a program on a tape; returns what is to be known of it."""
    _, program = PROGRAMS[name]
    stopped = None
    async with FakeProvider({}) as fake:
        stage = Stage(fake, streamed)
        with itemtrace.replay(ledger, verify=verify) as tape:
            try:
                await program(stage)
            except ReplayError as error:
                stopped = f"{type(error).__name__}: {error}"
    return {
        "stopped": stopped,
        "differences": [] if stopped else differences(ledger, stage.ended),
        "divergences": [str(each) for each in tape.report.divergences],
        "clean": tape.report.clean,
        "requests": len(fake.requests) + len(tape.report.network),
    }


async def prove(name, streamed, out):
    """Records a program, compares what is rebuilt, keeps it, replays it."""
    before = dict(vars(AgentRunner))
    try:
        ledger, ended = await recorded(name, streamed)
    except ImportError as error:
        return {"lacking": str(error).partition(" (")[0]}
    out.write_text(io.dumps(ledger) + "\n", encoding="utf-8")
    return {
        "gaps": [str(gap) for gap in ledger.gaps],
        "differences": differences(ledger, ended),
        "facts": sum(
            len(truth.compare(run, result))
            for run, result in zip(ledger.runs, ended, strict=False)
        ),
        "items": sum(len(run.items) for run in ledger.all_runs()),
        "self_check": [str(each) for each in ledger.self_check()],
        "health": itemtrace.health(),
        "replay": await replayed(name, streamed, ledger, "raise"),
        "put_back": dict(vars(AgentRunner)) == before,
    }


async def play(name, streamed, path):
    """Replays a ledger that another version recorded; where it diverges, also without stopping."""
    (ledger,) = io.read(path)
    try:
        found = await replayed(name, streamed, ledger, "raise")
        if found["stopped"] or found["differences"]:
            found["logged"] = await replayed(name, streamed, ledger, "log")
    except ImportError as error:
        return {"lacking": str(error).partition(" (")[0]}
    return found


def told(value):
    """Prints a line of JSON."""
    print(json.dumps(value), flush=True)  # noqa: T201 - what the test reads


def main(out):
    """Proves every program here, then plays what others recorded."""
    set_trace_processors([])
    told(
        {
            "openai-agents": version("openai-agents"),
            "openai": version("openai"),
            "opentelemetry-sdk": version("opentelemetry-sdk"),
            "programs": {
                case: asyncio.run(prove(name, streamed, out / f"{case}.jsonl"))
                for case, name, streamed in CASES
            },
        }
    )
    for line in sys.stdin:
        others = Path(line.rstrip("\n"))
        told(
            {
                case: asyncio.run(play(name, streamed, others / f"{case}.jsonl"))
                for case, name, streamed in CASES
                if (others / f"{case}.jsonl").is_file()
            }
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
