"""A tool call that is asked for, and the recorded one that it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.ledger.checks import lacks_content
from itemtrace.replay import differences
from itemtrace.replay.divergence import divergence, missing
from itemtrace.replay.frame import FRAME
from itemtrace.replay.recorded import canonical_arguments
from itemtrace.replay.report import Entry, Status


if TYPE_CHECKING:
    from itemtrace.ledger import Item, Run, ToolCall
    from itemtrace.replay.frame import Frame
    from itemtrace.replay.recorded import RecordedRun


Live = Callable[[], Any]
"""Really calls a tool."""

REAL: Final = object()
"""In place of a recorded call: the tool is really called."""


class Asked:
    """A call of a tool as a stub sees it.

    Attributes:
        name: The tool.
        call_id: The call's id; None where the SDK does not tell a tool of that kind.
        arguments: What the model wrote; None where the stub does not see it.
        raw_type: Type of the call's item.
        agent: Whether it is an agent used as a tool, which runs again.
    """

    def __init__(
        self,
        name: str,
        call_id: str | None,
        arguments: Any,
        raw_type: str,
        *,
        agent: bool = False,
    ) -> None:
        self.name = name
        self.call_id = call_id
        self.arguments = arguments
        self.raw_type = raw_type
        self.agent = agent


class Found:
    """A recorded call that was asked for."""

    def __init__(self, frame: Frame, recorded: RecordedRun, number: int) -> None:
        self.frame = frame
        self.recorded = recorded
        self.number = number

    @property
    def call(self) -> ToolCall:
        """The recorded call."""
        return self.recorded.tools[self.number]

    @property
    def output(self) -> Item | None:
        """Its output."""
        return self.recorded.output_of(self.number)

    @property
    def run(self) -> Run:
        """Its run."""
        return self.recorded.run

    @property
    def place(self) -> str:
        """Where it is."""
        return self.recorded.tool_place(self.number)

    async def turn(self) -> None:
        """Waits until it is its turn to end."""
        key = self.recorded.tool_key(self.number)
        if not await self.frame.turnstile.wait(key):
            self.frame.late(self.place)
        self.frame.turnstile.done(key)


async def called(asked: Asked) -> Found | Any:
    """Returns the recorded call, or `REAL` where the tool is to be called.

    Raises:
        NotOnTape: There is no such call.
        ReplayDivergence: It was called with other arguments.
    """
    frame = FRAME.get()
    if frame is None:
        return REAL
    frame.tape.raise_pending_again()
    options = frame.tape.options
    recorded = frame.recorded
    number = _number(frame, asked) if recorded is not None else None
    if frame.tape.live and recorded and number is not None:
        number = number if recorded.asked_by_tape(number) else None
    if recorded is None or number is None:
        if recorded is None or frame.tape.live or options.tool_is_live(asked.name):
            _note(frame, asked, "live")
            return REAL
        return _missing(frame, asked)
    recorded.served_tools.add(number)
    found = Found(frame, recorded, number)
    if asked.call_id is not None:
        frame.made[asked.call_id] = found.call.call_id
    if options.tool_is_live(asked.name):
        frame.really.add(str(found.call.call_id))
        _note(frame, asked, "live", found)
        return REAL
    if found.call.status in UNDECIDED and not asked.agent:
        _note(frame, asked, "diverged", found, f"it was {found.call.status}")
        cause = "it needed an approval when this was recorded, and does not now"
        what = f"a call of {asked.name} that was {found.call.status}"
        frame.tape.diverged(
            missing(found.place, what, asked.arguments, cause), stop=True
        )
    _verify(found, asked)
    return found


UNDECIDED: Final = frozenset({"pending", "rejected"})
"""States of a call that did not run when it was recorded."""


def _number(frame: Frame, asked: Asked) -> int | None:
    recorded = frame.recorded
    assert recorded is not None  # noqa: S101 - the caller has looked
    if asked.call_id is None:
        return recorded.tool_by_type(asked.raw_type)
    number = recorded.tool_by_id(asked.call_id)
    if frame.tape.options.live_models and not _as_asked(recorded, number, asked):
        return recorded.tool_by_content(asked.name, asked.arguments)
    return number


def _as_asked(recorded: RecordedRun, number: int | None, asked: Asked) -> bool:
    """Whether a recorded call is the one; a real model may use an id of the recording for another call."""
    if number is None or number in recorded.served_tools:
        return False
    call = recorded.tools[number]
    return call.name == asked.name and _text(call.arguments) == _text(asked.arguments)


def _missing(frame: Frame, asked: Asked) -> Any:
    place = f"{frame.path} {asked.call_id or asked.name}"
    _note(frame, asked, "diverged", note="not on the tape")
    what = f"a call of {asked.name}({canonical.dumps(asked.arguments)})"
    cause = "the model is real and asks for what was not recorded"
    if not frame.tape.options.live_models:
        cause = "the code calls a tool that did not run when this was recorded"
    error = missing(place, what, asked.arguments, cause)
    options = frame.tape.options
    if options.live_models and options.missing == "live":
        return REAL
    if options.live_models and options.missing == "error":
        frame.tape.report.divergences.append(error)
        return error
    frame.tape.diverged(error, stop=True)
    return None


def _verify(found: Found, asked: Asked) -> None:
    call, tape = found.call, found.frame.tape
    if tape.options.verify == "off":
        _note(found.frame, asked, "exact", found)
        return
    expected = {"tool": call.name, "arguments": _text(call.arguments)}
    got = {"tool": asked.name, "arguments": _text(asked.arguments)}
    if asked.arguments is None or lacks_content(call.arguments):
        expected["arguments"] = got["arguments"] = None
    if (
        _plain_name(expected["tool"]) == _plain_name(asked.name)
        and expected["arguments"] == got["arguments"]
    ):
        _note(found.frame, asked, "exact", found)
        return
    _note(found.frame, asked, "diverged", found, "other arguments")
    cause = "the call was edited on its way, or an id was used twice"
    tape.diverged(divergence(found.place, "the tool call", expected, got, cause))


def _text(arguments: Any) -> str | None:
    return (
        None
        if arguments is None
        else canonical_arguments(differences.dumped(arguments))
    )


def _plain_name(name: Any) -> Any:
    """Returns a tool's name without what stands for its kind in different SDK versions."""
    return KINDS.get(name, name) if isinstance(name, str) else name


KINDS: Final = {"computer_use_preview": "computer"}


def _note(
    frame: Frame,
    asked: Asked,
    status: Status,
    found: Found | None = None,
    note: str = "",
) -> None:
    place = found.place if found else f"{frame.path} {asked.call_id or asked.name}"
    frame.tape.report.entries.append(
        Entry("tool call", place, asked.name, status, note)
    )
