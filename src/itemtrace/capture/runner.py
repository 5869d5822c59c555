# pyright: basic
# Raw items and SDK objects are JSON values and Any at this edge
"""The runner seam: `AgentRunner.run` and `run_streamed`, wrapped at class level by wrapt.

Top-level and nested runs pass here, `run_sync` too (it calls `run`). A runner of the user's that
overrides `run` and never reaches `AgentRunner.run` is not seen; its runs are captured from spans.
"""

from __future__ import annotations

import asyncio
import dataclasses
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import wrapt
from agents import RunConfig, RunState
from agents.lifecycle import RunHooksBase
from agents.run import AgentRunner
from agents.tracing import get_current_span

from itemtrace.capture import results
from itemtrace.capture.guard import FRAME, HEALTH, guarded
from itemtrace.capture.hooks import RecordingHooks
from itemtrace.capture.recording import Given, Recording, failure
from itemtrace.capture.sessions import observed
from itemtrace.codec import canonical


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.capture.frame import Frame
    from itemtrace.capture.tree import Tree


_OPTIONS: Final = (
    "max_turns", "previous_response_id", "auto_previous_response_id", "conversation_id",
)  # fmt: skip


class RunnerSeam:
    """Our wrappers around the SDK's runner.

    `remove` puts back exactly what was there; where somebody wrapped on top of us, our wrapper stays in
    theirs and does nothing any more.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._enabled = False
        self._before: dict[str, Any] = {}
        self._ours: dict[str, Any] = {}

    def put(self) -> None:
        """Wraps the runner."""
        self._enabled = True
        for name, wrapper in (("run", self._run), ("run_streamed", self._run_streamed)):
            self._before[name] = AgentRunner.__dict__[name]
            wrapt.wrap_function_wrapper("agents.run", f"AgentRunner.{name}", wrapper)
            self._ours[name] = AgentRunner.__dict__[name]

    def remove(self) -> None:
        """Takes our wrappers out."""
        self._enabled = False
        for name, before in self._before.items():
            if AgentRunner.__dict__[name] is self._ours[name]:
                setattr(AgentRunner, name, before)
        self._before, self._ours = {}, {}

    # --- the wrappers -------------------------------------------------------------------

    def _run(self, wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
        prepared = (
            self._prepare(args, kwargs, streamed=False) if self._enabled else None
        )
        if prepared is None:
            return wrapped(*args, **kwargs)
        recording, args, kwargs = prepared
        return _recorded(recording, wrapped, args, kwargs)

    def _run_streamed(
        self, wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any
    ) -> Any:
        prepared = self._prepare(args, kwargs, streamed=True) if self._enabled else None
        if prepared is None:
            return wrapped(*args, **kwargs)
        recording, args, kwargs = prepared
        token = FRAME.set(recording)
        try:
            result = wrapped(*args, **kwargs)
        finally:
            FRAME.reset(token)
        _watch(recording, result)
        return result

    @guarded("the start of a run")
    def _prepare(
        self, args: Any, kwargs: Any, *, streamed: bool
    ) -> tuple[Recording, Any, Any] | None:
        """Returns the recording of a run and the arguments to go on with; None leaves it alone."""
        hooks = kwargs.get("hooks")
        if hooks is not None and not isinstance(hooks, RunHooksBase):
            return None  # the SDK refuses it with a message of its own
        config = kwargs.get("run_config")
        given = _given(args, kwargs, config, streamed=streamed)
        recording = Recording(given, self._tree)
        changed = {**kwargs, "hooks": RecordingHooks(recording, hooks)}
        callback = _option(config, "session_input_callback", None)
        if callback is not None and kwargs.get("session") is not None:
            changed["run_config"] = _with(
                config, session_input_callback=observed(callback, given)
            )
        return recording, args, changed


async def _recorded(
    recording: Recording, wrapped: Callable[..., Any], args: Any, kwargs: Any
) -> Any:
    token = FRAME.set(recording)
    try:
        result = await wrapped(*args, **kwargs)
        _finished(recording, result)
    except BaseException as error:
        _failed(recording, error)
        raise
    finally:
        with suppress(
            ValueError
        ):  # closed from another context, when a loop is torn down
            FRAME.reset(token)
        _released(recording)
    return result


@guarded("the end of a run")
def _released(recording: Recording) -> None:
    recording.release()


@guarded("the start of a run")
def _watch(recording: Recording, result: Any) -> None:
    task = getattr(result, "run_loop_task", None)
    if task is None:
        return

    def done(ended: asyncio.Task[Any]) -> None:
        _ended(recording, result, ended)
        _released(recording)

    task.add_done_callback(done)


@guarded("the end of a run")
def _ended(recording: Recording, result: Any, ended: asyncio.Task[Any]) -> None:
    if ended.cancelled():
        _stopped(recording, result)
        return
    error = ended.exception() or _stored_error(result)
    if error is not None:
        _failed(recording, error, result)
    elif (
        getattr(result, "_cancel_mode", "none") != "none"
        and result.final_output is None
    ):
        _stopped(recording, result)
    else:
        _finished(recording, result)


def _stored_error(result: Any) -> BaseException | None:
    error = getattr(result, "_stored_exception", None)
    return error if isinstance(error, BaseException) else None


# --- ends ---------------------------------------------------------------------------------


def _broke(recording: Recording) -> Callable[[BaseException], None]:
    def failed(error: BaseException) -> None:
        HEALTH.failed("the end of a run", error)
        recording.failures += 1

    return failed


@guarded("the end of a run")
def _finished(recording: Recording, result: Any) -> None:
    interruptions = getattr(result, "interruptions", None)

    def body(frame: Frame) -> dict[str, Any]:
        end = results.end_body(frame, result, recording.emit)
        if interruptions:
            _wait(recording, frame, interruptions)
            if recording.tree.settings.state and frame.privacy.whole:
                end["state"] = results.state(frame, result)
        return {key: value for key, value in end.items() if value is not None}

    recording.finish(
        body, "interrupted" if interruptions else "completed", _broke(recording)
    )


@guarded("the end of a run")
def _stopped(recording: Recording, result: Any) -> None:
    recording.finish(
        lambda frame: results.end_body(frame, result, recording.emit),
        "cancelled",
        _broke(recording),
    )


@guarded("the end of a run")
def _failed(recording: Recording, error: BaseException, result: Any = None) -> None:
    details = getattr(error, "run_data", None) or result
    cancelled = isinstance(
        error, asyncio.CancelledError | GeneratorExit | KeyboardInterrupt
    )

    def body(frame: Frame) -> dict[str, Any]:
        end: dict[str, Any] = {"items": [], "responses": []}
        if details is not None:
            end = results.end_body(frame, details, recording.emit)
        return {**end, "error": failure(error, frame.privacy)}

    recording.finish(body, "cancelled" if cancelled else "failed", _broke(recording))


def _wait(recording: Recording, frame: Frame, interruptions: list[Any]) -> None:
    """Remembers who waits for which approval, so that a resumed run is linked to this one."""
    for item in interruptions:
        call_id = getattr(item, "call_id", None)
        if call_id is not None:
            frame.shared.waiting[recording.given.parent_call, call_id] = frame.id
    above = recording.given.parent
    if above is not None and recording.given.parent_call is not None:
        above.waiting_calls.add(recording.given.parent_call)


# --- what is known before a run --------------------------------------------------------------


def _given(args: Any, kwargs: Any, config: Any, *, streamed: bool) -> Given:
    agent = args[0] if args else kwargs.get("starting_agent")
    value = args[1] if len(args) > 1 else kwargs.get("input")
    parent = FRAME.get()
    call_id = (
        getattr(kwargs.get("context"), "tool_call_id", None)
        if parent is not None
        else None
    )
    span = get_current_span()
    if parent is not None and call_id is None and span is not None:
        call_id = parent.tools.call_of(span.span_id)
    if parent is not None and call_id is not None and span is not None:
        parent.tools.nested(span.span_id, call_id)
    sensitive = _option(config, "trace_include_sensitive_data", None)
    if sensitive is None:
        sensitive = RunConfig().trace_include_sensitive_data
    options = {name: kwargs[name] for name in _OPTIONS if kwargs.get(name)}
    session = kwargs.get("session")
    if session is not None:
        options["session"] = getattr(
            session, "session_id", None
        ) or canonical.type_name(session)
    resumed = _decisions(value) if isinstance(value, RunState) else None
    return Given(
        agent=agent,
        input=None if resumed is not None else _copied(value),
        options=options,
        parent=parent,
        parent_call=call_id,
        resumed=resumed,
        streamed=streamed,
        content=bool(sensitive) and (parent is None or parent.content),
        model=_option(config, "model", None),
        settings=_option(config, "model_settings", None),
    )


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


def _option(config: Any, name: str, default: Any) -> Any:
    if isinstance(config, dict):
        return config.get(name, default)
    return getattr(config, name, default) if config is not None else default


def _with(config: Any, **changes: Any) -> Any:
    return (
        {**config, **changes}
        if isinstance(config, dict)
        else dataclasses.replace(config, **changes)
    )


def _decisions(state: RunState[Any]) -> list[dict[str, Any]]:
    """Returns what was decided on each pending approval of a state."""
    context = getattr(state, "_context", None)
    found: list[dict[str, Any]] = []
    for item in state.get_interruptions():
        name, call_id = item.tool_name or "", item.call_id
        entry: dict[str, Any] = {"call": call_id, "tool": name, "decision": "pending"}
        if context is not None and call_id:
            status = context.get_approval_status(name, call_id, existing_pending=item)
            entry["decision"] = {True: "approved", False: "rejected"}.get(
                status, "pending"
            )
            message = context.get_rejection_message(
                name, call_id, existing_pending=item
            )
            if message and status is False:
                entry["message"] = message
        found.append(entry)
    return found
