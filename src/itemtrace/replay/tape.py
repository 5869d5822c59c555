"""A tape: a ledger that is being replayed, and what became of it.

    with itemtrace.replay(ledger) as tape:
        result = await Runner.run(agent, run.input)
    print(tape.report)

While a tape is active in a context, every run of the Agents SDK in it is served from the tape. The
SDK is loaded when the tape starts.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from itemtrace.errors import ConfigError, ReplayDivergence, ReplayError, TapeUnused
from itemtrace.ledger import Ledger, Run
from itemtrace.replay.recorded import RecordedRun
from itemtrace.replay.report import Entry, Report


if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from types import TracebackType


Verify = Literal["raise", "log", "off"]

VERIFY: Final = ("raise", "log", "off")

TAPE: ContextVar[Tape | None] = ContextVar("itemtrace_tape", default=None)
"""The tape that is played in this context."""

EVERYWHERE: Final[list[Tape]] = []
"""Tapes that are played in the whole process, the latest last."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a tape is played; see `replay`."""

    verify: Verify = "raise"
    live_tools: Collection[str] | bool = False
    live_models: Collection[str] | bool = False
    guardrails: Literal["live", "recorded"] = "live"
    missing: Literal["raise", "error", "live"] = "raise"
    until: str | None = None
    network: bool = False

    def tool_is_live(self, name: str | None) -> bool:
        """Whether a tool is really called."""
        if isinstance(self.live_tools, bool):
            return self.live_tools
        return name in self.live_tools

    def model_is_live(self, agent: str | None) -> bool:
        """Whether the model of an agent is really called."""
        if isinstance(self.live_models, bool):
            return self.live_models
        return agent in self.live_models

    @property
    def ordered(self) -> bool:
        """Whether calls end in recorded order; real ones end when they end."""
        return not self.live_models and not self.live_tools


class Tape:
    """A ledger that is being replayed.

    Attributes:
        roots: The root runs.
        options: How it is played.
        report: What was served, what differed, what is left.
        live: Whether the fork point was passed: from there on everything is real.
    """

    def __init__(
        self, runs: Collection[Run], options: Options, *, everywhere: bool
    ) -> None:
        self.roots = [RecordedRun(run, f"R{n}") for n, run in enumerate(runs)]
        self.options = options
        self.report = Report(rest=self._unused)
        self.live = False
        self._everywhere = everywhere
        self._token: Token[Tape | None] | None = None
        self._pending: ReplayError | None = None
        self._stubs: dict[int, tuple[Any, Any]] = {}
        self._named: dict[str, Any] = {}
        self._seam: Any = None

    def __repr__(self) -> str:
        return f"<Tape of {len(self.roots)} runs: {self.report}>"

    # --- playing -------------------------------------------------------------------

    def start(self) -> Self:
        """Puts the tape in; done by `with`."""
        from itemtrace.replay.seam import SEAM  # noqa: PLC0415 - loads the SDK

        if self._seam is not None:
            msg = (
                "this tape is playing already; make another one with itemtrace.replay()"
            )
            raise ConfigError(msg)
        self._seam = SEAM
        SEAM.put()
        if self._everywhere:
            EVERYWHERE.append(self)
        else:
            self._token = TAPE.set(self)
        return self

    def eject(self) -> None:
        """Takes the tape out; done by `with`."""
        if self._seam is None:
            return
        if self._everywhere:
            EVERYWHERE.remove(self)
        elif self._token is not None:
            TAPE.reset(self._token)
            self._token = None
        self._seam.remove()
        self._seam = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.eject()
        if error is None:
            self.raise_pending()

    # --- divergences -----------------------------------------------------------------

    def diverged(self, divergence: ReplayDivergence, *, stop: bool = False) -> None:
        """Notes a divergence and raises it, if it is to be raised.

        Args:
            divergence: What differs.
            stop: Raise it whatever `verify` says: there is nothing to serve instead.
        """
        self.report.divergences.append(divergence)
        if stop or self.options.verify == "raise":
            raise self.stop(divergence)

    def raise_pending(self) -> None:
        """Raises the divergence that the SDK or the application has swallowed, if there is one."""
        pending, self._pending = self._pending, None
        if pending is not None:
            raise pending

    @property
    def pending(self) -> ReplayError | None:
        """What stopped the replay and has not reached the caller yet."""
        return self._pending

    def stop(self, error: ReplayError) -> ReplayError:
        """Notes what stops the replay, so that nothing can swallow it; the caller raises it."""
        self._pending = self._pending or error
        return error

    def raise_pending_again(self) -> None:
        """Raises what stopped the replay, until it has reached the caller of the root run."""
        if self._pending is not None:
            raise self._pending

    def reached(self) -> None:
        """The divergence has reached the caller."""
        self._pending = None

    # --- runs ------------------------------------------------------------------------

    def root(
        self, agent: str | None, given: Any, calls: Collection[str] | None
    ) -> RecordedRun | None:
        """Returns the recorded run for a root run that starts.

        Runs that start at the same time come in any order, so the agent and the input choose.

        Args:
            agent: The starting agent.
            given: The input.
            calls: For a resumed run the calls that it waited for.
        """
        waiting = [
            root for root in self.roots
            if not root.started and ("resumed" in root.run.begin) == (calls is not None)
        ]  # fmt: skip
        if calls is not None:
            fitting = [
                root for root in waiting
                if {approval.call_id for approval in root.run.approvals if not approval.item}
                & set(calls)
            ]  # fmt: skip
            return next(iter(fitting or waiting), None)
        same_agent = [root for root in waiting if root.run.agent == agent]
        same_input = [
            root
            for root in same_agent
            if given in (root.run.given_input, root.run.input)
        ]
        return next(iter(same_input or same_agent or waiting), None)

    def decide(self, result: Any) -> Any:
        """Returns the state of an interrupted result, decided as it was when it was recorded.

        Args:
            result: What `Runner.run` returned.

        Returns:
            The SDK's `RunState`, to go on with `Runner.run(agent, state)`.
        """
        from itemtrace.replay.approvals import decide  # noqa: PLC0415 - loads the SDK

        return decide(self, result)

    async def again(
        self, agent: Any, *, model: Any = None, tracing: bool = True
    ) -> list[Any]:
        """Plays all root runs, in their order and the way they were run; starts the tape itself.

        Args:
            agent: The starting agent; runs that began with another one find it among its handoffs.
            model: The model for real calls, after a fork.
            tracing: False keeps the SDK from tracing the replay, and so from exporting it.

        Returns:
            The SDK's result of each run, or the exception that ended it as it was recorded.
        """
        from itemtrace.replay.again import again  # noqa: PLC0415 - loads the SDK

        return await again(self, agent, model=model, tracing=tracing)

    def assert_complete(self) -> None:
        """Raises `TapeUnused` if something of the tape was not asked for.

        Raises:
            TapeUnused: With a line for each of it.
        """
        unused = self.report.unused
        if unused:
            lines = "\n".join(f"  {entry}" for entry in unused)
            msg = (
                f"{len(unused)} recorded calls were not asked for:\n{lines}\n"
                "the code takes another way than it did; see `tape.report`"
            )
            raise TapeUnused(msg)

    def _unused(self) -> Iterator[Entry]:
        if self.live:  # what came after the fork is not asked for
            return
        for root in self.roots:
            for entry in root.unused():
                if entry.kind != "model call" or not self.options.model_is_live(
                    entry.name
                ):
                    yield entry

    # --- stubs -----------------------------------------------------------------------

    def stub(self, tool: Any, make: Any) -> Any:
        """Returns the stub of a tool, the same one each time."""
        known = self._stubs.get(id(tool))
        if known is None or known[0] is not tool:
            known = self._stubs[id(tool)] = (tool, make(tool))
        return known[1]

    def named(self, name: str, make: Callable[[], Any]) -> Any:
        """Returns a thing by its name, made the first time."""
        if name not in self._named:
            self._named[name] = make()
        return self._named[name]


