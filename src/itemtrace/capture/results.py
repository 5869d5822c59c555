# pyright: basic
# Raw items and SDK objects are JSON values and Any at this edge
"""A run's result, or the exception that ended it, as the `end` record (docs/format.md).

The items and responses were recorded as they came; here they are put in the order of the result,
confirmed or corrected, and whatever was never seen on the way is recorded now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import ItemHelpers

from itemtrace.capture import items as sdk
from itemtrace.capture.inputs import item_key
from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG, Escaped


if TYPE_CHECKING:
    from itemtrace.capture.frame import Frame
    from itemtrace.capture.items import Recorded
    from itemtrace.capture.records import Emit


def end_body(frame: Frame, result: Any, emit: Emit) -> dict[str, Any]:
    """Returns the body of the `end` record for a result or an exception's `run_data`.

    Args:
        frame: The run.
        result: A `RunResult`, a `RunResultStreaming`, or a `RunErrorDetails`.
        emit: Writes records of items that no model call or tool gave.
    """
    found = [(item, _record_of(frame, item, emit)) for item in result.new_items]
    body: dict[str, Any] = {"items": _ranges([recorded.seq for _, recorded in found])}
    tools, fixes = _meta(frame, found)
    if tools:
        body["tools"] = tools
    if fixes:
        body["fix"] = fixes
    calls = [_call_of(frame, response, emit) for response in result.raw_responses]
    if calls != sorted(n for n, _ in frame.responses.values()):
        body["responses"] = calls
    agent = getattr(result, "last_agent", None)
    if agent is not None:
        body["last_agent"] = agent.name
    if result.input != frame.given_input:
        body["input"] = _given(frame, result.input)
    _add_final(frame, result, found, body)
    interruptions = getattr(result, "interruptions", None)
    if interruptions:
        body["interruptions"] = [
            _record_of(frame, item, emit).seq for item in interruptions
        ]
    guardrails = _guardrails(frame, result)
    if guardrails:
        body["guardrails"] = guardrails
    _add_usage(frame, result, body)
    lists = _lists(frame, result, [recorded for _, recorded in found])
    if lists:
        body["lists"] = lists
    return body


# --- items --------------------------------------------------------------------


def _record_of(frame: Frame, item: Any, emit: Emit) -> Recorded:
    """Returns the record of a run item, writing one if it was not seen before."""
    raw = item.raw_item
    for recorded in frame.sources.get(id(raw), ()):
        if recorded.source is raw and _compatible(recorded, item):
            return recorded
    mapping = sdk.dump(raw)
    if isinstance(mapping, dict):
        key = mapping.get("call_id") or mapping.get("approval_request_id")
        for recorded in frame.outputs.get(str(key), ()):
            if recorded.raw == mapping and _compatible(recorded, item):
                recorded.source = raw
                recorded.predicted = False
                return recorded
    extra = sdk.extras_of(item)
    output = getattr(item, "output", None)
    if item.type == "tool_call_output_item" and sdk.differs(output, raw):
        extra["output"] = output
    recorded, records = frame.item(
        raw, item.type, item.agent.name, extra=extra, output=output
    )
    emit(item.type, records)
    return recorded


def _compatible(recorded: Recorded, item: Any) -> bool:
    """An approval and the call it is about share their raw item and are two items."""
    if "tool_approval_item" in (recorded.type, item.type):
        return bool(recorded.type == item.type)
    return True


def _ranges(numbers: list[int]) -> list[int | list[int]]:
    """Returns seqs with runs of three or more as `[first, count]`."""
    found: list[int | list[int]] = []
    start = 0
    for place in range(1, len(numbers) + 1):
        if place < len(numbers) and numbers[place] == numbers[place - 1] + 1:
            continue
        count = place - start
        if count > 2:
            found.append([numbers[start], count])
        else:
            found += numbers[start:place]
        start = place
    return found


def _meta(
    frame: Frame, found: list[tuple[Any, Recorded]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns what items of one tool have in common, and what single items have of their own."""
    extras = [_final_extra(item, recorded) for item, recorded in found]
    names = _tool_names(found)
    common = _common(found, extras, names)
    fixes: dict[str, Any] = {}
    for (item, recorded), extra in zip(found, extras, strict=True):
        fix: dict[str, Any] = {}
        if item.type != recorded.type:
            fix["type"] = item.type
        if item.agent is not None and item.agent.name != recorded.agent:
            fix["agent"] = item.agent.name
        expected = recorded.extra
        if _plain(expected):
            shared = _for_tool(common, names.get(recorded.seq), item.type)
            expected = {**shared, **expected}
        kind = sdk.class_name(item.raw_item)
        if kind != recorded.kind:
            fix["class"] = kind
        if extra != expected:
            fix["extra"] = frame.public_extra(extra) or {}
        if fix:
            fixes[str(recorded.seq)] = fix
    return common, fixes


