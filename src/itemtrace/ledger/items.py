"""Items: plain, frozen views of what a run held, which need no SDK."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec.canonical import TAG, Placeholder
from itemtrace.codec.items import as_input_item
from itemtrace.errors import GapError
from itemtrace.ledger.parts import mapping, sequence


if TYPE_CHECKING:
    from collections.abc import Mapping


CALL_OF_OUTPUT: Final[Mapping[str, str]] = {
    "function_call_output": "function_call",
    "custom_tool_call_output": "custom_tool_call",
    "computer_call_output": "computer_call",
    "shell_call_output": "shell_call",
    "apply_patch_call_output": "apply_patch_call",
    "local_shell_call_output": "local_shell_call",
}
"""Raw type of an output -> raw type of the call that it answers, by `call_id`."""

OUTPUT_OF_CALL: Final[Mapping[str, str]] = {
    call: output for output, call in CALL_OF_OUTPUT.items()
}

TOOL_TYPES: Final = frozenset(
    {"tool_call_item", "tool_call_output_item", "tool_approval_item"}
)


@dataclass(frozen=True, slots=True)
class Item:
    """One run item, or an item that a model was sent or gave and no run item was made of.

    Attributes:
        type: The SDK's name, such as `message_output_item`; empty where it is not known.
        raw: The raw item as a mapping, unset fields left out; a `Placeholder` where it is lost.
        agent: Name of the agent.
        seq: Number of the record in its run.
        run_id: The run.
        call: Ordinal of the model call whose response has it.
        at_ns: When it was recorded, nanoseconds since the epoch; 0 when unknown.
        extra: Further fields of the SDK's item: `tool_origin`, `description`, …
        class_name: Class of the raw item where it is not the usual one.
        execution: On outputs: `name`, `start`, `end` (µs after the run's start), `error`.
        redacted: Whether a redaction changed it.
    """

    type: str
    raw: Any
    agent: str | None
    seq: int
    run_id: str
    call: int | None = None
    at_ns: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    class_name: str | None = None
    execution: Mapping[str, Any] = field(default_factory=dict[str, Any])
    redacted: bool = False

    @property
    def lost(self) -> bool:
        """Whether nothing but the item's place is known."""
        return isinstance(self.raw, Placeholder)

    @property
    def raw_type(self) -> str:
        """The raw item's type, such as `function_call`; `message` where only a role is given."""
        return type_of(self.raw)

    @property
    def call_id(self) -> str | None:
        """Id of the call that the item makes or answers."""
        found = self._get("call_id") or self._get("approval_request_id")
        if found is None and self.type in TOOL_TYPES:
            found = self._get("id")
        return found if isinstance(found, str) else None

    @property
    def tool_name(self) -> str | None:
        """Name of the tool that the item calls or answers."""
        for source in (self.extra, self.raw, self.execution):
            for key in ("_resolved_tool_name", "tool_name", "name"):
                found = mapping(source).get(key)
                if isinstance(found, str):
                    return found
        return HOSTED_NAMES.get(self.raw_type)

    @property
    def text(self) -> str:
        """The text that a person would read: of a message, a reasoning summary, or an output."""
        return text_of(self.raw)

    @property
    def arguments(self) -> Any:
        """What a call was given: a string where the model wrote one."""
        for key in ("arguments", "input", "action", "operation", "code"):
            if (found := self._get(key)) is not None:
                return found
        return None

    @property
    def output(self) -> Any:
        """What the tool returned, as the SDK's item holds it."""
        return self.extra["output"] if "output" in self.extra else self._get("output")

    def to_input_item(self) -> Any:
        """Returns the item as the SDK sends it to a model; a `Placeholder` where it is lost.

        Raises:
            GapError: The item is a pending approval, which no model is ever sent.
        """
        if self.type == "tool_approval_item":
            msg = (
                f"item {self.seq} is a pending approval and no input item; leave it out"
            )
            raise GapError(msg)
        raw = mapping(self.raw)
        if not raw or self.lost:
            return self.raw
        local = self.type == "tool_call_output_item" and self.class_name is None
        return as_input_item(raw, local_output=local)

    def _get(self, key: str) -> Any:
        return mapping(self.raw).get(key)


HOSTED_NAMES: Final[Mapping[str, str]] = {
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter",
    "image_generation_call": "image_generation",
    "computer_call": "computer",
    "shell_call": "shell",
    "local_shell_call": "local_shell",
    "apply_patch_call": "apply_patch",
    "tool_search_call": "tool_search",
}
"""Names of tools whose calls carry none."""


def type_of(raw: Any) -> str:
    """Returns the type of a raw or input item; `message` where only a role is given."""
    known = mapping(raw)
    found = known.get("type")
    if isinstance(found, str):
        return found
    return "message" if "role" in known and TAG not in known else ""


def text_of(raw: Any) -> str:
    """Returns the readable text of a raw item."""
    if isinstance(raw, str):
        return raw
    known = mapping(raw)
    for key in ("content", "output", "summary"):
        found = known.get(key)
        if isinstance(found, str):
            return found
        if joined := _joined(sequence(found)):
            return joined
    return ""


def _joined(parts: list[Any]) -> str:
    texts = [mapping(part).get("text") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def lost(seq: int, run_id: str, **placeholder: Any) -> Item:
    """Returns the item that stands where a record is missing."""
    return Item(
        type="",
        raw=Placeholder({TAG: "missing", "s": seq, **placeholder}),
        agent=None,
        seq=seq,
        run_id=run_id,
    )
