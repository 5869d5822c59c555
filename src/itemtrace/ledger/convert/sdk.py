# pyright: basic
"""Real objects of the Agents SDK, equal to the originals.

The SDK is imported when a function is called. Classes are chosen from fixed lists; nothing is
imported or called because a trace says so.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_args

from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG
from itemtrace.errors import GapError
from itemtrace.ledger.checks import lacks_content
from itemtrace.ledger.parts import part


if TYPE_CHECKING:
    import agents

    from itemtrace.ledger.calls import ModelResponse
    from itemtrace.ledger.items import Item
    from itemtrace.ledger.run import Run
    from itemtrace.ledger.usage import RequestUsage, Usage


# --- agents ---------------------------------------------------------------------


def agents_by_name(given: Any) -> dict[str, Any]:
    """Returns agents by name.

    Args:
        given: A mapping by name, or agents; from each the handoffs are followed.
    """
    if isinstance(given, Mapping):
        return dict(given)
    waiting = list(given) if isinstance(given, Iterable) else [given]
    found: dict[str, Any] = {}
    while waiting:
        agent = waiting.pop(0)
        if found.setdefault(agent.name, agent) is agent:
            waiting += [
                target
                for entry in agent.handoffs
                if (target := _target(entry)) is not None and target.name not in found
            ]
    return found


def _target(entry: Any) -> Any:
    """Returns the agent of a handoff; a `Handoff` that was not made by `handoff()` keeps none."""
    import agents

    if not isinstance(entry, agents.Handoff):
        return entry
    reference = getattr(entry, "_agent_ref", None)
    return reference() if reference is not None else None


def _bind(run: Run, items: Sequence[Item], given: Any) -> dict[str, Any]:
    known = agents_by_name(given)
    wanted: dict[str, None] = {}
    for item in items:
        for name in (
            item.agent,
            item.extra.get("source_agent"),
            item.extra.get("target_agent"),
        ):
            if name is not None:
                wanted[name] = None
    absent = [name for name in wanted if name not in known]
    if absent:
        msg = (
            f"run {run.run_id} has items of agents that were not given: {', '.join(absent)}; "
            f"given are {', '.join(known) or 'none'}; pass them too, as a list or by name"
        )
        raise GapError(msg)
    return known


# --- items ----------------------------------------------------------------------


def new_items(run: Run, given: Any) -> list[agents.RunItem]:
    """Returns the run's `new_items` as the SDK's objects.

    Args:
        run: A run.
        given: The agents: a starting agent whose handoffs are followed, a list, or a mapping by name.

    Raises:
        GapError: An item is lost or withheld, or an agent is not among those given.
    """
    known = _bind(run, run.new_items, given)
    return [run_item(run, item, known) for item in run.new_items]


def run_item(run: Run, item: Item, known: Mapping[str, Any]) -> Any:
    """Returns one item as the SDK's object.

    Raises:
        GapError: The item is lost or withheld, or the SDK has no class for it.
    """
    if lacks_content(item.raw) or item.agent is None:
        msg = f"item {item.seq} of run {run.run_id} is not whole; `Run.gaps` says why"
        raise GapError(msg)
    kind = item_classes().get(item.type)
    if kind is None:
        msg = f"item {item.seq} is a {item.type!r}, which the installed openai-agents does not have"
        raise GapError(msg)
    taken = {field.name for field in fields(kind) if field.init}
    values = {key: value for key, value in item.extra.items() if key in taken}
    for key in ("source_agent", "target_agent"):
        if key in values:
            values[key] = known[values[key]]
    if "tool_origin" in values:
        values["tool_origin"] = _tool_origin(values["tool_origin"])
    if "output" in taken:
        values["output"] = output_of(run, item)
    return kind(agent=known[item.agent], raw_item=raw_object(item), **values)


@functools.cache
def item_classes() -> dict[str, Any]:
    """Returns item type -> class of the SDK."""
    from agents.items import RunItem

    return {
        str(field.default): member
        for member in get_args(RunItem)
        for field in fields(member)
        if field.name == "type"
    }


def _tool_origin(value: Any) -> Any:
    from agents.tool import ToolOrigin, ToolOriginType

    return ToolOrigin(**{**value, "type": ToolOriginType(value["type"])})


# --- raw items ------------------------------------------------------------------


def raw_object(item: Item) -> Any:
    """Returns the raw item as the SDK holds it: a mapping, or a model of the `openai` package."""
    raw = item.raw
    if not isinstance(raw, dict) or item.class_name == "dict":
        return raw
    if item.class_name is None and (
        item.raw_type in MADE_BY_SDK or item.raw_type not in usual_types()
    ):
        return raw
    return output_object(raw, item.class_name)


def output_object(raw: Any, class_name: str | None = None) -> Any:
    """Returns an output item as the client makes it of a response's JSON."""
    from openai._models import construct_type
    from openai.types.responses import ResponseOutputItem

    named = model_classes().get(class_name or "")
    return construct_type(value=raw, type_=named or ResponseOutputItem)


@functools.cache
def usual_types() -> frozenset[str]:
    """Returns the raw types that the installed `openai` knows as output items."""
    return frozenset(
        name
        for member in _output_models()
        for name in get_args(member.model_fields["type"].annotation)
    )


@functools.cache
def model_classes() -> dict[str, Any]:
    """Returns the classes that a raw item may have, by name."""
    import pydantic  # noqa: PLC0415
    from openai.types import responses

    found = {
        name: member
        for name, member in vars(responses).items()
        if isinstance(member, type) and issubclass(member, pydantic.BaseModel)
    }
    return {**found, **{member.__name__: member for member in _output_models()}}