def _final_extra(item: Any, recorded: Recorded) -> dict[str, Any]:
    extra = sdk.extras_of(item)
    if item.type == "tool_call_output_item" and sdk.differs(item.output, item.raw_item):
        if recorded.output is item.output and "output" in recorded.extra:
            extra["output"] = recorded.extra["output"]
        else:
            extra["output"] = item.output
    return extra


def _plain(extra: dict[str, Any]) -> bool:
    """Whether an item has no fields of its own beside its output, so that its tool's are added."""
    return not extra or list(extra) == ["output"]


_VARIANTS = 8
"""How many different sets of fields of one tool are looked at for the common one."""

_KINDS = {"tool_call_item": "call", "tool_call_output_item": "output"}


def _tool_names(found: list[tuple[Any, Recorded]]) -> dict[int, str]:
    """Returns the tool's name for every call and output of it, by seq."""
    names: dict[int, str] = {}
    by_call: dict[str, str] = {}
    for item, recorded in found:
        if not isinstance(recorded.raw, dict):
            continue
        call_id = recorded.raw.get("call_id")
        if item.type == "tool_call_item":
            name = recorded.raw.get("name")
            if isinstance(name, str):
                names[recorded.seq] = name
                if isinstance(call_id, str):
                    by_call[call_id] = name
        elif item.type == "tool_call_output_item" and call_id in by_call:
            names[recorded.seq] = by_call[call_id]
    return names


def _common(
    found: list[tuple[Any, Recorded]],
    extras: list[dict[str, Any]],
    names: dict[int, str],
) -> dict[str, Any]:
    seen: dict[tuple[str, str], list[tuple[dict[str, Any], list[int]]]] = {}
    for (item, recorded), extra in zip(found, extras, strict=True):
        name, kind = names.get(recorded.seq), _KINDS.get(item.type)
        shared = {key: value for key, value in extra.items() if key != "output"}
        if name is None or kind is None or not _plain(recorded.extra) or not shared:
            continue
        variants = seen.setdefault((name, kind), [])
        known = next((seqs for value, seqs in variants if value == shared), None)
        if known is not None:
            known.append(recorded.seq)
        elif len(variants) < _VARIANTS:
            variants.append((shared, [recorded.seq]))
    common: dict[str, Any] = {}
    for (name, kind), variants in seen.items():
        common.setdefault(name, {})[kind] = max(variants, key=lambda v: len(v[1]))[0]
    return common


def _for_tool(
    common: dict[str, Any], name: str | None, item_type: str
) -> dict[str, Any]:
    kind = _KINDS.get(item_type)
    if name is None or kind is None:
        return {}
    found: dict[str, Any] = common.get(name, {}).get(kind, {})
    return found


# --- the rest of the result -----------------------------------------------------


def _call_of(frame: Frame, response: Any, emit: Emit) -> int:
    known = frame.responses.get(id(response))
    if known is not None and known[1] is response:
        return known[0]
    number, records = frame.recall(response, None)
    emit("recalled_response", records)
    return number


def _given(frame: Frame, value: Any) -> Any:
    if isinstance(value, str):
        return frame.privacy.text(value)
    return _entries(frame, value)


def _entries(frame: Frame, items: list[Any]) -> list[Any]:
    """Returns input items as references to the records that they are, or as they are."""
    index: dict[Any, list[Recorded]] = {}
    for recorded in frame.recorded:
        index.setdefault(item_key(recorded.sent), []).append(recorded)
    found: list[Any] = []
    for item in items:
        known = index.get(item_key(item), ())
        match = next((entry for entry in known if entry.sent == item), None)
        if match is None:
            found.append(frame.privacy.item(sdk.dump(item))[0])
        else:
            found.append(Escaped({TAG: "ref", "s": match.seq}))
    return found


