"""The model of a replay: answers from the tape, at the place where the run is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agents import Model
from agents.tracing.spans import SpanError

from itemtrace.errors import GapError
from itemtrace.ledger.checks import lacks_content
from itemtrace.ledger.convert import sdk
from itemtrace.replay import differences, failures, streams
from itemtrace.replay.divergence import divergence, gap, input_differs, missing
from itemtrace.replay.network import allowed
from itemtrace.replay.real import Asked, real_arguments, real_model
from itemtrace.replay.report import Entry, Status
from itemtrace.replay.spans import api_response, show, span_of


if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agents import ModelResponse

    from itemtrace.ledger import ModelCall
    from itemtrace.replay.frame import Frame
    from itemtrace.replay.recorded import RecordedRun


NO_RESPONSE: Final = "Model did not produce a final response!"
"""What the SDK says of a stream that just ends (agents/run_internal/run_loop.py). Before 0.24 its loop
also refused a last event that is no completed response, in words that name the event."""


class ReplayModel(Model):
    """Stands in for every model of one run.

    Its only state is the run's frame; what the SDK asks of a model beside an answer is what the base
    class says.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    @property
    def model(self) -> str | None:
        """Name of the model that the next call was recorded with, for whoever describes it."""
        recorded = self.frame.recorded
        if recorded is None or self.frame.calls >= len(recorded.calls):
            return None
        return recorded.calls[self.frame.calls].model

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Returns the recorded response, or what the real model says."""
        asked = Asked(args, kwargs)
        number = self._next()
        if number is None:
            real = real_model(self.frame)
            with allowed():
                return await real.get_response(**real_arguments(self.frame, asked))
        recorded, call = self._find(number, asked)
        await self._turn(recorded, number, call)
        made = self._made(recorded, number, call)
        with span_of(call, asked) as span:
            if call.error is not None and made is None:
                raise self._error(span, call, asked)
            assert made is not None  # noqa: S101 - a call without either has raised
            show(span, call, asked, made)
        return made

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Yields events that end in the recorded response, or those of the real model."""
        asked = Asked(args, kwargs)
        number = self._next()
        if number is None:
            real = real_model(self.frame)
            with allowed():
                async for event in real.stream_response(
                    **real_arguments(self.frame, asked)
                ):
                    yield event
            return
        recorded, call = self._find(number, asked)
        if _broke_off(recorded, call):
            ended = recorded.run.error
            if ended is not None and ended.message != NO_RESPONSE:
                raise failures.rebuilt(ended.class_name or ended.type, ended.message)
            return
        await self._turn(recorded, number, call)
        made = self._made(recorded, number, call)
        with span_of(call, asked) as span:
            if call.error is not None and made is None:
                raise self._error(span, call, asked)
            assert made is not None  # noqa: S101 - a call without either has raised
            response = api_response(call, made)
            show(span, call, asked, made, response)
            for event in streams.events(response, made.raw_usage):
                yield event

    # --- which call it is ------------------------------------------------------------

    def _next(self) -> int | None:
        """Returns the place of the call that is made; None for a real one."""
        frame, tape = self.frame, self.frame.tape
        tape.raise_pending_again()
        name = frame.agent_name
        number = frame.calls
        frame.calls += 1
        if (
            frame.recorded is not None
            and tape.options.until == f"{frame.path}#{number}"
        ):
            tape.live = True
        if frame.recorded is None or tape.live or tape.options.model_is_live(name):
            entry = Entry("model call", f"{frame.path}#{number}", name or "", "live")
            tape.report.entries.append(entry)
            return None
        if not isinstance(tape.options.live_models, bool):
            return self._of_agent(name or "")
        return number

    def _of_agent(self, name: str) -> int:
        """Returns the place of an agent's next call; calls of the real ones are not counted."""
        recorded = self.frame.recorded
        assert recorded is not None  # noqa: S101 - asked for recorded runs only
        earlier = self.frame.by_agent.get(name, 0)
        self.frame.by_agent[name] = earlier + 1
        own = [n for n, call in enumerate(recorded.calls) if call.agent == name]
        return own[earlier] if earlier < len(own) else len(recorded.calls)

    def _find(self, number: int, asked: Asked) -> tuple[RecordedRun, ModelCall]:
        frame, tape = self.frame, self.frame.tape
        recorded = frame.recorded
        assert recorded is not None  # noqa: S101 - a run without one is real
        place = f"{frame.path}#{number}"
        if number >= len(recorded.calls):
            cause = (
                f"the recording has {len(recorded.calls)} model calls and was then "
                f"{recorded.run.status}; the code goes on"
            )
            tape.report.entries.append(
                Entry(
                    "model call",
                    place,
                    frame.agent_name or "",
                    "diverged",
                    "not on the tape",
                )
            )
            got = {"agent": frame.agent_name, "input": asked.items}
            tape.diverged(missing(place, "a model call", got, cause), stop=True)
        call = recorded.calls[number]
        recorded.served_calls.add(number)
        status: Status = "exact"
        note = ""
        if tape.options.verify != "off":
            before = len(tape.report.divergences)
            try:
                self._verify(recorded, call, place, asked)
            finally:
                differing = tape.report.divergences[before:]
                if differing:
                    status, note = "diverged", ", ".join(d.what for d in differing)
                entry = Entry("model call", place, call.agent or "", status, note)
                tape.report.entries.append(entry)
        else:
            tape.report.entries.append(
                Entry("model call", place, call.agent or "", status)
            )
        return recorded, call

    def _verify(
        self, recorded: RecordedRun, call: ModelCall, place: str, asked: Asked
    ) -> None:
        tape, name = self.frame.tape, self.frame.agent_name
        where = f"turn {call.turn or call.n + 1}, agent {call.agent}"
        if name is not None and call.agent is not None and call.agent != name:
            cause = "the agent was renamed, or the code hands off to another one"
            tape.diverged(
                divergence(place, "the agent", call.agent, name, cause, where=where)
            )
        expected = recorded.input_of(call)
        first = (
            None
            if expected == asked.items
            else differences.first_difference(expected, asked.items, self.frame.really)
        )
        if first is not None:
            tape.diverged(input_differs(place, expected, asked.items, first, where))
        if lacks_content(call.system) or call.system == asked.system:
            return
        cause = (
            "the instructions were changed, or hold what changes from run to run: a time, an id, "
            "or context that a served tool does not fill any more"
        )
        found = divergence(
            place, "the instructions", call.system, asked.system, cause, where=where
        )
        if tape.options.until is not None:
            tape.report.drift.append(str(found))
        else:
            tape.diverged(found)

    # --- what it gives -----------------------------------------------------------------

    async def _turn(self, recorded: RecordedRun, number: int, call: ModelCall) -> None:
        place = f"{recorded.path}#{number}"
        if call.response is None and call.error is None:
            await self.frame.cancelled(
                gap(
                    place,
                    "this model call",
                    "the recording was cancelled before it ended",
                )
            )
        key = recorded.model_key(number)
        if not await self.frame.turnstile.wait(key):
            self.frame.late(place)
        self.frame.turnstile.done(key)

    def _made(
        self, recorded: RecordedRun, number: int, call: ModelCall
    ) -> ModelResponse | None:
        if call.response is None:
            return None
        place = f"{recorded.path}#{number}"
        redacted = any(item.redacted for item in call.response.items)
        if redacted and self.frame.tape.options.verify == "raise":
            reason = "a redaction changed it; verify='log' serves it as it is"
            raise self.frame.tape.stop(gap(place, "this response", reason))
        try:
            return sdk.model_response(recorded.run, call.response)
        except GapError as error:
            raise self.frame.tape.stop(
                gap(place, "this response", str(error))
            ) from error

    def _error(self, span: Any, call: ModelCall, asked: Asked) -> Exception:
        recorded = self.frame.recorded
        assert recorded is not None  # noqa: S101 - asked for recorded runs only
        assert call.error is not None  # noqa: S101 - asked for failed calls only
        ended = recorded.run.error
        text = str(call.error.data.get("error", call.error.message))
        kind = None
        if ended is not None and call is recorded.calls[-1]:
            kind, text = ended.class_name or ended.type, str(ended.message)
        if not asked.tracing.is_disabled():
            span.set_error(
                SpanError(
                    message=str(call.error.message), data=dict(call.error.data) or None
                )
            )
        return failures.rebuilt(kind, text)


def _broke_off(recorded: RecordedRun, call: ModelCall) -> bool:
    """Whether the stream of a call ended without a response, which the SDK takes for an error."""
    ended = recorded.run.error
    unfinished = call.response is None and call.error is None
    return (
        unfinished and ended is not None and ended.type.endswith(".ModelBehaviorError")
    )
