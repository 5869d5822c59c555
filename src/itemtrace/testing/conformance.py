"""The checks of the GenAI conventions' official policy, as plain functions over span rows.

    assert conformance.violations(rows) == []

The policy itself runs under weaver, against a registry that has no release; its checks are simple
enough to run on any recorded spans. `CHECKS` lists them; each takes one row and yields what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from itemtrace.testing.message_schema import problems


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow


OPERATION: Final = "gen_ai.operation.name"


@dataclass(frozen=True, slots=True)
class Rule:
    """What the conventions ask of the spans of one operation.

    Attributes:
        kinds: Allowed span kinds.
        keys: The attributes whose first present value follows the operation in the span's name.
        required: Attributes that must be there.
        recommended: Attributes that should be there when the span did not fail.
    """

    kinds: tuple[str, ...]
    keys: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    recommended: tuple[str, ...] = ()


_MODEL: Final = Rule(
    ("CLIENT", "INTERNAL"),
    ("gen_ai.request.model",),
    ("gen_ai.provider.name",),
    (
        "gen_ai.request.model",
        "gen_ai.response.id",
        "gen_ai.response.model",
        "gen_ai.response.finish_reasons",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "server.address",
    ),
)
_AGENT: Final = Rule(("CLIENT", "INTERNAL"), ("gen_ai.agent.name",))
_MEMORY: Final = Rule(("CLIENT", "INTERNAL"))

RULES: Final[dict[str, Rule]] = {
    "chat": _MODEL,
    "generate_content": _MODEL,
    "text_completion": _MODEL,
    "embeddings": Rule(
        ("CLIENT",), ("gen_ai.request.model",), ("gen_ai.provider.name",)
    ),
    "retrieval": Rule(("CLIENT",), ("gen_ai.data_source.id",)),
    "fetch_response": Rule(
        ("CLIENT",), (), ("gen_ai.provider.name", "gen_ai.response.id")
    ),
    "create_agent": Rule(
        ("CLIENT",), ("gen_ai.agent.name",), ("gen_ai.provider.name",)
    ),
    "invoke_agent": _AGENT,
    "plan": Rule(("INTERNAL",), ("gen_ai.agent.name",)),
    "execute_tool": Rule(
        ("INTERNAL",),
        ("gen_ai.tool.name",),
        ("gen_ai.tool.name",),
        ("gen_ai.tool.type", "gen_ai.tool.call.id"),
    ),
    "invoke_workflow": Rule(("INTERNAL",), ("gen_ai.workflow.name",)),
    "search_memory": _MEMORY,
    "create_memory": _MEMORY,
    "update_memory": _MEMORY,
    "upsert_memory": _MEMORY,
    "delete_memory": _MEMORY,
    "create_memory_store": _MEMORY,
    "delete_memory_store": _MEMORY,
}
"""Operation -> what is asked of its spans. The list is closed: another value is a violation."""

SUFFIXES: Final = (
    "gen_ai.skill.resource.name",
    "gen_ai.skill.name",
    "process.executable.name",
)
"""What a refined tool span appends to its name."""

NEVER: Final = frozenset(
    {
        "gen_ai.system",
        "gen_ai.prompt",
        "gen_ai.completion",
        "gen_ai.usage.prompt_tokens",
        "gen_ai.usage.completion_tokens",
        "gen_ai.openai.request.response_format",
        "gen_ai.openai.request.seed",
        "gen_ai.openai.request.service_tier",
        "gen_ai.openai.response.service_tier",
        "gen_ai.openai.response.system_fingerprint",
        "gen_ai.handoff.from_agent",
        "gen_ai.handoff.to_agent",
        "gen_ai.agent.handoff_parent",
        "openai.agent.handoffs",
    }
)
"""Attributes that the conventions dropped, or that others made up."""

ONLY_WITH_OPERATION: Final = (
    "gen_ai.tool.name",
    "gen_ai.tool.call.id",
    "gen_ai.request.model",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.workflow.name",
    "gen_ai.data_source.id",
)
"""Attributes that make a span without operation look like a tool, model or workflow span."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a span breaks the conventions.

    Attributes:
        span_id: The span.
        name: Its name.
        rule: Name of the check.
        message: What is wrong and what is expected.
        advice: True for what should be, false for what must be.
    """

    span_id: str
    name: str
    rule: str
    message: str
    advice: bool = False


Check = Callable[["SpanRow"], Iterator[str]]

CHECKS: Final[list[Check]] = []
"""What must hold for each span."""


def findings(rows: Iterable[SpanRow]) -> Iterator[Finding]:
    """Yields what breaks a rule, and as advice what the conventions recommend and is absent."""
    for row in rows:
        for check in CHECKS:
            for message in check(row):
                yield Finding(row.span_id, row.name, check.__name__, message)
        for message in recommended(row):
            yield Finding(row.span_id, row.name, "recommended", message, advice=True)


def violations(rows: Iterable[SpanRow]) -> list[Finding]:
    """Returns the findings that are no advice."""
    return [finding for finding in findings(rows) if not finding.advice]


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def _rule(row: SpanRow) -> Rule | None:
    name = row.attributes.get(OPERATION)
    return RULES.get(name) if isinstance(name, str) else None


@_check
def operation(row: SpanRow) -> Iterator[str]:
    """The operation is one of the registry."""
    name = row.attributes.get(OPERATION)
    if name is not None and name not in RULES:
        yield f"unknown operation {name!r}; a span without a known one must have none"


@_check
def span_name(row: SpanRow) -> Iterator[str]:
    """The name is `{operation}`, or that and the value of the keyed attribute."""
    rule = _rule(row)
    if rule is None:
        return
    words = [row.attributes[OPERATION]]
    words += [row.attributes[key] for key in rule.keys if key in row.attributes]
    words += [row.attributes[key] for key in SUFFIXES if key in row.attributes]
    expected = " ".join(str(word) for word in words)
    if row.name != expected:
        yield f"the span's name is {row.name!r}, expected {expected!r}"


@_check
def span_kind(row: SpanRow) -> Iterator[str]:
    """The kind is that of the operation."""
    rule = _rule(row)
    if rule is not None and row.kind not in rule.kinds:
        yield f"the span's kind is {row.kind!r}, expected {' or '.join(rule.kinds)}"


@_check
def status(row: SpanRow) -> Iterator[str]:
    """Status OK is for applications; ERROR and `error.type` go together."""
    error = row.attributes.get("error.type")
    if row.status == "OK":
        yield "status is OK, expected UNSET on success"
    if row.status == "ERROR" and not error:
        yield "status is ERROR without error.type"
    if row.status != "ERROR" and error:
        yield f"error.type is {error!r} with status {row.status}"


@_check
def required(row: SpanRow) -> Iterator[str]:
    """What the operation requires is there."""
    rule = _rule(row)
    for key in rule.required if rule else ():
        if row.attributes.get(key) in (None, ""):
            yield f"{key} is required on {row.attributes[OPERATION]!r} spans and absent"


@_check
def messages(row: SpanRow) -> Iterator[str]:
    """Messages, instructions and tool definitions are JSON of the conventions' schema."""
    for key, value in row.attributes.items():
        yield from problems(key, value)


@_check
def dropped_names(row: SpanRow) -> Iterator[str]:
    """No attribute that the conventions dropped or never had."""
    for key in sorted(NEVER.intersection(row.attributes)):
        yield f"{key} must not be emitted"


@_check
def unclaimed(row: SpanRow) -> Iterator[str]:
    """A span without operation has nothing that makes it look like one that has."""
    if OPERATION in row.attributes:
        return
    for key in ONLY_WITH_OPERATION:
        if key in row.attributes:
            yield f"{key} is set on a span without {OPERATION}"


@_check
def usage(row: SpanRow) -> Iterator[str]:
    """Token usage is on model spans only: backends add up all spans of a trace."""
    if _rule(row) is _MODEL or row.attributes.get(OPERATION) == "embeddings":
        return
    for key in row.attributes:
        if key.startswith("gen_ai.usage."):
            yield f"{key} is set on a span that is no model call"


def recommended(row: SpanRow) -> Iterator[str]:
    """Yields the recommended attributes that a span which did not fail lacks."""
    rule = _rule(row)
    if rule is None or row.status == "ERROR":
        return
    for key in rule.recommended:
        if key not in row.attributes:
            yield f"{key} is recommended on {row.attributes[OPERATION]!r} spans"
