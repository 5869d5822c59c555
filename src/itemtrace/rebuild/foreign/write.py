"""A run of another recorder as records, so that it is a ledger like any other.

The records say who recorded the run and what is lacking (`recorded_by` and `lacks` of `begin`); the
gaps come from there. What nobody can know of such a run is left out, never guessed.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.codec.items import as_input_item
from itemtrace.codec.record import Record, make
from itemtrace.ledger.items import CALL_OF_OUTPUT
from itemtrace.ledger.parts import mapping
from itemtrace.rebuild.foreign import content
from itemtrace.rebuild.foreign.steps import ALWAYS, Raw, Step, parsed, text


if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemtrace.rebuild.foreign.runs import Draft


ITEM_TYPES: Final = {
    "message": "message_output_item",
    "reasoning": "reasoning_item",
    "compaction": "compaction_item",
    "mcp_list_tools": "mcp_list_tools_item",
    "mcp_approval_request": "mcp_approval_request_item",
    "tool_search_call": "tool_search_call_item",
    "tool_search_output": "tool_search_output_item",
}
"""Raw type -> the run item that the SDK usually makes of it; every other is a `tool_call_item`."""


class RunRecords:
    """Writes the records of one run.

    Attributes:
        records: What was written so far.
    """

    def __init__(self, draft: Draft, recorder: str, lacks: Iterable[str]) -> None:
        self.draft = draft
        self.recorder = recorder
        self.records: list[Record] = []
        self.calls = with_outputs(draft.of("model"))
        self.tools = draft.of("tool")
        self.started = min(
            step.row.start_ns for step in (*draft.steps, draft.frame or draft.steps[0])
        )
        self.lacks = [*lacks, *ALWAYS]
        self.items: list[int] = []
        self.known: dict[tuple[str, str], tuple[int, Raw]] = {}
        self.table: list[Any] = []
        self.answers = _answers(self.calls)
        self.handoffs = draft.of("handoff")
        self.waiting = False
        self.last_text: int | None = None

    def write(self, children: Iterable[str]) -> list[Record]:
        """Returns all records."""
        self.lacks += [lack for step in self.draft.steps for lack in step.lacks]
        if any(call.api == "chat_completions" for call in self.calls):
            self.lacks.append(
                "ids and provider data of items that came as chat messages"
            )
        silent = sum(call.output is None and call.error is None for call in self.calls)
        if silent:
            self.lacks.append(
                f"the output of {silent} of {len(self.calls)} model calls"
            )
        place = len(self.records)
        self._add("begin", {})  # written again when all that is lacking is known
        for number, call in enumerate(self.calls):
            self._call(number, call)
        if not self.calls:
            self._executions(self.tools, [], None)
        begin = self._begin()
        self.records[place] = make(
            "begin", self.draft.run_id, 0, canonical.dumps(begin)
        )
        if not self.waiting:
            self._end(list(children))
        return self.records

    def _add(self, kind: str, body: Raw) -> int:
        seq = len(self.records)
        said = {key: value for key, value in body.items() if value is not None}
        self.records.append(make(kind, self.draft.run_id, seq, canonical.dumps(said)))
        return seq

    def _micros(self, moment: int) -> int:
        return max(moment - self.started, 0) // 1000

    # --- begin and end --------------------------------------------------------------

    def _begin(self) -> Raw:
        draft = self.draft
        first = next((call.input for call in self.calls if call.input), None)
        agent = next((step.agent for step in draft.steps if step.agent), None)
        body: Raw = {
            "recorded_by": self.recorder,
            "lacks": list(dict.fromkeys(self.lacks)),
            "capture": "spans",
            "started": self.started,
            "trace": self._trace(),
            "agent": agent,
            "input": _given(first),
        }
        if draft.parent is not None and draft.tool is not None:
            call_id = draft.parent.call_ids.get(draft.tool.row.span_id)
            place: Raw = {"run": draft.parent.run_id, "n": draft.place}
            body["parent"] = {**place, "call": call_id} if call_id else place
        return {key: value for key, value in body.items() if value is not None}

    def _trace(self) -> Raw:
        step = self.draft.trace
        group = next(
            (
                found.group
                for found in (step, *self.draft.steps)
                if found and found.group
            ),
            None,
        )
        said: Raw = {"group": group}
        if step is not None:
            said |= {"id": step.trace_id, "name": step.name, "metadata": step.metadata}
        return {key: value for key, value in said.items() if value is not None}

    def _end(self, children: list[str]) -> None:
        draft = self.draft
        failed = [
            step
            for step in (draft.frame, *draft.of("agent"), *self.calls[-1:])
            if step and step.error
        ]
        last = draft.of("agent") or draft.steps
        final = None if failed or self.last_text is None else {"text": self.last_text}
        body: Raw = {
            "status": "failed" if failed else "completed",
            "end": self._micros(max(step.row.end_ns for step in draft.steps)),
            "items": self.items,
            "final": final,
            "last_agent": last[-1].agent,
            "error": _telling(failed, self.tools) if failed else None,
            "children": children or None,
        }
        self._add("end", body)
        joined = sha256(b"".join(record.digest for record in self.records))
        self._add(
            "seal",
            {"records": len(self.records), "digest": canonical.b64(joined.digest())},
        )

    # --- model calls ------------------------------------------------------------------

    def _call(self, number: int, call: Step) -> None:
        entries = [self._entry(entry) for entry in call.input or ()]
        asked = [self._output(number, call, raw) for raw in call.output or ()]
        new, ranges = self._new(entries)
        body: Raw = {
            "n": number,
            "agent": call.agent,
            "start": self._micros(call.row.start_ns),
            "end": self._micros(call.row.end_ns),
            "model": call.model or call.response_model,
            "api": call.api,
            "system": call.system,
            "settings": call.settings,
            "tools": call.tools,
            "input": None if call.input is None else {"new": new, "list": ranges},
            "error": _error(call) if call.error else None,
        }
        if call.error is None:
            answer: Raw = {
                "id": call.response_id,
                "usage": call.usage,
                "model": call.response_model,
            }
            body["response"] = {k: v for k, v in answer.items() if v is not None} | {
                "output": asked
            }
        self._add("call", body)
        later = (
            self.calls[number + 1].row.start_ns
            if number + 1 < len(self.calls)
            else None
        )
        begun = call.row.start_ns if number else 0
        tools = [
            tool
            for tool in self.tools
            if begun <= tool.row.start_ns
            and (later is None or tool.row.start_ns < later)
        ]
        self._executions(tools, list(call.output or ()), call.agent)

    def _new(self, entries: list[Any]) -> tuple[list[Any], list[Any]]:
        """Returns what of an input is new in the table, and the range that it is."""
        known = len(self.table)
        if entries[:known] == self.table:
            new, ranges = entries[known:], [[0, len(entries)]]
        else:
            new, ranges = entries, [[known, len(entries)]]
        self.table += new
        return new, ranges if entries else []

    def _entry(self, entry: Any) -> Any:
        """Returns an input entry: the number of the item that it is, or the entry itself."""
        seq, raw = self.known.get(_identity(entry), (0, {}))
        return seq if seq and as_input_item(raw) == entry else entry

    # --- items --------------------------------------------------------------------------

    def _item(self, kind: str, raw: Raw, **body: Any) -> int:
        seq = self._add("item", {"type": kind, "raw": raw, **body})
        self.items.append(seq)
        self.known.setdefault(_identity(raw), (seq, raw))
        return seq

    def _output(self, number: int, call: Step, raw: Raw) -> int:
        kind = str(raw.get("type"))
        named = ITEM_TYPES.get(kind, "tool_call_item")
        if self._is_handoff(raw):
            named = "handoff_call_item"
        seq = self._item(named, raw, agent=call.agent, call=number)
        self.last_text = seq if kind == "message" else self.last_text
        return seq

    def _is_handoff(self, raw: Raw) -> bool:
        name = str(raw.get("name"))
        executed = any(tool.name == name for tool in self.tools)
        return (
            raw.get("type") == "function_call"
            and not executed
            and name.startswith("transfer_to_")
        )

    def _executions(
        self, tools: list[Step], asked: list[Raw], asker: str | None
    ) -> None:
        """Writes the outputs of calls in order, then executions that no call is known of."""
        left = list(tools)
        calls = [raw for raw in asked if raw.get("type") in CALL_OF_OUTPUT.values()]
        if calls:
            self.last_text, self.waiting = None, False
        for raw in calls:
            tool = self._executed(raw, left)
            self._answer(raw, tool, asker)
        for tool in left:
            self._unasked(tool)

    def _executed(self, raw: Raw, left: list[Step]) -> Step | None:
        """Takes the execution of a call out of those that are left."""
        call_id, name = raw.get("call_id"), raw.get("name")
        exact = [tool for tool in left if tool.call_id and tool.call_id == call_id]
        alike = [
            tool
            for tool in left
            if tool.name == name
            and not tool.call_id
            and _same(tool.arguments, raw.get("arguments"))
        ]
        answer = self.answers.get(str(call_id))
        told = [
            tool
            for tool in alike
            if answer is not None and tool.result == answer.get("output")
        ]
        found = exact or told or alike
        if answer is None and len({str(tool.result) for tool in found}) > 1:
            self.lacks.append("which of several equal calls gave which output")
        if not found:
            return None
        left.remove(found[0])
        self.draft.call_ids[found[0].row.span_id] = str(call_id or "")
        return found[0]

    def _answer(self, raw: Raw, tool: Step | None, asker: str | None) -> None:
        output = self.answers.get(str(raw.get("call_id")))
        if output is None and tool is not None and tool.result is not None:
            output = content.call_output(raw.get("call_id"), tool.result)
        if output is None:
            self._unanswered(raw, tool)
            return
        kind, agent, extra = "tool_call_output_item", asker, None
        if self._is_handoff(raw):
            kind = "handoff_output_item"
            done = self.handoffs.pop(0) if self.handoffs else None
            agent = done.name if done else asker
            target = done.target if done and done.target != "unknown" else None
            named = {
                "source_agent": agent,
                "target_agent": target or self._next_agent(raw),
            }
            extra = {key: value for key, value in named.items() if value} or None
        self._item(kind, output, agent=agent, extra=extra, tool=self._ran(tool))

    def _next_agent(self, raw: Raw) -> str | None:
        """Returns who called a model after a call was made: the one that took over."""
        asked = next(
            (
                n
                for n, call in enumerate(self.calls)
                if any(made is raw for made in call.output or ())
            ),
            len(self.calls),
        )
        return next((call.agent for call in self.calls[asked + 1 :]), None)

    def _ran(self, tool: Step | None) -> Raw | None:
        if tool is None:
            return None
        times = [self._micros(tool.row.start_ns), self._micros(tool.row.end_ns)]
        said: Raw = {"ran": times}
        return {**said, "error": _error(tool)} if tool.error else said

    def _unanswered(self, raw: Raw, tool: Step | None) -> None:
        """A call without output: it failed, or nobody knows how it went on."""
        if tool is None or tool.error is None:
            self.waiting = True
            return
        self._add("tool", self._execution(tool, raw.get("call_id")))

    def _execution(self, tool: Step, call_id: Any) -> Raw:
        return {
            "call": call_id,
            "name": tool.name,
            "agent": tool.agent,
            "arguments": tool.arguments,
            "start": self._micros(tool.row.start_ns),
            "end": self._micros(tool.row.end_ns),
            "status": "failed",
            "error": _error(tool),
        }

    def _unasked(self, tool: Step) -> None:
        """An execution whose call is in no output: its span's id stands for the call's."""
        call_id = tool.call_id or tool.row.span_id
        self.draft.call_ids[tool.row.span_id] = call_id
        if tool.result is None and tool.error is not None:
            self._add("tool", self._execution(tool, call_id))
            return
        if tool.call_id is None:
            self.lacks.append(
                "ids of some tool calls: the ids of their spans stand for them"
            )
        raw = content.function_call(call_id, tool.name, tool.arguments)
        self._item("tool_call_item", raw, agent=tool.agent)
        self.last_text = None
        if tool.result is not None:
            output = content.call_output(call_id, tool.result)
            self._item(
                "tool_call_output_item", output, agent=tool.agent, tool=self._ran(tool)
            )


MADE_BY_MODEL: Final = frozenset({*ITEM_TYPES, *CALL_OF_OUTPUT.values()})


def with_outputs(calls: list[Step]) -> list[Step]:
    """Returns model calls; an output that is not there is read from the next call's input.

    What stands there after this call's own input, up to the first answer of a tool, the model made.
    """
    for call, later in pairwise(calls):
        sent, known = later.input or [], call.input or []
        if (
            call.output is not None
            or call.error is not None
            or sent[: len(known)] != known
        ):
            continue
        made = list(takewhile(_made_by_model, sent[len(known) :])) if known else []
        if made:
            call.output = made
            call.lacks.append(
                "some outputs of models: they were read from the next call's input"
            )
    return calls


def _made_by_model(entry: Any) -> bool:
    return str(mapping(entry).get("type")) in MADE_BY_MODEL


def _answers(calls: Iterable[Step]) -> dict[str, Raw]:
    """Returns call id -> the output that a model was sent for it."""
    found: dict[str, Raw] = {}
    for call in calls:
        for entry in call.input or ():
            known = mapping(entry)
            call_id = known.get("call_id")
            if known.get("type") in CALL_OF_OUTPUT and isinstance(call_id, str):
                found.setdefault(call_id, known)
    return found


def _identity(entry: Any) -> tuple[str, str]:
    """Returns what tells an item from others: its type, and its id or its whole content."""
    known = mapping(entry)
    name = text(known.get("id")) or text(known.get("call_id")) or canonical.dumps(entry)
    return str(known.get("type") or ""), name


def _same(left: str | None, right: Any) -> bool:
    """Whether two texts of arguments say the same."""
    if left == right or left is None:
        return True
    given = parsed(left)
    return given is not None and given == parsed(right)


def _given(first: list[Any] | None) -> Any:
    """Returns what the caller gave: one message of the user was a text, most likely."""
    if first is not None and len(first) == 1:
        known = mapping(first[0])
        if (
            set(known) == {"content", "role"}
            and known["role"] == "user"
            and isinstance(known["content"], str)
        ):
            return known["content"]
    return first


def _error(step: Step) -> Raw:
    kind, message = step.error or ("", "")
    said: Raw = {"type": kind, "message": message}
    return {**said, "data": step.error_data} if step.error_data else said


def _telling(failed: list[Step], tools: list[Step]) -> Raw:
    """Returns the error of a run: the first that says something, a tool's where no other does."""
    known = [step for step in (*failed, *tools) if step.error]
    return _error(
        next((step for step in known if step.error and any(step.error)), known[0])
    )


def write(
    drafts: Iterable[Draft], recorder: str, lacks: Iterable[str]
) -> dict[str, list[Record]]:
    """Returns the records of the runs of one trace: run id -> records.

    Args:
        drafts: Its runs, each before those that its tools started.
        recorder: Who recorded it.
        lacks: What that recorder never writes.
    """
    runs = list(drafts)
    found: dict[str, list[Record]] = {}
    for draft in runs:
        children = [child for child in runs if child.parent is draft]
        started: Counter[int] = Counter()
        for child in children:
            child.place = started[id(child.tool)]
            started[id(child.tool)] += 1
        found[draft.run_id] = RunRecords(draft, recorder, lacks).write(
            child.run_id for child in children
        )
    return found
