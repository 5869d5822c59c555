"""All root runs of a tape once more, in their order and the way they were run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import RunConfig, Runner

from itemtrace.errors import ReplayError
from itemtrace.ledger.convert import sdk


if TYPE_CHECKING:
    from itemtrace.ledger import Run
    from itemtrace.replay.tape import Tape


Ended = Any
"""A result of the SDK, or the exception that ended the run as it did when it was recorded."""


async def again(
    tape: Tape, agent: Any, *, model: Any = None, tracing: bool = True
) -> list[Ended]:
    """Plays a tape to its end, or until a fork went on for real.

    Args:
        tape: A tape that is not playing yet.
        agent: The starting agent; runs that began with another one find it among its handoffs.
        model: The model for real calls.
        tracing: False keeps the SDK from tracing the replay.

    Raises:
        ReplayError: The code does something else than was recorded, or raises what it did not.
    """
    known = sdk.agents_by_name(agent)
    results: list[Ended] = []
    with tape:
        for root in tape.roots:
            run = root.run
            config = RunConfig(model=model, tracing_disabled=not tracing, **told(run))
            resumed = "resumed" in run.begin and results
            given = tape.decide(results[-1]) if resumed else run.given_input
            starting = known.get(run.agent or "", agent)
            results.append(await ended(run, starting, given, config))
            if tape.live:
                break
    return results


def told(run: Run) -> dict[str, Any]:
    """Returns what a run's trace was told, but its id."""
    found = {
        "workflow_name": run.workflow,
        "group_id": run.group,
        "trace_metadata": run.metadata or None,
    }
    return {name: value for name, value in found.items() if value is not None}


async def ended(run: Run, agent: Any, given: Any, config: RunConfig) -> Ended:
    """Runs it as it was run; an error that ended the recorded run as well is how it ends."""
    try:
        if not run.streamed:
            return await Runner.run(agent, given, run_config=config)
        result = Runner.run_streamed(agent, given, run_config=config)
        async for _ in result.stream_events():
            pass
    except ReplayError:
        raise
    except Exception as error:
        if run.error is not None and str(error) == run.error.message:
            return error
        msg = f"the program raised {type(error).__name__}: {error}"
        raise ReplayError(msg) from error
    return result
