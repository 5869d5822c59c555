# pyright: basic
"""Where a tape meets the SDK: wrapt around classes, only while a tape is played.

The runner says which run it is and gets a model from the tape; an agent's tools come as stubs. Where
somebody wrapped on top of us, our wrapper stays in theirs and does nothing without a tape.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import wrapt
from agents import AgentBase, InputGuardrail, OutputGuardrail, RunConfig, RunState
from agents.lifecycle import RunHooksBase
from agents.run import DEFAULT_MAX_TURNS, AgentRunner
from agents.tool_guardrails import ToolInputGuardrail, ToolOutputGuardrail

from itemtrace.errors import ReplayError
from itemtrace.replay import guardrails
from itemtrace.replay.divergence import divergence, missing
from itemtrace.replay.frame import CALL, FRAME, Frame
from itemtrace.replay.hooks import ReplayHooks
from itemtrace.replay.model import ReplayModel
from itemtrace.replay.network import Door, allowed
from itemtrace.replay.report import Entry
from itemtrace.replay.servers import recorded_tools
from itemtrace.replay.sessions import ReplaySession
from itemtrace.replay.tape import Tape, current
from itemtrace.replay.tools import stub


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.replay.recorded import RecordedRun


OPTIONS: Final = (
    "max_turns", "previous_response_id", "auto_previous_response_id", "conversation_id",
)  # fmt: skip
"""Options of the runner that the tape has where the caller gives none."""

DEFAULTS: Final = {"max_turns": DEFAULT_MAX_TURNS, "auto_previous_response_id": False}
"""What `Runner` passes on where the caller gives none."""


# --- the runner -----------------------------------------------------------------------


def run(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    """Around `AgentRunner.run`."""
    tape = current()
    if tape is None:
        return wrapped(*args, **kwargs)
    return _replayed(tape, wrapped, args, kwargs)


async def _replayed(
    tape: Tape, wrapped: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    frame, args, kwargs = _prepare(tape, args, kwargs)
    token = FRAME.set(frame)
    try:
        result = await wrapped(*args, **kwargs)
    except BaseException as error:
        pending = tape.pending
        if frame.parent is None:
            tape.reached()
        if pending is None or pending is error or not isinstance(error, Exception):
            raise
        raise pending from error
    finally:
        frame.ended()
        with suppress(
            ValueError
        ):  # closed from another context, when a loop is torn down
            FRAME.reset(token)
    if frame.parent is None:
        tape.raise_pending()
    else:
        tape.raise_pending_again()
    return result


def run_streamed(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    """Around `AgentRunner.run_streamed`, which starts the run's task and returns."""
    tape = current()
    if tape is None:
        return wrapped(*args, **kwargs)
    frame, args, kwargs = _prepare(tape, args, kwargs)
    token = FRAME.set(frame)
    try:
        result = wrapped(*args, **kwargs)
    finally:
        FRAME.reset(token)
    task = getattr(result, "run_loop_task", None)
    if task is not None:
        task.add_done_callback(lambda ended: _stream_ended(frame, ended))
    return result


def _stream_ended(frame: Frame, task: Any) -> None:
    frame.ended()
    if task.cancelled():
        return
    if frame.parent is None and task.exception() is not None:
        frame.tape.reached()


# --- the start of a run ------------------------------------------------------------------


def _prepare(tape: Tape, args: Any, kwargs: Any) -> tuple[Frame, Any, Any]:
    """Returns the frame of a run and the arguments to go on with."""
    try:
        return _prepared(tape, args, kwargs)
    except ReplayError:
        if FRAME.get() is None:
            tape.reached()
        raise


def _prepared(tape: Tape, args: Any, kwargs: Any) -> tuple[Frame, Any, Any]:
    tape.raise_pending_again()
    agent = args[0] if args else kwargs.get("starting_agent")
    given = args[1] if len(args) > 1 else kwargs.get("input")
    parent = FRAME.get()
    config = _original(kwargs.get("run_config"))
    recorded = _recorded(tape, parent, agent, given, kwargs)
    frame = Frame(tape, recorded, parent, config)
    changed = dict(kwargs)
    hooks = kwargs.get("hooks")
    if hooks is None or isinstance(hooks, RunHooksBase):
        changed["hooks"] = ReplayHooks(frame, hooks)
    changed["run_config"] = dataclasses.replace(config, model=ReplayModel(frame))
    if recorded is not None and not tape.live:
        _fill(recorded, changed)
        given_as = recorded.run.given_input
        if recorded.run.input == given and given_as is not None and given_as != given:
            args, changed = _with_input(args, changed, given_as)
    return frame, args, changed


def _original(config: Any) -> RunConfig:
    """Returns the caller's configuration; a nested run may inherit ours, whose model stands for all."""
    if config is None:
        return RunConfig()
    if isinstance(config, dict):
        return RunConfig(**config)
    if isinstance(config.model, ReplayModel):
        return config.model.frame.config  # type: ignore[no-any-return]
    return config  # type: ignore[no-any-return]


