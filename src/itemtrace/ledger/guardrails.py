"""Results of guardrails, as the SDK's result holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from itemtrace.ledger.parts import mapping, part, parts


if TYPE_CHECKING:
    from itemtrace.ledger.run import Run


@dataclass(frozen=True, slots=True)
class GuardrailResult:
    """What one guardrail found.

    Attributes:
        name: The guardrail.
        agent: The agent whose output it checked; None for other guardrails.
        tripwire: Whether it stopped the run; None for guardrails of tools.
        output_info: What it says about its checks.
        agent_output: The output that an output guardrail saw.
        behavior: What a tool's guardrail decided.
    """

    name: str
    agent: str | None = None
    tripwire: bool | None = None
    output_info: Any = None
    agent_output: Any = None
    behavior: Any = None


def guardrail_results(run: Run, kind: str) -> tuple[GuardrailResult, ...]:
    """Returns the results of one kind: `input`, `output`, `tool_input` or `tool_output`."""
    entries = [mapping(entry) for entry in parts(part(run.end, "guardrails"), kind)]
    default = run.final_output if kind == "output" else None
    return tuple(
        GuardrailResult(
            name=str(entry.get("name", "")),
            agent=entry.get("agent"),
            tripwire=entry.get("tripwire"),
            output_info=entry.get("output_info"),
            agent_output=entry.get("agent_output", default),
            behavior=entry.get("behavior"),
        )
        for entry in entries
    )
