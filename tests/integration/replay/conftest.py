"""What the replay tests share: each root run of a test is noted, and run again from its ledger."""

import contextvars

import pytest
from agents import Runner, RunState
from agents.run import AgentRunner

import itemtrace
from itemtrace.testing import truth


INSIDE = contextvars.ContextVar("inside", default=False)


class Noted:
    """One call of `Runner`, to be made again."""

    def __init__(self, args, kwargs, *, streamed):
        self.args = args
        self.kwargs = dict(kwargs)
        self.streamed = streamed

    async def again(self, given):
        """Makes the call again, with this input; returns its result or what it raised."""
        agent = self.args[0] if self.args else self.kwargs["starting_agent"]
        kwargs = {
            k: v for k, v in self.kwargs.items() if k not in ("starting_agent", "input")
        }
        return await ended(agent, given, streamed=self.streamed, **kwargs)

    @property
    def given(self):
        """The input."""
        return self.args[1] if len(self.args) > 1 else self.kwargs["input"]


async def ended(agent, given, *, streamed=False, **kwargs):
    """Runs an agent; returns its result, or what it raised."""
    try:
        if not streamed:
            return await Runner.run(agent, given, **kwargs)
        result = Runner.run_streamed(agent, given, **kwargs)
        async for _ in result.stream_events():
            pass
    except Exception as error:  # noqa: BLE001 - how it ended is what is compared
        return error
    return result


@pytest.fixture
def noted(monkeypatch):
    """The calls of `Runner` that this test makes, nested ones left aside."""
    calls = []
    run, run_streamed = AgentRunner.run, AgentRunner.run_streamed

    async def noted_run(self, *args, **kwargs):
        if not INSIDE.get():
            calls.append(Noted(args, kwargs, streamed=False))
        token = INSIDE.set(True)
        try:
            return await run(self, *args, **kwargs)
        finally:
            INSIDE.reset(token)

    def noted_run_streamed(self, *args, **kwargs):
        if not INSIDE.get():
            calls.append(Noted(args, kwargs, streamed=True))
        token = INSIDE.set(True)
        try:
            return run_streamed(self, *args, **kwargs)
        finally:
            INSIDE.reset(token)

    monkeypatch.setattr(AgentRunner, "run", noted_run)
    monkeypatch.setattr(AgentRunner, "run_streamed", noted_run_streamed)
    return calls


async def play(ledger, calls, **options):
    """Makes each call again from a ledger; returns the tape and how each ended."""
    results = []
    with itemtrace.replay(ledger, **options) as tape:
        for call in calls:
            given = call.given
            if isinstance(given, RunState):
                paused = results[-1]
                given = (
                    tape.decide(paused) if paused.interruptions else paused.to_state()
                )
            results.append(await call.again(given))
    return tape, results


def differences(ledger, results):
    """What differs between the runs of a ledger and results, as text."""
    return [
        f"{run.run_id} {found}"
        for run, result in zip(ledger.runs, results, strict=True)
        for found in truth.differences(run, result)
    ]