def _recorded(
    tape: Tape, parent: Frame | None, agent: Any, given: Any, kwargs: Any
) -> RecordedRun | None:
    name = getattr(agent, "name", None)
    if parent is not None:
        call_id = getattr(kwargs.get("context"), "tool_call_id", None)
        running = CALL.get()
        if call_id is None and running is not None and running[0] is parent:
            call_id = running[1]
        found = _nested(parent, call_id, name)
    else:
        calls = _waits_for(given) if isinstance(given, RunState) else None
        found = None if tape.live else tape.root(name, given, calls)
    if found is None:
        _no_run(tape, parent, name, given)
        return None
    tape.report.entries.append(Entry("run", found.path, found.run.agent or "", "exact"))
    if name != found.run.agent and tape.options.verify != "off":
        cause = "the agent was renamed, or another one is run"
        tape.diverged(divergence(found.path, "the agent", found.run.agent, name, cause))
    return found


def _nested(
    parent: Frame, call_id: str | None, agent: str | None
) -> RecordedRun | None:
    if parent.recorded is None:
        return None
    known = parent.made.get(call_id, call_id) if call_id is not None else None
    return parent.recorded.child(known, agent)


def _no_run(tape: Tape, parent: Frame | None, agent: str | None, given: Any) -> None:
    """A run that the tape does not have is real after a fork or under a real one, and else stopped."""
    real = tape.live or (parent is not None and parent.recorded is None)
    if real or tape.options.live_models is True:
        tape.report.entries.append(Entry("run", "live", agent or "", "live"))
        return
    place = f"{parent.path} nested" if parent is not None else f"R{len(tape.roots)}"
    tape.report.entries.append(
        Entry("run", place, agent or "", "diverged", "not on the tape")
    )
    cause = (
        "all recorded runs were replayed already; make a new tape to replay them again"
        if parent is None
        else "the code starts a run that it did not start when this was recorded"
    )
    shown = given if isinstance(given, str | list) else type(given).__name__
    tape.diverged(missing(place, f"a run of {agent}", shown, cause), stop=True)


def _waits_for(state: RunState[Any]) -> set[str]:
    return {item.call_id for item in state.get_interruptions() if item.call_id}


def _fill(recorded: RecordedRun, kwargs: dict[str, Any]) -> None:
    """Puts in what the recorded run was given, and takes the real session out."""
    options = recorded.run.options
    for name in OPTIONS:
        if kwargs.get(name) in (None, DEFAULTS.get(name)) and name in options:
            kwargs[name] = options[name]
    session = kwargs.get("session")
    if session is not None or "session" in options:
        name = str(options.get("session", ""))
        kwargs["session"] = ReplaySession(recorded.history, session, name)


def _with_input(
    args: Any, kwargs: dict[str, Any], given: Any
) -> tuple[Any, dict[str, Any]]:
    """Gives the run what it was given when it was recorded: a handoff rewrote the result's input."""
    if len(args) > 1:
        return (args[0], given, *args[2:]), kwargs
    return args, {**kwargs, "input": given}


# --- tools, servers, guardrails -------------------------------------------------------------


async def get_all_tools(
    wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any
) -> Any:
    """Around `AgentBase.get_all_tools`."""
    tools = await wrapped(*args, **kwargs)
    tape = current()
    return tools if tape is None else [tape.stub(tool, stub) for tool in tools]


async def get_mcp_tools(
    wrapped: Callable[..., Any], agent: Any, args: Any, kwargs: Any
) -> Any:
    """Around `AgentBase.get_mcp_tools`."""
    frame = FRAME.get() if agent.mcp_servers else None
    if frame is None or frame.real or frame.tape.options.live_tools is True:
        with allowed():
            return await wrapped(*args, **kwargs)
    return recorded_tools(frame, agent)


def _guardrail(kind: str) -> Any:
    async def guardrail(
        wrapped: Callable[..., Any], of: Any, args: Any, kwargs: Any
    ) -> Any:
        found = guardrails.serve(kind, of, args, kwargs)
        return await wrapped(*args, **kwargs) if found is None else found

    return guardrail


WRAPPED: Final[tuple[tuple[type, str, Any], ...]] = (
    (AgentRunner, "run", run),
    (AgentRunner, "run_streamed", run_streamed),
    (AgentBase, "get_all_tools", get_all_tools),
    (AgentBase, "get_mcp_tools", get_mcp_tools),
    (InputGuardrail, "run", _guardrail("input")),
    (OutputGuardrail, "run", _guardrail("output")),
    (ToolInputGuardrail, "run", _guardrail("tool_input")),
    (ToolOutputGuardrail, "run", _guardrail("tool_output")),
)
"""What is wrapped."""


class Seam:
    """Puts the wrappers in for the first tape and takes them out after the last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tapes = 0
        self._put: list[tuple[type, str, Any, Any]] = []
        self._door = Door()

    def put(self) -> None:
        """A tape starts."""
        with self._lock:
            self._tapes += 1
            if self._tapes > 1:
                return
            for place, name, wrapper in WRAPPED:
                before = place.__dict__[name]
                wrapt.wrap_function_wrapper(place, name, wrapper)
                self._put.append((place, name, before, place.__dict__[name]))
            self._door.close()

    def remove(self) -> None:
        """A tape stops."""
        with self._lock:
            self._tapes -= 1
            if self._tapes:
                return
            self._door.open()
            while self._put:
                place, name, before, ours = self._put.pop()
                if place.__dict__[name] is ours:
                    setattr(place, name, before)


SEAM: Final = Seam()