def _output_models() -> tuple[Any, ...]:
    from openai.types.responses import ResponseOutputItem

    return get_args(get_args(ResponseOutputItem)[0])


MADE_BY_SDK = frozenset(
    {
        "function_call_output", "custom_tool_call_output", "computer_call_output",
        "local_shell_call_output", "shell_call_output", "apply_patch_call_output",
        "mcp_approval_response", "program_output", "tool_search_output",
    }
)  # fmt: skip
"""Raw types that are mappings where no class is named (docs/format.md, `item`)."""


# --- values ---------------------------------------------------------------------


def output_of(run: Run, item: Item) -> Any:
    """Returns what a tool returned; the SDK's own output types as such, other models as mappings."""
    if "output" not in item.extra:
        return item.output
    encoded = _encoded_extra(run, item).get("output")
    return typed(encoded, run) if encoded is not None else item.extra["output"]


def _encoded_extra(run: Run, item: Item) -> Mapping[str, Any]:
    found: Mapping[str, Any] = {}
    for record in run.records:
        if record.seq == item.seq:
            found = part(json.loads(record.body), "extra")
        elif record.kind == "end":
            fix = part(part(json.loads(record.body), "fix"), str(item.seq))
            found = part(fix, "extra") if "extra" in fix else found
    return found


def typed(value: Any, run: Run) -> Any:
    """Returns a recorded value with the SDK's tool output types as objects."""
    if isinstance(value, list):
        return [typed(child, run) for child in value]
    if not isinstance(value, dict):
        return value
    kind = (
        tool_output_types().get(value.get("type", ""))
        if value.get(TAG) == "model"
        else None
    )
    if kind is not None:
        return kind(**canonical.decode(value["v"], run.book.resolve))
    if value.get(TAG) == "tuple":
        return tuple(typed(child, run) for child in value["v"])
    return canonical.decode(value, run.book.resolve)


@functools.cache
def tool_output_types() -> dict[str, Any]:
    """Returns the SDK's classes of tool outputs by their qualified names."""
    from agents import tool

    kinds = (tool.ToolOutputText, tool.ToolOutputImage, tool.ToolOutputFileContent)
    return {f"{kind.__module__}.{kind.__qualname__}": kind for kind in kinds}


# --- responses and usage --------------------------------------------------------


def raw_responses(run: Run) -> list[agents.ModelResponse]:
    """Returns the run's `raw_responses` as the SDK's objects.

    Raises:
        GapError: An output item is lost or withheld.
    """
    return [model_response(run, response) for response in run.raw_responses]


def model_response(run: Run, response: ModelResponse) -> agents.ModelResponse:
    """Returns one response as the SDK's object, new each time.

    Raises:
        GapError: An output item is lost or withheld.
    """
    import agents

    broken = next((item for item in response.items if lacks_content(item.raw)), None)
    if broken is not None:
        msg = f"item {broken.seq} of run {run.run_id} is not whole; `Run.gaps` says why"
        raise GapError(msg)
    taken = {field.name for field in fields(agents.ModelResponse)}
    values: dict[str, Any] = {
        "output": [],
        "usage": usage(response.usage),
        "response_id": response.response_id,
        "request_id": response.request_id,
        "raw_usage": response.raw_usage,
    }
    made = agents.ModelResponse(**{k: v for k, v in values.items() if k in taken})
    made.output = [
        _response_item(item) for item in response.items
    ]  # not validated again
    return made


def _response_item(item: Item) -> Any:
    if item.class_name == "dict":
        return item.raw
    return output_object(item.raw, item.class_name)


def usage(value: Usage) -> agents.Usage:
    """Returns usage as the SDK's object."""
    import agents
    from agents.usage import RequestUsage as SdkRequestUsage

    return agents.Usage(
        requests=value.requests,
        request_usage_entries=[
            SdkRequestUsage(**_token_fields(entry))
            for entry in value.request_usage_entries
        ],
        **_token_fields(value),
    )


def _token_fields(value: Usage | RequestUsage) -> dict[str, Any]:
    from openai.types.responses import response_usage

    return {
        "input_tokens": value.input_tokens,
        "output_tokens": value.output_tokens,
        "total_tokens": value.total_tokens,
        "input_tokens_details": response_usage.InputTokensDetails.model_construct(
            **{
                "cached_tokens": 0,
                "cache_write_tokens": 0,
                **value.input_tokens_details,
            }
        ),
        "output_tokens_details": response_usage.OutputTokensDetails.model_construct(
            **{"reasoning_tokens": 0, **value.output_tokens_details}
        ),
    }


# --- state ----------------------------------------------------------------------


async def run_state(
    run: Run, agent: agents.Agent[Any], context: Any = None
) -> agents.RunState[Any]:
    """Returns the SDK's state of an interrupted run, to approve or reject and resume.

    Args:
        run: An interrupted run that was recorded with its state.
        agent: The starting agent; its handoffs must lead to the same agents as when it ran.
        context: The application's context, which is never recorded.

    Raises:
        GapError: There is no state, or the installed SDK refuses it.
    """
    import agents

    state = run.state
    if isinstance(state, str):
        state = json.loads(state)
    if not isinstance(state, dict) or lacks_content(state):
        msg = (
            f"run {run.run_id} is {run.status} and holds no state; record with state switched on, "
            "or replay it up to the interruption and take the state of that result"
        )
        raise GapError(msg)
    try:
        return await agents.RunState.from_json(agent, state, context_override=context)
    except (agents.AgentsException, KeyError, TypeError, ValueError) as error:
        schema = state.get("$schemaVersion", "unknown")
        msg = (
            f"the installed openai-agents refuses the state of run {run.run_id} "
            f"(schema {schema}): {error}; replay the run up to the interruption instead"
        )
        raise GapError(msg) from error
