"""The items of a run, put together from its records: corrections of the end, shared fields, places."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from itemtrace.ledger.entries import seqs
from itemtrace.ledger.items import CALL_OF_OUTPUT, Item, lost
from itemtrace.ledger.parts import mapping, part, parts


if TYPE_CHECKING:
    from collections.abc import Mapping

    from itemtrace.ledger.run import Run


KINDS: Final[Mapping[str, str]] = {
    "tool_call_item": "call",
    "tool_call_output_item": "output",
}
"""Item types that have fields in common by tool -> where `end.tools` has them."""


def items(run: Run) -> dict[int, Item]:
    """Returns the items of a run by seq, as the end of the run has them."""
    fixes = _fixes(run)
    calls = _calls_by_seq(run)
    callers = {body.get("n"): body for _, body in run.bodies("call")}
    found: dict[int, Item] = {}
    for seq, recorded in run.bodies("item"):
        call = recorded.get("call", calls.get(seq))
        maker = callers.get(call, {})
        inherited = {"agent": maker.get("agent"), "at": maker.get("end")}
        body = {**inherited, **recorded, **fixes.get(seq, {})}
        execution = _execution(body)
        found[seq] = Item(
            type=body.get("type") or "",
            raw=body.get("raw"),
            agent=body.get("agent"),
            seq=seq,
            run_id=run.run_id,
            call=call,
            at_ns=run.time_of(body["at"] or execution.get("end")),
            extra=part(body, "extra"),
            class_name=body.get("class"),
            execution=execution,
            redacted=body.get("redacted") is True,
        )
    own = {seq for seq, fix in fixes.items() if "extra" in fix}
    for seq, extra in _common(run, found, own).items():
        found[seq] = replace(found[seq], extra=extra)
    return found


def _execution(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns what is known of a tool's execution, its times under names of their own."""
    found = part(body, "tool")
    match found.get("ran"):
        case [int(start), int(end)]:
            return {**found, "start": start, "end": end}
        case _:
            return found


def _fixes(run: Run) -> dict[int, Mapping[str, Any]]:
    fixes = part(run.end, "fix")
    return {
        int(seq): fix
        for seq, fix in fixes.items()
        if seq.isdecimal() and isinstance(fix, dict)
    }


def _calls_by_seq(run: Run) -> dict[int, int]:
    return {
        seq: body["n"]
        for _, body in run.bodies("call")
        if isinstance(body.get("n"), int)
        for seq in parts(part(body, "response"), "output")
    }


def _common(
    run: Run, found: Mapping[int, Item], own: set[int]
) -> dict[int, Mapping[str, Any]]:
    """Returns the fields that the calls and outputs of one tool share, for items without own ones beside `output`."""
    shared = part(run.end, "tools")
    if not shared:
        return {}
    names: dict[str, str] = {}
    extras: dict[int, Mapping[str, Any]] = {}
    for seq in seqs(parts(run.end, "items"), len(run.records)):
        item = found.get(seq)
        if item is None or item.type not in KINDS:
            continue
        call_id = _get(item.raw, "call_id")
        if item.type == "tool_call_item":
            name = _get(item.raw, "name")
            if name is not None and call_id is not None:
                names[call_id] = name
        else:
            name = names.get(call_id or "")
        extra = part(part(shared, name or ""), KINDS[item.type])
        if extra and set(item.extra) <= {"output"} and seq not in own:
            extras[seq] = {**extra, **item.extra}
    return extras


def _get(raw: Any, key: str) -> str | None:
    found = mapping(raw).get(key)
    return found if isinstance(found, str) else None


def new_items(run: Run, by_seq: Mapping[int, Item]) -> tuple[Item, ...]:
    """Returns the run's `new_items`; without an end, the items of its responses and their outputs."""
    if "items" in run.end:
        order = seqs(run.end["items"], len(run.records))
        return tuple(by_seq.get(seq) or lost(seq, run.run_id) for seq in order)
    if run.end:
        return ()
    called = {item.call_id for item in by_seq.values() if item.call is not None}
    return tuple(
        item
        for item in run.items
        if item.call is not None
        or (item.type and item.call_id in called)
        or (item.raw_type in CALL_OF_OUTPUT and item.call_id in called)
    )
