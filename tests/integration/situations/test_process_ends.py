"""Processes that die in the middle, or end without a word."""

import subprocess
import sys

import pytest

import itemtrace
from itemtrace.ledger import GapCause
from itemtrace.stores import open_store


PROGRAM = '''
import asyncio, os, sys
from agents import Agent, Runner, function_tool, set_trace_processors
from agents.testing import ScriptedModel, assistant_message, function_call

import itemtrace

set_trace_processors([])
itemtrace.install(store=sys.argv[1])
how = sys.argv[2]


@function_tool
async def work(step: int) -> str:
    """Works."""
    if step == 2 and how == "killed":
        itemtrace.flush()
        os._exit(9)
    if step == 2 and how == "exits":
        sys.exit(3)
    return f"step {step}"


model = ScriptedModel([
    [function_call("work", {"step": 1}, call_id="call_1")],
    [function_call("work", {"step": 2}, call_id="call_2")],
    [assistant_message("Done.")],
])
asyncio.run(Runner.run(Agent(name="Worker", model=model, tools=[work]), "Go."))
'''


@pytest.mark.parametrize(("how", "code"), [("killed", 9), ("exits", 3)])
def test_how_a_process_ends(how, code, tmp_path):
    """The ledger holds all that was exported; one that was not closed says 'unsealed'."""
    store = tmp_path / "runs.db"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, str(program), str(store), how]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    assert "itemtrace_frame" not in ran.stderr  # a context variable of ours
    with open_store(store) as opened:
        ledger = itemtrace.load(opened)
    (run,) = ledger.runs
    output = run.tool_calls[0].output
    assert output
    assert output.output == "step 1"
    assert [call.call_id for call in run.tool_calls] == ["call_1", "call_2"][
        : len(run.tool_calls)
    ]
    assert run.given_input == "Go."
    causes = {gap.cause for gap in ledger.gaps}
    assert GapCause.UNSEALED in causes
    assert causes <= {GapCause.UNSEALED, GapCause.MISSING}
    assert run.status == "unsealed"
    assert run.new_items[0].raw["call_id"] == "call_1"
    assert ledger.self_check() == []
