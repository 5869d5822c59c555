"""A rebuilt run against the SDK's own result, fact by fact.

    for found in compare(ledger.runs[0], result):
        assert found.equal, found

What is expected comes from the SDK's objects through the SDK's own methods (`to_input_item()`,
`to_input_list()`, pydantic's dumps with unset fields left out), what was got from the ledger; both
are compared as canonical JSON. `itemtrace demo` shows this as its proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from agents import RunItem, ToolApprovalItem
from agents.exceptions import RunErrorDetails
from agents.result import RunResultBase

from itemtrace.codec import canonical
from itemtrace.errors import GapError


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemtrace.ledger import GuardrailResult, Item, ModelResponse, Run, Usage


Details = RunResultBase | RunErrorDetails
"""What the SDK kept of a run: its result, or the `run_data` of the exception that ended it."""


@dataclass(frozen=True)
class Comparison:
    """One fact about a run, as the SDK has it and as the ledger gives it back.

    Attributes:
        name: What was compared, such as `new_items[3]`.
        equal: Whether they are the same.
        expected: Canonical JSON of the SDK's.
        got: Canonical JSON of the ledger's, or the gap that stands in its place.
    """

    name: str
    equal: bool
    expected: str
    got: str

    def __str__(self) -> str:
        if self.equal:
            return f"{self.name}: equal"
        return f"{self.name}: expected {self.expected}, got {self.got}"


@dataclass(frozen=True)
class Fact:
    """How one fact is read on both sides.

    Attributes:
        name: What it is called in a comparison.
        of_sdk: From the SDK's result or run data.
        of_run: From the ledger's run.
        results_only: The `run_data` of an exception does not have it.
    """

    name: str
    of_sdk: Callable[[Any], Any]
    of_run: Callable[[Run], Any]
    results_only: bool = False


def compare(run: Run, ended: RunResultBase | BaseException) -> list[Comparison]:
    """Returns every fact of a run's end, compared with a rebuilt run.

    Args:
        run: The run of a ledger.
        ended: What the call of `Runner` returned or raised. Of an exception that kept no run data
            only the error itself is compared.
    """
    if isinstance(ended, BaseException):
        details: Details | None = getattr(ended, "run_data", None)
        found = [compared("error", _error_of_sdk(ended), lambda: _error_of_run(run))]
    else:
        details = ended
        found = []
    if details is None:
        return found
    for fact in FACTS:
        if not fact.results_only or isinstance(details, RunResultBase):
            found.append(_fact(fact, details, run))
    found += _each(
        "new_items", details.new_items, run.new_items, item_of_sdk, item_of_run
    )
    found += _each(
        "raw_responses",
        details.raw_responses,
        run.raw_responses,
        response_of_sdk,
        response_of_run,
    )
    return found


def differences(run: Run, ended: RunResultBase | BaseException) -> list[Comparison]:
    """Returns only what differs; empty is the proof."""
    return [found for found in compare(run, ended) if not found.equal]


def text_of(value: object) -> str:
    """Returns the canonical JSON of a value as it looks after it was kept and read back."""
    return canonical.dumps(canonical.loads(canonical.dumps(value)))


def compared(name: str, expected: object, got: Callable[[], object]) -> Comparison:
    """Returns one comparison; a gap that the ledger raises stands for what it should give."""
    wanted = text_of(expected)
    try:
        found = text_of(got())
    except GapError as gap:
        return Comparison(name, equal=False, expected=wanted, got=f"gap: {gap}")
    return Comparison(name, equal=wanted == found, expected=wanted, got=found)


def _fact(fact: Fact, details: Details, run: Run) -> Comparison:
    return compared(fact.name, fact.of_sdk(details), lambda: fact.of_run(run))


def _each(
    name: str,
    expected: list[Any],
    got: Any,
    of_sdk: Callable[[Any], Any],
    of_run: Callable[[Any], Any],
) -> Iterator[Comparison]:
    """Compares two lists: how long they are, then entry by entry."""
    found = list(got)
    yield compared(f"len({name})", len(expected), lambda: len(found))
    for place, (ours, theirs) in enumerate(zip(found, expected, strict=False)):
        yield compared(f"{name}[{place}]", of_sdk(theirs), partial(of_run, ours))


def _error_of_sdk(error: BaseException) -> list[Any]:
    return [type(error).__name__, str(error)]


def _error_of_run(run: Run) -> list[Any] | None:
    error = run.error
    return None if error is None else [error.type.rpartition(".")[2], error.message]


# --- items ---------------------------------------------------------------------


def dumped(raw: Any) -> Any:
    """Returns a raw item as a mapping, unset fields left out; mappings as they are."""
    if isinstance(raw, dict):
        return cast("dict[str, Any]", raw)
    return raw.model_dump(exclude_unset=True, warnings=False)


BESIDE: Final = (
    "description", "title", "tool_origin", "custom_data", "tool_name", "tool_namespace",
    "source_agent", "target_agent",
)  # fmt: skip
"""Public fields of the SDK's items beside `agent`, `raw_item`, `type` and `output`."""


def item_of_sdk(item: RunItem) -> dict[str, Any]:
    """Returns all that one of the SDK's items says."""
    found: dict[str, Any] = {
        "type": item.type,
        "agent": item.agent.name,
        "raw": dumped(item.raw_item),
        "beside": {},
    }
    if not isinstance(item, ToolApprovalItem):
        sent: Any = item.to_input_item()
        if sent.get("status", "") is None:  # the runner sends no null status
            sent = {key: value for key, value in sent.items() if key != "status"}
        found["sent"] = sent
    if item.type == "tool_call_output_item":
        found["output"] = item.output
    for name in BESIDE:
        value = getattr(item, name, None)
        if value is not None:
            found["beside"][name] = getattr(value, "name", value)
    return found


