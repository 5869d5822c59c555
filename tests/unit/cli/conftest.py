"""Made-up runs in stores, and views rendered to plain text."""

import io
from typing import Any

import pytest
from typer.testing import CliRunner

from itemtrace.cli import app, output
from itemtrace.cli.sources import Found
from itemtrace.codec.spans import SpanRow
from itemtrace.rebuild import rebuild
from itemtrace.stores import open_store
from itemtrace.testing.synthetic import TRACE_ID, RunWriter, rows_of


START = 1_764_500_000_000_000_000
"""2025-11-30 10:53:20 UTC."""


def message(text, **more):
    """A message of an assistant, raw."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "content": [part], **more}


def call(name, call_id, arguments="{}"):
    """A function call, raw."""
    return {
        "type": "function_call",
        "name": name,
        "call_id": call_id,
        "arguments": arguments,
    }


def answer(call_id, output):
    """A function call's output, raw."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


class Story(RunWriter):
    """A run that is written item by item; `close` ends and seals it."""

    def __init__(
        self, run_id="00000000000000a1", agent="Desk", given: Any = "Hello", **begin
    ):
        super().__init__(run_id)
        self.agent = agent
        self.items = []
        self.calls = 0
        trace = {
            "id": f"trace_{TRACE_ID}",
            "name": "Shop",
            "group": "g-1",
            "metadata": {"k": "v"},
        }
        fields = {
            "version": "1.0",
            "sdk": "0.24.0",
            "capture": "full",
            "started": START,
            "trace": trace,
            "agent": agent,
            "input": given,
        }
        self.add("begin", **{**fields, **begin})

    def responds(self, *raws, types=(), model="m-1", tokens=(10, 5), **more):
        """Adds a model call with the items of its response."""
        n = self.calls
        self.calls += 1
        seqs = [
            self.item(kind, raw, call=n) for kind, raw in zip(types, raws, strict=True)
        ]
        usage = [1, *tokens, sum(tokens), {"cached_tokens": 2}, {"reasoning_tokens": 1}]
        body = {
            "n": n,
            "agent": self.agent,
            "turn": n + 1,
            "start": n * 1000,
            "end": n * 1000 + 500,
            "model": model,
            "response": {"id": f"resp_{n}", "usage": usage, "output": seqs},
        }
        return self.add("call", **{**body, **more})

    def item(self, kind, raw, **more):
        """Adds an item."""
        seq = self.add("item", type=kind, agent=self.agent, raw=raw, at=10, **more)
        self.items.append(seq)
        return seq

    def close(self, status="completed", **end):
        """Ends and seals the run; returns it."""
        body = {
            "status": status,
            "end": 250_000,
            "items": self.items,
            "last_agent": self.agent,
        }
        self.add("end", **{**body, **end})
        self.seal()
        return self


def rows(*stories, trace_id=TRACE_ID):
    """Span rows of runs, with the attributes that stores index."""
    found = rows_of(
        [record for story in stories for record in story.records], trace_id=trace_id
    )
    for number, story in enumerate(stories):
        begin = story.records[0].value
        shared = {
            "itemtrace.run.id": story.run_id,
            "gen_ai.agent.name": story.agent,
            "gen_ai.conversation.id": "g-1",
        }
        parent = (begin.get("parent") or {}).get("run")
        if parent:
            shared["itemtrace.run.parent"] = parent
        started = begin["started"]
        end = {"itemtrace.run.status": "completed", "itemtrace.run.items": 1}
        for name, more in (("run_start", {}), ("run_end", end)):
            found.append(
                SpanRow(
                    trace_id,
                    f"{len(found) + 1000 + number:016x}",
                    name=name,
                    start_ns=started,
                    end_ns=started + 250_000_000,
                    attributes={**shared, **more},
                    scope="itemtrace",
                )
            )
    return found


def found_of(*stories, without=()):
    """What `sources.find` would give for runs; `without` are places of rows that are lost."""
    kept = [row for place, row in enumerate(rows(*stories)) if place not in without]
    ledger = rebuild(kept)
    return Found(ledger, ledger.runs, "a store", TRACE_ID)


def render(parts, width=100, **options):
    """The text of renderables, trailing blanks taken off."""
    file = io.StringIO()
    console = output.console(file)
    console.width = width
    for part in parts:
        console.print(part, crop=False, **options)
    return "\n".join(line.rstrip() for line in file.getvalue().split("\n")).strip("\n")


@pytest.fixture(autouse=True)
def fixed_surroundings(monkeypatch):
    """No colours, a fixed width, and no store of the user's."""
    for name in ("FORCE_COLOR", "ITEMTRACE_STORE", "ITEMTRACE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")


@pytest.fixture
def store(tmp_path):
    """Writes runs into a new store, one trace for each call, and gives its path."""
    path = tmp_path / "traces.db"

    def write(*stories, trace_id=TRACE_ID):
        with open_store(path, write=True) as opened:
            opened.write(rows(*stories, trace_id=trace_id))
        return str(path)

    return write


@pytest.fixture
def itemtrace():
    """Runs a command in this process."""
    return lambda *arguments: CliRunner().invoke(app, list(arguments))
