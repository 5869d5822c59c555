"""What people hold: ledgers, runs, items, and what is missing from them.

A `Ledger` is made by the rebuild from spans or by `io.loads` from its own JSON. It needs neither
the Agents SDK nor OpenTelemetry; `convert.sdk` makes the SDK's objects of it where the SDK is
installed.
"""

from itemtrace.ledger.calls import ErrorInfo, ModelCall, ModelResponse
from itemtrace.ledger.gaps import Gap, GapCause
from itemtrace.ledger.guardrails import GuardrailResult
from itemtrace.ledger.items import Item
from itemtrace.ledger.model import Ledger
from itemtrace.ledger.run import AgentToolInvocation, Run
from itemtrace.ledger.tools import Approval, Handoff, ToolCall
from itemtrace.ledger.turns import Turn
from itemtrace.ledger.usage import RequestUsage, Usage


__all__ = [
    "AgentToolInvocation",
    "Approval",
    "ErrorInfo",
    "Gap",
    "GapCause",
    "GuardrailResult",
    "Handoff",
    "Item",
    "Ledger",
    "ModelCall",
    "ModelResponse",
    "RequestUsage",
    "Run",
    "ToolCall",
    "Turn",
    "Usage",
]
