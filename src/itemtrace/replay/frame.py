"""One run while it is being replayed: which recorded run it is, and how far it has come."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from itemtrace.replay.turnstile import PATIENCE, Turnstile


if TYPE_CHECKING:
    from itemtrace.errors import ReplayError
    from itemtrace.ledger import GuardrailResult
    from itemtrace.replay.recorded import RecordedRun
    from itemtrace.replay.tape import Tape


FRAME: ContextVar[Frame | None] = ContextVar("itemtrace_replay", default=None)
"""The run that is replayed in this context."""

CALL: ContextVar[tuple[Frame, str] | None] = ContextVar("itemtrace_call", default=None)
"""The tool that really runs in this context, by its run and call id; runs that it starts are its own."""


class Frame:
    """A run that is being replayed.

    Attributes:
        tape: The tape.
        recorded: The recorded run; None where the run is not on the tape and is real.
        parent: The run that started it.
        config: The caller's `RunConfig`, with the models that a live call goes to.
        agent: The agent whose model is about to be called.
        calls: How many model calls were made.
        made: Tool calls of live models -> the recorded calls that they were found to be.
        really: Recorded calls of tools that were really called; their outputs may be others.
    """

    def __init__(
        self,
        tape: Tape,
        recorded: RecordedRun | None,
        parent: Frame | None,
        config: Any,
    ) -> None:
        self.tape = tape
        self.recorded = recorded
        self.parent = parent
        self.config = config
        self.agent: Any = None
        self.calls = 0
        self.made: dict[str, str | None] = {}
        self.really: set[str] = set()
        self.by_agent: dict[str, int] = {}
        self._guarded: set[tuple[str, int]] = set()
        if recorded is not None:
            recorded.started = True
        if parent is not None and parent.recorded is not None:
            self.turnstile: Turnstile = parent.turnstile
        else:
            ordered = recorded is not None and tape.options.ordered
            self.turnstile = Turnstile(
                recorded.events() if recorded and ordered else ()
            )
        if recorded is not None and tape.options.guardrails == "recorded":
            for child in recorded.children:
                if (
                    child.run.parent_call_id is None
                ):  # a guardrail's, which does not run
                    self.skip(child)

    @property
    def path(self) -> str:
        """Its place."""
        return self.recorded.path if self.recorded is not None else "live"

    @property
    def real(self) -> bool:
        """Whether the next model call is real, and so are the servers that it may ask for."""
        fork = self.tape.options.until == f"{self.path}#{self.calls}"
        return self.recorded is None or self.tape.live or fork

    @property
    def agent_name(self) -> str | None:
        """Name of the agent whose model is about to be called."""
        return getattr(self.agent, "name", None)

    def ended(self) -> None:
        """Nothing more of this run will come, so nobody needs to wait for it."""
        if self.recorded is not None:
            self.turnstile.done(*(key for key, _ in self.recorded.own_events()))

    def skip(self, recorded: RecordedRun) -> None:
        """A nested run is not replayed."""
        self.turnstile.done(*(key for key, _ in recorded.events()))

    def guardrail(self, kind: str, name: str) -> GuardrailResult | None:
        """Returns the next recorded result of a guardrail; None where there is none."""
        if self.recorded is None:
            return None
        results: tuple[GuardrailResult, ...] = getattr(
            self.recorded.run, f"{kind}_guardrail_results"
        )
        for number, result in enumerate(results):
            if result.name == name and (kind, number) not in self._guarded:
                self._guarded.add((kind, number))
                return result
        return None

    def late(self, place: str) -> None:
        """A call no longer waits for those that ended before it when this was recorded."""
        self.tape.report.drift.append(
            f"{place}: what ended before it did not come within {PATIENCE:g} s; the order may differ"
        )

    async def cancelled(self, error: ReplayError) -> None:
        """Waits for the cancellation that came when this was recorded, and raises where none comes."""
        await asyncio.sleep(PATIENCE)
        raise self.tape.stop(error)
