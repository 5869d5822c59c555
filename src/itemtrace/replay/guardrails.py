"""Guardrails of a replay, served from the tape where that was asked for.

A guardrail on a tool's output is always served: it saw a value that the tape does not have, since
what it let through or put in its place is what was recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agents import GuardrailFunctionOutput, InputGuardrailResult, OutputGuardrailResult
from agents.tool_guardrails import ToolGuardrailFunctionOutput

from itemtrace.replay.frame import FRAME


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.ledger import GuardrailResult


def serve(kind: str, guardrail: Any, args: Any, kwargs: Any) -> Any:
    """Returns the recorded result of a guardrail; None where it is to run.

    Args:
        kind: `input`, `output`, `tool_input` or `tool_output`.
        guardrail: The SDK's guardrail.
        args: What it is called with.
        kwargs: As `args`.
    """
    frame = FRAME.get()
    if frame is None or frame.recorded is None or frame.tape.live:
        return None
    if frame.tape.options.guardrails != "recorded" and kind != "tool_output":
        return None
    found = frame.guardrail(kind, guardrail.get_name())
    return None if found is None else MAKERS[kind](found, guardrail, args, kwargs)


def _flow(found: GuardrailResult) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput(found.output_info, bool(found.tripwire))


def _input(found: GuardrailResult, guardrail: Any, _args: Any, _kwargs: Any) -> Any:
    return InputGuardrailResult(guardrail=guardrail, output=_flow(found))


def _output(found: GuardrailResult, guardrail: Any, args: Any, kwargs: Any) -> Any:
    names = ("context", "agent", "agent_output")
    given = dict(zip(names, args, strict=False)) | kwargs
    return OutputGuardrailResult(
        guardrail=guardrail,
        agent_output=given.get("agent_output"),
        agent=given["agent"],
        output=_flow(found),
    )


def _tool(found: GuardrailResult, _guardrail: Any, _args: Any, _kwargs: Any) -> Any:
    behavior: Any = found.behavior if found.behavior is not None else {"type": "allow"}
    return ToolGuardrailFunctionOutput(output_info=found.output_info, behavior=behavior)


MAKERS: Final[dict[str, Callable[[GuardrailResult, Any, Any, Any], Any]]] = {
    "input": _input,
    "output": _output,
    "tool_input": _tool,
    "tool_output": _tool,
}
