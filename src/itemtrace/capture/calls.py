"""The model calls of one run: hooks and spans of the same call brought together.

`on_llm_start` comes before the SDK's `response` or `generation` span, `on_llm_end` after its end.
The span's end is held back until the response is known; models that open no span get one here.
"""

from __future__ import annotations

import functools
from asyncio import CancelledError
from importlib import metadata
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from itemtrace.capture.items import usage
from itemtrace.capture.sessions import first_origins
from itemtrace.capture.spans import Bare, CallInfo


if TYPE_CHECKING:
    from collections.abc import Mapping

    from itemtrace.capture.frame import Call, Frame
    from itemtrace.capture.recording import Recording
    from itemtrace.capture.tree import OpenSpan
    from itemtrace.codec.record import Record

_COUNTS = (
    "requests",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "input_tokens_details",
    "output_tokens_details",
)


@functools.cache
def versions() -> dict[str, str]:
    """Returns the versions that a run is recorded with."""
    return {
        "version": metadata.version("itemtrace"),
        "sdk": metadata.version("openai-agents"),
    }


class ModelCalls:
    """The open model call of a run, if there is one."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._call: Call | None = None
        self._held: OpenSpan | None = None
        self._info = CallInfo()
        self._parent: OpenSpan | None = None
        self._started_ns = 0
        self._system_shown: str | None = None
        self._known: dict[int, tuple[Any, CallInfo]] = {}

    @property
    def open(self) -> bool:
        """Whether a model call has started and not ended."""
        return self._call is not None

    # --- with hooks ---------------------------------------------------------------

    def started(
        self,
        agent: Any,
        system: str | None,
        items: Any,
        parent: OpenSpan | None,
        now_ns: int,
    ) -> None:
        """The model is about to be called."""
        frame = self._recording.frame
        if frame is None or self._recording.ended:
            return
        self.flush()
        self._parent = parent
        self._started_ns = now_ns

        def emit(name: str, records: list[Record]) -> None:
            self._recording.emit(name, records, parent=parent)

        call = frame.call_started(agent, system, items, emit)
        origin = (
            first_origins(self._recording.given, call.full_input)
            if call.n == 0
            else None
        )
        if origin:
            call.body["input"]["origin"] = origin
        if parent is not None and parent.data.type == "turn":
            call.body["turn"] = parent.data.turn
        known = self._describe(agent)
        self._info = CallInfo(
            model=known.model,
            base_url=known.base_url,
            settings=known.settings,
            stream=self._recording.given.streamed,
            system=system if system != self._system_shown else None,
            new_input=call.new_input,
            full_input=call.full_input,
        )
        self._system_shown = system
        self._call = call

    def span_started(self) -> CallInfo | None:
        """A model span opens; a second one within a call is a retry of the first."""
        if self._call is None:
            return None
        if self._held is not None:
            self._retried(self._call)
        return self._info

    def _retried(self, call: Call) -> None:
        held = self._held
        if held is None:
            return
        try:
            call.attempts.append(self._error_of(held) or {"type": "_OTHER"})
        finally:
            self._recording.tree.finish(held, (), held.end_ns)
        self._held = None

    def hold(self, span: OpenSpan) -> bool:
        """Keeps the end of a model span back until the response is known."""
        if self._call is None:
            return False
        self.drop()
        self._held = span
        return True

    def drop(self) -> None:
        """Ends a span that is still held, as it is: nobody will come for it any more."""
        held, self._held = self._held, None
        if held is not None and held.otel.is_recording():
            held.otel.end(held.end_ns)

    def ended(self, response: Any) -> None:
        """The model has answered."""
        frame, call = self._recording.frame, self._call
        if frame is None or call is None:
            return
        self._call = None
        self._held = span = self._held or self._bare(call)
        try:
            call.counted = usage(response.usage)
            self._tell(span.info.call or self._info, response, call.counted)
            if span.end_ns is None:
                span.end_ns = self._now(frame)
        finally:
            self._write(frame, call, span, response)
        self._held = None
        self._add_usage(span, (span.info.call or self._info).usage)

    def _tell(self, info: CallInfo, response: Any, counted: list[Any] | None) -> None:
        info.output = response.output
        info.response_id = response.response_id
        info.usage = dict(zip(_COUNTS, counted, strict=True)) if counted else None

    def flush(self) -> None:
        """Ends a call that never got its response: an error, a cancelled run."""
        frame, call = self._recording.frame, self._call
        self._call = None
        if call is None or frame is None:
            return
        self._held = span = self._held or self._bare(call)
        try:
            call.error = self._error_of(span)
            if call.error is None and span.info.call is not None:
                span.info.call.error = CancelledError("the model call did not end")
            if span.end_ns is None:
                span.end_ns = self._now(frame)
        finally:
            self._write(frame, call, span, None)
        self._held = None

    def _write(self, frame: Frame, call: Call, span: OpenSpan, response: Any) -> None:
        records: list[Record] = []
        try:
            more: dict[str, Any] = {
                "model": self._info.model or getattr(span.data, "model", None),
                "api": _api(span),
                "error": call.error,
            }
            echoed = getattr(span.data, "response", None)
            more["previous"] = getattr(echoed, "previous_response_id", None)
            items, records = frame.call_ended(call, response, more)
            for output in items:
                name = _item_name(frame, output[0].seq)
                self._recording.emit(name, output, parent=span, at_ns=span.end_ns)
        finally:
            self._recording.tree.finish(span, records, span.end_ns)

    def _bare(self, call: Call) -> OpenSpan:
        """Opens a span for a model that opened none."""
        recording = self._recording
        assert recording.trace is not None  # noqa: S101 - there is a frame, so there is a trace
        parent = self._parent
        span = recording.tree.start(
            f"itemtrace-{id(call)}",
            Bare("generation", ""),
            parent.id if parent else None,
            recording.trace,
            recording,
            self._info,
            self._started_ns,
        )
        self._held = span
        recording.tree.leave(span)
        return span

    def _error_of(self, span: OpenSpan) -> dict[str, Any] | None:
        error = span.error
        if not error:
            return None
        frame = self._recording.frame
        message = error.get("message")
        data = error.get("data") if self._recording.content else None
        if frame is not None:
            message, data = frame.privacy.value(message), frame.privacy.value(data)
        found = {"type": "_OTHER", "message": message, "data": data}
        return {key: value for key, value in found.items() if value}

    def _now(self, frame: Frame) -> int:
        return frame.started + frame.since() * 1000

    def _add_usage(self, span: OpenSpan, counted: Mapping[str, Any] | None) -> None:
        above = span.parent
        while above is not None and above.data.type != "agent":
            above = above.parent
        if above is None or not counted:
            return
        for key, value in counted.items():
            if isinstance(value, int):
                above.usage[key] = above.usage.get(key, 0) + value

    def _describe(self, agent: Any) -> CallInfo:
        """Returns what is known of an agent's model; looked up once per run."""
        known = self._known.get(id(agent))
        if known is None:
            given = self._recording.given
            model = given.model or getattr(agent, "model", None)
            client = getattr(
                model, "_client", None
            )  # the SDK's own models keep it there
            url = getattr(client, "base_url", None)
            settings = getattr(agent, "model_settings", None)
            if settings is not None and given.settings is not None:
                settings = settings.resolve(given.settings)
            info = CallInfo(
                model=model
                if isinstance(model, str)
                else _text(getattr(model, "model", None)),
                base_url=str(url) if url is not None else None,
                settings=settings,
            )
            known = self._known[id(agent)] = (agent, info)
        return known[1]

    # --- without hooks --------------------------------------------------------------

    def from_span(self, span: OpenSpan) -> None:
        """Records a model call from its span alone."""
        frame = self._recording.frame
        if frame is None or self._recording.ended:
            self._recording.tree.finish(span, (), span.end_ns)
            return
        data = span.data
        response = getattr(data, "response", None)
        told = getattr(response, "instructions", None)
        system = told if isinstance(told, str) else None
        given = data.input
        if isinstance(given, str):
            given = [{"content": given, "role": "user"}]

        def emit(name: str, records: list[Record]) -> None:
            self._recording.emit(name, records, parent=span.parent)

        call = frame.call_started(
            span.info.agent_name,
            system if isinstance(system, str) else None,
            list(given or ()),
            emit,
        )
        call.error = self._error_of(span)
        shown = span.info.call
        if shown is not None:
            shown.new_input, shown.full_input = call.new_input, call.full_input
        self._info = shown or CallInfo()
        self._write(frame, call, span, _reply(data))


def _reply(data: Any) -> Any:
    """Returns what a model span holds of a response; None where it holds none."""
    response = getattr(data, "response", None)
    output = response.output if response is not None else getattr(data, "output", None)
    if output is None:
        return None
    return SimpleNamespace(
        output=list(output),
        response_id=getattr(response, "id", None),
        usage=_span_usage(data.usage),
    )


def _span_usage(counted: Mapping[str, Any] | None) -> Any:
    if not counted:
        return None
    names = ("requests", "input_tokens", "output_tokens", "total_tokens")
    return SimpleNamespace(
        **{name: counted.get(name) for name in names},
        input_tokens_details=counted.get("input_tokens_details"),
        output_tokens_details=counted.get("output_tokens_details"),
    )


def _api(span: OpenSpan) -> str | None:
    if isinstance(span.data, Bare):
        return None
    return "responses" if span.data.type == "response" else "chat_completions"


def _item_name(frame: Frame, seq: int) -> str:
    recorded = next(
        (entry for entry in reversed(frame.recorded) if entry.seq == seq), None
    )
    return (recorded.type if recorded else None) or "item"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
