"""Processes that die, fork, end by themselves, or run their loops elsewhere."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import itemtrace
from itemtrace.ledger import GapCause


PROGRAM = """
import asyncio, json, sys, threading
from agents import Agent, Runner, function_tool, set_trace_processors
import itemtrace
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider

set_trace_processors([])
steps = []

def answers(body):
    items = body["input"]
    done = sum(i.get("type") == "function_call_output" for i in items if isinstance(items, list))
    turns = TURNS
    if done < turns:
        return [function_call("step", f"call_{done}", number=done)]
    return [message("done")]

@function_tool
async def step(number: int) -> str:
    "One step."
    await asyncio.sleep(DELAY)
    steps.append(number)
    return f"step {number} " + "x" * 300

async def one(fake):
    agent = Agent(name="Stepper", model=fake.responses_model("stepper"), tools=[step])
    return await Runner.run(agent, "Go.", max_turns=1000)

def run():
    async def main():
        async with FakeProvider({"stepper": answers}) as fake:
            return await one(fake)
    return asyncio.run(main())
"""


def program(tail, *, turns=2, delay=0.0):
    """Returns a Python program: the shared part, then its own end."""
    head = PROGRAM.replace("TURNS", str(turns)).replace("DELAY", str(delay))
    return head + textwrap.dedent(tail)


def environment(store):
    """Returns an environment in which only the given store is configured."""
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "ITEMTRACE_"))
    }
    return {**kept, "ITEMTRACE_STORE": str(store)}


def start(source, store):
    """Starts a program with its store."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", source],
        env=environment(store),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(source, store):
    """Runs a program to its end and returns what it printed."""
    with start(source, store) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out.split()


ENDLESS = program(
    """
    installed = itemtrace.install()
    print(installed.store, flush=True)
    def report():
        while True:
            done = len(steps) - 1  # the last one may not have ended its span
            if itemtrace.flush():
                print(done, flush=True)
    threading.Thread(target=report, daemon=True).start()
    run()
    """,
    turns=900,
    delay=0.005,
)


@pytest.mark.parametrize("wait", [0.1, 0.45])
def test_killed(wait, tmp_path):
    """What was flushed before a kill -9 is there; the ledger says that it has no seal."""
    store = tmp_path / "traces.db"
    with start(ENDLESS, store) as process:
        assert process.stdout.readline().strip() == str(store)
        while int(process.stdout.readline()) < 3:
            pass
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        said = process.stdout.read().split()
    assert process.returncode == -signal.SIGKILL
    acknowledged = max(map(int, said))
    assert acknowledged > 0
    ledger = itemtrace.load(store)
    (run,) = ledger.runs
    outputs = [item for item in run.items if item.type == "tool_call_output_item"]
    assert len(outputs) >= acknowledged
    assert GapCause.UNSEALED in {gap.cause for gap in ledger.gaps}
    calls = [item for item in run.items if item.type == "tool_call_item"]
    assert [json.loads(c.arguments)["number"] for c in calls] == list(range(len(calls)))
    assert ledger.self_check() == []


def test_ends_by_itself(tmp_path):
    """A program that neither flushes nor uninstalls leaves an exact ledger."""
    store = tmp_path / "traces.db"
    finished(program("itemtrace.install()\nrun()\n"), store)
    ledger = itemtrace.load(store)
    assert ledger.exact
    assert [run.final_output for run in ledger.runs] == ["done"]


def test_ends_by_an_exception(tmp_path):
    """A program that dies of an exception leaves what was recorded."""
    store = tmp_path / "traces.db"
    source = program("itemtrace.install()\nrun()\nraise SystemExit(3)\n")
    with start(source, store) as process:
        process.communicate(timeout=60)
    assert process.returncode == 3
    assert itemtrace.load(store).exact


def test_fork(tmp_path):
    """A child forked after the installation records its own runs, the parent goes on."""
    store = tmp_path / "traces.db"
    source = program(
        """
        import os
        itemtrace.install()
        run()
        child = os.fork()
        if child == 0:
            run()
            itemtrace.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
        run()
        """
    )
    finished(source, store)
    runs = [run for ledger in itemtrace.iter_ledgers(store) for run in ledger.runs]
    assert [run.final_output for run in runs] == ["done"] * 3
    assert all(run.exact for run in runs)


def test_multiprocessing(tmp_path):
    """Workers of a forked pool record, and flush when they end by themselves."""
    store = tmp_path / "traces.db"
    source = program(
        """
        import multiprocessing
        itemtrace.install()
        def work(number):
            run()
            itemtrace.flush()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pool.map(work, range(4))
        """
    )
    finished(source, store)
    ledgers = list(itemtrace.iter_ledgers(store))
    assert [ledger.exact for ledger in ledgers] == [True] * 4


def test_run_sync_in_threads(tmp_path):
    """`run_sync` in threads at once: each run is whole and in a trace of its own."""
    store = tmp_path / "traces.db"
    source = program(
        """
        from agents import OpenAIResponsesModel
        from openai import AsyncOpenAI
        itemtrace.install()
        with FakeProvider({"stepper": answers}) as fake:
            def work():
                asyncio.set_event_loop(asyncio.new_event_loop())
                client = AsyncOpenAI(base_url=fake.base_url, api_key="x")
                model = OpenAIResponsesModel(model="stepper", openai_client=client)
                agent = Agent(name="Stepper", model=model, tools=[step])
                Runner.run_sync(agent, "Go.")
                loop = asyncio.get_event_loop_policy().get_event_loop()
                loop.run_until_complete(client.close())
                loop.close()
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        """
    )
    finished(source, store)
    ledgers = list(itemtrace.iter_ledgers(store))
    assert [(ledger.exact, len(ledger.runs)) for ledger in ledgers] == [(True, 1)] * 4


def test_a_loop_that_already_runs(tmp_path):
    """As in a notebook: cells are tasks of one loop that lives on; each run is whole."""
    store = tmp_path / "traces.db"
    source = program(
        """
        async def notebook():
            itemtrace.install()
            async with FakeProvider({"stepper": answers}) as fake:
                await one(fake)
                await asyncio.gather(one(fake), one(fake))
                itemtrace.install()
                await asyncio.create_task(one(fake))
            itemtrace.flush()
            print(sum(len(l.runs) for l in itemtrace.iter_ledgers()))
        asyncio.run(notebook())
        """
    )
    assert finished(source, store) == ["4"]
    assert all(ledger.exact for ledger in itemtrace.iter_ledgers(store))