def _add_final(
    frame: Frame, result: Any, found: list[tuple[Any, Recorded]], body: dict[str, Any]
) -> None:
    value = getattr(result, "final_output", None)
    if value is None:
        return
    for item, recorded in reversed(found):
        if item.type != "message_output_item" or not isinstance(value, str):
            continue
        if ItemHelpers.extract_text(item.raw_item) == value:
            body["final"] = {"text": recorded.seq}
            return
        break
    public = frame.privacy.value(value)
    body["final"] = {
        "value": public,
        "type": canonical.type_name(value),
    }


def _guardrails(frame: Frame, result: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, name in (
        ("input", "input_guardrail_results"),
        ("output", "output_guardrail_results"),
        ("tool_input", "tool_input_guardrail_results"),
        ("tool_output", "tool_output_guardrail_results"),
    ):
        results = getattr(result, name, None)
        if results:
            final = getattr(result, "final_output", None)
            found[key] = [_guardrail(frame, entry, final) for entry in results]
    return found


def _guardrail(frame: Frame, entry: Any, final: Any) -> dict[str, Any]:
    output = entry.output
    agent = getattr(entry, "agent", None)
    body: dict[str, Any] = {
        "name": entry.guardrail.get_name(),
        "agent": getattr(agent, "name", None),
        "tripwire": getattr(output, "tripwire_triggered", None),
        "behavior": frame.privacy.value(getattr(output, "behavior", None)),
    }
    if output.output_info is not None:
        body["output_info"] = frame.privacy.value(output.output_info)
    checked = getattr(entry, "agent_output", None)
    if checked is not None and checked is not final:
        body["agent_output"] = frame.privacy.value(checked)
    return {key: value for key, value in body.items() if value is not None}


def _add_usage(frame: Frame, result: Any, body: dict[str, Any]) -> None:
    value = getattr(getattr(result, "context_wrapper", None), "usage", None)
    if value is None:
        return
    body["usage"] = sdk.usage(value)
    entries = sdk.entries(value)
    if not entries:
        return
    own = [counted[1:] for counted in frame.usages]
    body["entries"] = True if entries == own else entries


def _lists(frame: Frame, result: Any, items: list[Recorded]) -> dict[str, Any]:
    """Returns the SDK's input lists where the items do not give them by the plain rule.

    A handoff with nested history or a filter, and a policy for reasoning ids, make them differ.
    """
    to_list = getattr(result, "to_input_list", None)
    if to_list is None or not _unusual(result, items):
        return {}
    start = ItemHelpers.input_to_new_input_list(result.input)
    plain = [
        *start,
        *(recorded.sent for recorded in items if recorded.type != "tool_approval_item"),
    ]
    found: dict[str, Any] = {}
    for mode in ("preserve_all", "normalized"):
        actual = to_list(mode=mode)
        if actual != plain:
            found[mode] = _entries(frame, actual)
    return found


def state(frame: Frame, result: Any) -> Any:
    """Returns the `RunState` JSON of an interrupted run, without the application's context.

    What repeats recorded items is written as references, so that content stays once.
    """
    found = result.to_state().to_json(context_serializer=lambda _: {})
    context = found.get("context")
    if isinstance(context, dict) and "context" in context:
        context["context"] = {}
    index: dict[Any, list[Recorded]] = {}
    for recorded in frame.recorded:
        index.setdefault(item_key(recorded.raw), []).append(recorded)
    return _referred(found, index)


def _referred(value: Any, index: dict[Any, list[Recorded]]) -> Any:
    if isinstance(value, list):
        return [_referred(child, index) for child in value]
    if not isinstance(value, dict):
        return value
    for recorded in index.get(item_key(value), ()):
        if recorded.raw == value and recorded.sent is recorded.raw:
            return Escaped({TAG: "ref", "s": recorded.seq})
    return {key: _referred(child, index) for key, child in value.items()}


_ALWAYS_COMPARED = 100
"""Up to this many items the lists are compared whole; it costs about 5 µs an item."""


def _unusual(result: Any, items: list[Recorded]) -> bool:
    """Whether the SDK's lists must be looked at, though the run is long.

    The plain rule was confirmed by every model call that saw the items; what it cannot know is a
    handoff that rewrote the history and a policy that leaves reasoning ids out.
    """
    if len(items) <= _ALWAYS_COMPARED or getattr(
        result, "_reasoning_item_id_policy", None
    ):
        return True
    return any(recorded.type == "handoff_call_item" for recorded in items)
