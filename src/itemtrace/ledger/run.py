"""A run, with the surface of the SDK's result; its verified records are the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from itemtrace.codec.canonical import Placeholder
from itemtrace.ledger import assembly, tools, turns
from itemtrace.ledger import history as histories
from itemtrace.ledger import usage as usages
from itemtrace.ledger.calls import (
    ErrorInfo,
    ModelCall,
    ModelResponse,
    error_of,
    model_calls,
)
from itemtrace.ledger.entries import resolve_all, resolve_deep, seqs
from itemtrace.ledger.guardrails import GuardrailResult, guardrail_results
from itemtrace.ledger.items import Item, lost
from itemtrace.ledger.parts import mapping, part, parts, sequence


if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itemtrace.codec.record import Record
    from itemtrace.ledger.book import Book
    from itemtrace.ledger.gaps import Gap
    from itemtrace.ledger.usage import Usage


ListMode = Literal["preserve_all", "normalized"]


@dataclass(frozen=True, slots=True)
class AgentToolInvocation:
    """The tool call that started a nested run, as the SDK's result names it."""

    tool_name: str | None
    tool_call_id: str | None
    tool_arguments: Any


class Run:
    """One call of the SDK's `Runner`, as it was recorded.

    Attributes:
        run_id: 16 hex digits.
        records: Its records in order.
        book: The index of its ledger.
        own_gaps: What it lacks itself, nested runs left aside.
    """

    def __init__(
        self,
        run_id: str,
        records: Sequence[Record],
        book: Book,
        gaps: Sequence[Gap] = (),
    ) -> None:
        self.run_id = run_id
        self.records = tuple(records)
        self.book = book
        self.own_gaps = tuple(gaps)
        self._bodies: dict[str, list[tuple[int, dict[str, Any]]]] = {}

    def __repr__(self) -> str:
        return (
            f"<Run {self.run_id} of {self.agent!r}: {self.status}, "
            f"{len(self.new_items)} items, {len(self.gaps)} gaps>"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return (
            self.run_id == other.run_id
            and self.records == other.records
            and self.own_gaps == other.own_gaps
            and self.runs == other.runs
        )

    __hash__ = None  # type: ignore[assignment] # a run is compared by its content

    # --- records ------------------------------------------------------------

    def bodies(self, kind: str) -> list[tuple[int, dict[str, Any]]]:
        """Returns seq and body of the records of one kind, in order."""
        found = self._bodies.get(kind)
        if found is None:
            found = [(r.seq, self.book.body(r)) for r in self.records if r.kind == kind]
            self._bodies[kind] = found
        return found

    def _first(self, kind: str) -> dict[str, Any]:
        return next((body for _, body in self.bodies(kind)), dict[str, Any]())

    @cached_property
    def begin(self) -> dict[str, Any]:
        """The body of the `begin` record; empty where it is lost."""
        return self._first("begin")

    @cached_property
    def end(self) -> dict[str, Any]:
        """The body of the `end` record; empty where there is none."""
        return self._first("end")

    @cached_property
    def seal(self) -> dict[str, Any]:
        """The body of the `seal`; empty where there is none."""
        return self._first("seal")

    @property
    def sealed(self) -> bool:
        """Whether the run's records were closed by a seal."""
        return bool(self.seal)

    def time_of(self, micros: Any) -> int:
        """Returns nanoseconds since the epoch of a time in a record; 0 where it is not known."""
        return (
            self.started_ns + micros * 1000
            if isinstance(micros, int) and self.started_ns
            else 0
        )

    # --- what it was --------------------------------------------------------

    @property
    def agent(self) -> str | None:
        """Name of the starting agent."""
        found = self.begin.get("agent")
        if found is None:
            found = next((call.agent for call in self.model_calls), None)
        return found

    @property
    def trace_id(self) -> str | None:
        """The SDK's trace id."""
        return self._trace.get("id")

    @property
    def workflow(self) -> str | None:
        """The SDK's workflow name."""
        return self._trace.get("name")

    @property
    def group(self) -> str | None:
        """The SDK's group id: the conversation that the run belongs to."""
        return self._trace.get("group")

    @property
    def metadata(self) -> dict[str, Any]:
        """The trace's metadata."""
        return part(self._trace, "metadata")

    @property
    def _trace(self) -> dict[str, Any]:
        return part(self.begin, "trace")

    @property
    def versions(self) -> tuple[str | None, str | None]:
        """Versions of itemtrace and of openai-agents that recorded the run."""
        return self.begin.get("version"), self.begin.get("sdk")

    @property
    def capture(self) -> str | None:
        """`full`, or `spans` where only tracing callbacks were seen."""
        return self.begin.get("capture")

    @property
    def recorded_by(self) -> str:
        """Who recorded the run: itemtrace, or another recorder whose spans it was read from."""
        version = self.begin.get("version")
        return str(
            self.begin.get("recorded_by") or f"itemtrace {version or ''}".rstrip()
        )

    @property
    def options(self) -> dict[str, Any]:
        """What the runner was given, such as `max_turns`."""
        return part(self.begin, "options")

    @property
    def streamed(self) -> bool:
        """Whether it was a streamed run."""
        return self.begin.get("streamed") is True

    @property
    def started_ns(self) -> int:
        """Nanoseconds since the epoch; 0 when unknown."""
        return usages.number(self.begin.get("started"))

    @property
    def ended_ns(self) -> int:
        """As `started_ns`."""
        return self.time_of(self.end.get("end"))

    @property
    def status(self) -> str:
        """`completed`, `interrupted`, `failed`, `cancelled`; `unsealed` without an end."""
        return str(self.end.get("status") or "unsealed")

    @property
    def error(self) -> ErrorInfo | None:
        """What ended a failed run."""
        return error_of(self.end.get("error"))

    # --- its place ----------------------------------------------------------

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that its tools started, in order."""
        return tuple(self.book.nested.get(self.run_id, ()))

    @property
    def nested(self) -> bool:
        """Whether another run started it."""
        return "parent" in self.begin

    @property
    def parent(self) -> Run | None:
        """The run that started it; None for a root, and where it is lost."""
        return self.book.runs.get(part(self.begin, "parent").get("run", ""))

    @property
    def parent_call_id(self) -> str | None:
        """Id of the tool call that started it."""
        return part(self.begin, "parent").get("call")

    @property
    def agent_tool_invocation(self) -> AgentToolInvocation | None:
        """The tool call that started it, as the SDK's result names it; None for a root."""
        if self.parent_call_id is None:
            return None
        calls = self.parent.tool_calls if self.parent else ()
        call = next(
            (call for call in calls if call.call_id == self.parent_call_id), None
        )
        return AgentToolInvocation(
            call.name if call else None,
            self.parent_call_id,
            call.arguments if call else None,
        )

    @property
    def resumed(self) -> Run | None:
        """The run that it resumes; None where there is none in this ledger."""
        found = part(self.begin, "resumed")
        return self.book.runs.get(found["run"]) if "run" in found else self._waited()

    def _waited(self) -> Run | None:
        """Returns the run of another process that this one goes on with: same trace, same calls."""
        decided = {approval.call_id for approval in self.approvals if not approval.item}
        waiting = [
            run
            for run in (self.book.runs.values() if decided else ())
            if run.status == "interrupted"
            and run.started_ns < self.started_ns
            and (run.trace_id, run.parent_call_id)
            == (self.trace_id, self.parent_call_id)
            and any(item.call_id in decided for item in run.interruptions)
        ]
        return max(waiting, key=lambda run: run.started_ns, default=None)

    @property
    def chained_to(self) -> Run | None:
        """The run whose history a server put in front of this one; None where there is none here."""
        return histories.chained_to(self)

    @property
    def starts_elsewhere(self) -> str | None:
        """What a server had before this run and this ledger lacks, such as `response resp_1`."""
        return histories.starts_elsewhere(self)

    @property
    def history(self) -> list[Any]:
        """The input lists of the runs in its server-managed chain, its own last, as one list."""
        return histories.history(self)

    @cached_property
    def state(self) -> Any:
        """The SDK's `RunState` as JSON, where the run was interrupted and it was kept; else None."""
        return resolve_deep(self.end.get("state"), self)

    @property
    def resumed_by(self) -> tuple[Run, ...]:
        """The runs of this ledger that resume it."""
        return tuple(
            run
            for run in self.book.runs.values()
            if "resumed" in run.begin and run.resumed is self
        )

    # --- items --------------------------------------------------------------

    @cached_property
    def _items(self) -> dict[int, Item]:
        return assembly.items(self)

    def item_at(self, seq: Any) -> Item | None:
        """Returns the item of a record; None where that record is none or lost."""
        return self._items.get(seq) if isinstance(seq, int) else None

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Every item that was recorded, in order of its record; those outside `new_items` too."""
        replaced = {body.get("replaces") for _, body in self.bodies("item")}
        ended = seqs(parts(self.end, "items"), len(self.records))
        replaced -= set(ended)  # a filter changed a copy
        return tuple(item for seq, item in self._items.items() if seq not in replaced)

    @cached_property
    def new_items(self) -> tuple[Item, ...]:
        """The items of the SDK's result, in its order."""
        return assembly.new_items(self, self._items)

    @property
    def interruptions(self) -> tuple[Item, ...]:
        """The pending approvals of an interrupted run."""
        wanted = parts(self.end, "interruptions")
        return tuple(self.item_at(seq) or lost(seq, self.run_id) for seq in wanted)

    # --- the SDK's result ---------------------------------------------------

    @cached_property
    def input(self) -> Any:
        """The result's input: a string or a list of input items."""
        return self._given(self.end.get("input", self.begin.get("input")))

    @cached_property
    def given_input(self) -> Any:
        """What the caller gave; the SDK's `input` where no handoff rewrote it."""
        return self._given(self.begin.get("input"))

    def _given(self, value: Any) -> Any:
        return resolve_all(sequence(value), self) if isinstance(value, list) else value

    @cached_property
    def raw_responses(self) -> tuple[ModelResponse, ...]:
        """The model responses of the SDK's result."""
        answered = {call.n: call.response for call in self.model_calls if call.response}
        wanted = self.end.get("responses")
        if wanted is None:
            return tuple(answered.values())
        return tuple(answered.get(n) or ModelResponse() for n in wanted)

    @property
    def last_response_id(self) -> str | None:
        """Id of the last response."""
        return self.raw_responses[-1].response_id if self.raw_responses else None

    @cached_property
    def final_output(self) -> Any:
        """The run's result; typed objects as their fields."""
        final = part(self.end, "final")
        if "text" not in final:
            return final.get("value")
        item = self.item_at(final["text"]) or lost(final["text"], self.run_id)
        content = item.raw if item.lost else mapping(item.raw).get("content")
        if isinstance(content, Placeholder):
            return content
        texts = [
            entry.get("text")
            for entry in map(mapping, sequence(content))
            if entry.get("type") == "output_text"
        ]
        withheld = next((text for text in texts if isinstance(text, Placeholder)), None)
        return (
            "".join(str(text or "") for text in texts) if withheld is None else withheld
        )

    @property
    def final_output_type(self) -> str | None:
        """The class of the final output; None where there is no output."""
        final = part(self.end, "final")
        return "str" if "text" in final else final.get("type")

    @property
    def last_agent(self) -> str | None:
        """Name of the agent that ran last."""
        found = self.end.get("last_agent")
        if found is None and not self.end and self.model_calls:
            found = self.model_calls[-1].agent
        return found

    @property
    def input_guardrail_results(self) -> tuple[GuardrailResult, ...]:
        """Results of the input guardrails."""
        return guardrail_results(self, "input")

    @property
    def output_guardrail_results(self) -> tuple[GuardrailResult, ...]:
        """Results of the output guardrails."""
        return guardrail_results(self, "output")

    @property
    def tool_input_guardrail_results(self) -> tuple[GuardrailResult, ...]:
        """Results of the guardrails on tool arguments."""
        return guardrail_results(self, "tool_input")

    @property
    def tool_output_guardrail_results(self) -> tuple[GuardrailResult, ...]:
        """Results of the guardrails on tool outputs."""
        return guardrail_results(self, "tool_output")

    def to_input_list(self, mode: ListMode = "preserve_all") -> list[Any]:
        """Returns input and items as one input list, like the SDK's method of this name.

        Args:
            mode: `normalized` is what a next run would be sent after handoffs that rewrote the
                history; elsewhere both are the same.
        """
        lists = part(self.end, "lists")
        if mode in lists:
            return resolve_all(lists[mode], self)
        given = self.input
        if given is None:
            start: list[Any] = []
        else:
            start = (
                sequence(given)
                if isinstance(given, list)
                else [{"content": given, "role": "user"}]
            )
        sent = [
            i.to_input_item() for i in self.new_items if i.type != "tool_approval_item"
        ]
        return [*start, *sent]

    # --- usage --------------------------------------------------------------

    @cached_property
    def usage(self) -> Usage:
        """The run's usage as the SDK counts it, nested runs included; without an end, what is known."""
        if "usage" not in self.end:
            return turns.usage_of([c for c in turns.all_calls(self) if not c.recalled])
        entries = parts(self.end, "entries")
        if self.end.get("entries") is True:
            entries = [
                list(usage)[1:]
                for _, body in self.bodies("call")
                if (usage := part(body, "response").get("usage"))
                and not body.get("recalled")
            ]
        return usages.from_body(self.end["usage"], entries)

    def usage_by(self, key: turns.UsageKey) -> dict[str, Usage]:
        """Returns usage by `agent`, `model`, `tool` or `turn`, nested runs included."""
        return turns.usage_by(self, key)

    # --- derived ------------------------------------------------------------

    @cached_property
    def model_calls(self) -> tuple[ModelCall, ...]:
        """The calls of models, in order."""
        return model_calls(self)

    @cached_property
    def tool_calls(self) -> tuple[tools.ToolCall, ...]:
        """The calls of tools, in the order in which the model made them."""
        return tools.tool_calls(self)

    @cached_property
    def handoffs(self) -> tuple[tools.Handoff, ...]:
        """The handoffs, in order."""
        return tools.handoffs(self)

    @cached_property
    def approvals(self) -> tuple[tools.Approval, ...]:
        """The decisions on calls that had to be approved, pending ones included."""
        return tools.approvals(self)

    @cached_property
    def turns(self) -> tuple[turns.Turn, ...]:
        """The turns, in order."""
        return turns.turns(self)

    # --- gaps ---------------------------------------------------------------

    def all_runs(self) -> Iterator[Run]:
        """Yields this run and all nested ones, each before its own."""
        waiting: list[Run] = [self]
        while waiting:
            run = waiting.pop()
            yield run
            waiting.extend(reversed(run.runs))

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What the run lacks, nested runs included."""
        return tuple(gap for run in self.all_runs() for gap in run.own_gaps)

    @property
    def exact(self) -> bool:
        """Whether nothing is lost, in nested runs neither."""
        return not self.gaps