def current() -> Tape | None:
    """Returns the tape that is played here."""
    return TAPE.get() or (EVERYWHERE[-1] if EVERYWHERE else None)


def replay(  # noqa: PLR0913 - one keyword for each thing a user may choose
    source: Ledger | Run | Collection[Run],
    *,
    verify: Verify = "raise",
    live_tools: Collection[str] | bool = False,
    live_models: Collection[str] | bool = False,
    guardrails: Literal["live", "recorded"] = "live",
    missing: Literal["raise", "error", "live"] = "raise",
    until: str | int | None = None,
    network: bool | None = None,
    everywhere: bool = False,
) -> Tape:
    """Plays a ledger: `with itemtrace.replay(ledger): await Runner.run(agent, run.input)`.

    Every model call and every tool is served from the recording; nothing is sent anywhere. What was
    not recorded raises before it has an effect. Guardrails, hooks, handoff callbacks and filters are
    the application's code and run.

    Args:
        source: A ledger, a run with those that resumed it, or runs.
        verify: What to do where the code does something else than was recorded: `raise`, `log` (go on
            and note it in the report), or `off` (do not compare).
        live_tools: Names of tools that are really called; True for all.
        live_models: Names of agents whose model is really called; True for all. Tools are then found
            by name and arguments.
        guardrails: `recorded` serves the results of guardrails as well.
        missing: What a tool call that was not recorded does when models are live: `raise`, `error`
            (the model is told), or `live` (it is called).
        until: A model call, such as `R0#2` or `R0/call_7#0`, or its number in the first run: from
            there on everything is real.
        network: Whether code in the runs may open connections; by default only where models are real.
        everywhere: Play it for all threads and tasks of the process, and not only for this context.

    Raises:
        ConfigError: A value is not known, or there is nothing to play.
    """
    if verify not in VERIFY:
        msg = f"verify={verify!r} is not known; expected one of {', '.join(VERIFY)}"
        raise ConfigError(msg)
    runs = runs_of(source)
    if not runs:
        msg = "there is no run to replay; `itemtrace verify` says what the source holds"
        raise ConfigError(msg)
    wanted = (live_models or until is not None) if network is None else network
    options = Options(
        verify=verify,
        live_tools=live_tools,
        live_models=live_models,
        guardrails=guardrails,
        missing=missing,
        until=f"R0#{until}" if isinstance(until, int) else until,
        network=bool(wanted),
    )
    return Tape(runs, options, everywhere=everywhere)


def runs_of(source: Ledger | Run | Collection[Run]) -> list[Run]:
    """Returns the root runs of what is to be played, in order of their start."""
    if isinstance(source, Ledger):
        return list(source.runs)
    if not isinstance(source, Run):
        return list(source)
    found = [source]
    for run in found:
        found += [again for again in run.resumed_by if again not in found]
    return found