def item_of_run(item: Item) -> dict[str, Any]:
    """Returns the same of a ledger's item."""
    found: dict[str, Any] = {
        "type": item.type,
        "agent": item.agent,
        "raw": item.raw,
        "beside": {},
    }
    if item.type != "tool_approval_item":
        found["sent"] = item.to_input_item()
    if item.type == "tool_call_output_item":
        found["output"] = item.output
    beside = {**_named(item), **item.extra}
    for name in BESIDE:
        if beside.get(name) is not None:
            found["beside"][name] = beside[name]
    return found


def _named(item: Item) -> dict[str, Any]:
    """Returns the tool's name and namespace where the SDK's item would take them from."""
    raw: Any = item.raw
    if item.type == "tool_call_item":
        return {"tool_name": item.extra.get("_resolved_tool_name") or raw.get("name")}
    if item.type == "tool_approval_item":
        return {"tool_name": raw.get("name"), "tool_namespace": raw.get("namespace")}
    return {}


# --- responses, usage, guardrails --------------------------------------------------


def response_of_sdk(response: Any) -> dict[str, Any]:
    """Returns all that one of the SDK's model responses says."""
    return {
        "output": [dumped(item) for item in response.output],
        "usage": usage_of_sdk(response.usage),
        "response_id": response.response_id,
        "request_id": response.request_id,
        "raw_usage": response.raw_usage,
    }


def response_of_run(response: ModelResponse) -> dict[str, Any]:
    """Returns the same of a ledger's response."""
    return {
        "output": list(response.output),
        "usage": usage_of_run(response.usage),
        "response_id": response.response_id,
        "request_id": response.request_id,
        "raw_usage": response.raw_usage,
    }


COUNTS: Final = ("input_tokens", "output_tokens", "total_tokens")
DETAILS: Final = ("input_tokens_details", "output_tokens_details")


def usage_of_sdk(usage: Any) -> dict[str, Any]:
    """Returns the SDK's usage as a mapping, its entries included."""

    def counts(of: Any) -> dict[str, Any]:
        found: dict[str, Any] = {name: getattr(of, name) for name in COUNTS}
        return found | {
            name: getattr(of, name).model_dump(exclude_unset=True) for name in DETAILS
        }

    entries = [counts(entry) for entry in usage.request_usage_entries]
    return {"requests": usage.requests, **counts(usage), "entries": entries}


def usage_of_run(usage: Usage) -> dict[str, Any]:
    """Returns the same of a ledger's usage."""

    def counts(of: Any) -> dict[str, Any]:
        found: dict[str, Any] = {name: getattr(of, name) for name in COUNTS}
        return found | {name: dict(getattr(of, name)) for name in DETAILS}

    entries = [counts(entry) for entry in usage.request_usage_entries]
    return {"requests": usage.requests, **counts(usage), "entries": entries}


def guardrail_of_sdk(found: Any) -> dict[str, Any]:
    """Returns what one of the SDK's guardrail results says, of whichever kind."""
    output = found.output
    return {
        "name": found.guardrail.get_name(),
        "agent": getattr(getattr(found, "agent", None), "name", None),
        "tripwire": getattr(output, "tripwire_triggered", None),
        "output_info": output.output_info,
        "agent_output": getattr(found, "agent_output", None),
        "behavior": getattr(output, "behavior", None),
    }


def guardrail_of_run(found: GuardrailResult) -> dict[str, Any]:
    """Returns the same of a ledger's guardrail result."""
    return {
        "name": found.name,
        "agent": found.agent,
        "tripwire": found.tripwire,
        "output_info": found.output_info,
        "agent_output": found.agent_output,
        "behavior": found.behavior,
    }


def _guardrails(kind: str) -> Fact:
    name = f"{kind}_guardrail_results"
    return Fact(
        name,
        lambda details: [guardrail_of_sdk(found) for found in getattr(details, name)],
        lambda run: [guardrail_of_run(found) for found in getattr(run, name)],
    )


def _invocation(of: Any) -> Any:
    found = of.agent_tool_invocation
    if found is None:
        return None
    return [found.tool_name, found.tool_call_id, found.tool_arguments]


FACTS: Final = (
    Fact("input", lambda details: details.input, lambda run: run.input),
    Fact(
        "last_agent",
        lambda details: details.last_agent.name,
        lambda run: run.last_agent,
    ),
    Fact(
        "final_output",
        lambda result: result.final_output,
        lambda run: run.final_output,
        results_only=True,
    ),
    Fact(
        "last_response_id",
        lambda result: result.last_response_id,
        lambda run: run.last_response_id,
        results_only=True,
    ),
    Fact(
        "interruptions",
        lambda result: [item_of_sdk(item) for item in result.interruptions],
        lambda run: [item_of_run(item) for item in run.interruptions],
        results_only=True,
    ),
    Fact(
        "usage",
        lambda details: usage_of_sdk(details.context_wrapper.usage),
        lambda run: usage_of_run(run.usage),
    ),
    *(_guardrails(kind) for kind in ("input", "output", "tool_input", "tool_output")),
    Fact(
        "to_input_list()",
        lambda result: result.to_input_list(),
        lambda run: run.to_input_list(),
        results_only=True,
    ),
    Fact(
        "to_input_list(mode='normalized')",
        lambda result: result.to_input_list(mode="normalized"),
        lambda run: run.to_input_list(mode="normalized"),
        results_only=True,
    ),
    Fact("agent_tool_invocation", _invocation, _invocation, results_only=True),
)
"""The facts of a run as a whole; items and responses are compared one by one beside them."""
