# pyright: basic
# Raw items and SDK objects are JSON values and Any at this edge
"""One run while it is being recorded: its records in order, written as it goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from itemtrace.capture.agents import Described, describe
from itemtrace.capture.inputs import InputTable
from itemtrace.capture.items import (
    MADE_BY_SDK,
    Recorded,
    class_name,
    dump,
    entries,
    usage,
    usual_type,
)
from itemtrace.capture.records import RecordLog
from itemtrace.codec.canonical import TAG, Escaped
from itemtrace.codec.items import as_input_item


if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemtrace.capture.privacy import Privacy
    from itemtrace.capture.records import Emit, TraceShared
    from itemtrace.codec.record import Record


CONTENT_EXTRA: Final = frozenset({"output", "custom_data"})
"""What the SDK's items hold beside their raw item and is content; descriptions are code."""


@dataclass
class Call:
    """A model call between its start and its end."""

    n: int
    agent: Any
    start: int
    body: dict[str, Any]
    new_input: list[Any]
    full_input: list[Any]
    system: str | None
    attempts: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, Any] | None = None
    counted: list[Any] | None = None


class Frame(RecordLog):
    """Records one run.

    The frame knows nothing of OpenTelemetry: it gives records, in order, and the caller puts them
    on spans. Every method is called from inside the guard.

    Attributes:
        privacy: What of it may be recorded.
        recorded: Its items so far.
        calls: How many model calls it has had.
    """

    def __init__(
        self, run_id: str, shared: TraceShared, privacy: Privacy, *, ascii: bool
    ) -> None:
        super().__init__(run_id, shared, ascii=ascii)
        self.privacy = privacy
        self.children: list[str] = []
        self.given_input: Any = None
        self.recorded: list[Recorded] = []
        self.unseen: list[Recorded] = []
        self.call: Call | None = None
        self.responses: dict[int, tuple[int, Any]] = {}
        self.usages: list[list[Any]] = []
        self.calls = 0
        self.sources: dict[int, list[Recorded]] = {}
        self.outputs: dict[str, list[Recorded]] = {}
        self._table = InputTable()
        self._agents: dict[int, Described] = {}
        self._requests: dict[Any, int] = {}

    # --- the run ------------------------------------------------------------

    def make(self, kind: str, body: dict[str, Any]) -> list[Record]:
        """Returns the records of a body; it says so where a redaction changed something in it."""
        if self.privacy.touched:
            self.privacy.touched = False
            body = {**body, "redacted": True}
        return super().make(kind, body)

    def begin(self, body: dict[str, Any]) -> list[Record]:
        """Returns the run's first records."""
        self.given_input = body.get("input")
        body = {key: value for key, value in body.items() if value is not None}
        if "input" in body:
            body["input"] = self._given(body["input"])
        return self.make("begin", body)

    def _given(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.privacy.text(value)
        if isinstance(value, list):
            return [self.privacy.item(item)[0] for item in value]
        return self.privacy.value(value)

    # --- model calls --------------------------------------------------------

    def call_started(
        self, agent: Any, system: str | None, items: Any, emit: Emit
    ) -> Call:
        """Opens a model call: what the model is about to see."""
        given = items if isinstance(items, list) else [items]
        body: dict[str, Any] = {"n": self.calls, "agent": _name(agent)}
        provisional: list[Record] = []
        fresh: list[Any] = []

        def entry(item: Any) -> Any:
            fresh.append(item)
            return self._entry(item, provisional)

        new, ranges = self._table.add(given, entry)
        if provisional:
            emit("tool_call_output_item", provisional)
        body["input"] = {"new": new}
        if ranges != [[0, len(self._table)]]:
            body["input"]["list"] = ranges
        self.call = Call(
            n=self.calls,
            agent=agent,
            start=self.since(),
            body=body,
            new_input=fresh,
            full_input=given,
            system=system,
        )
        self.calls += 1
        return self.call

    def call_ended(
        self, call: Call, response: Any, more: dict[str, Any]
    ) -> tuple[list[list[Record]], list[Record]]:
        """Closes a model call.

        Args:
            call: The open call.
            response: The SDK's `ModelResponse`, or None where there is none.
            more: Further keys of the body (`model`, `api`, `error`, ...).

        Returns:
            The records of each output item, and those of the call itself.
        """
        if self.call is call:
            self.call = None
        items: list[list[Record]] = []
        before: list[Record] = []
        body = dict(call.body)
        body["start"] = call.start
        body["end"] = self.since()
        body.update(self._request(call, more, before))
        if call.attempts:
            body["attempts"] = call.attempts
        if response is not None:
            body["response"], items = self._response(response, call)
            if more.get("previous") is not None:
                body["response"]["previous"] = more["previous"]
        return items, [*before, *self.make("call", body)]

    def _request(
        self, call: Call, more: dict[str, Any], records: list[Record]
    ) -> dict[str, Any]:
        """Returns what was asked; the number of an earlier call where all of it is the same."""
        _, _, settings, tools = self.known_agent(call.agent)
        body = {"error": more.get("error")} if more.get("error") else {}
        key = (id(call.agent), call.system, more.get("model"), more.get("api"))
        earlier = self._requests.setdefault(key, call.n)
        if earlier != call.n:
            return {"as": earlier, **body}
        system = call.system
        if system is not None:
            public = self.privacy.value(system)
            body["system"] = (
                self.shared_text(system, records) if public is system else public
            )
        if settings:
            body["settings"] = self.shared_text(settings, records)
        if tools and self.privacy.content:
            body["tools"] = self.shared_text(tools, records)
        body.update({k: more[k] for k in ("model", "api") if more.get(k)})
        return body

    def _response(
        self, response: Any, call: Call
    ) -> tuple[dict[str, Any], list[list[Record]]]:
        names = self.known_agent(call.agent)[1]
        name = _name(call.agent)
        items = []
        output = []
        for raw in response.output:
            recorded, records = self.item(
                raw, usual_type(raw, names), name, call=call.n
            )
            self.unseen.append(recorded)
            items.append(records)
            output.append(recorded.seq)
        counted = call.counted or usage(getattr(response, "usage", None))
        if counted:
            self.usages.append(counted)
        body = {
            "id": response.response_id,
            "request_id": getattr(response, "request_id", None),
            "usage": counted,
            "entries": entries(response.usage) or None,
            "raw_usage": getattr(response, "raw_usage", None),
            "output": output,
        }
        self.responses[id(response)] = (call.n, response)
        return {key: value for key, value in body.items() if value is not None}, items

    def recall(self, response: Any, agent: str | None) -> tuple[int, list[Record]]:
        """Records a response that this run did not make: one from the state it resumed from."""
        output = []
        records: list[Record] = []
        for raw in response.output:
            known = self.find(raw)
            if known is None:
                known, more = self.item(raw, usual_type(raw, frozenset()), agent)
                records += more
            output.append(known.seq)
        call = self.calls
        self.calls += 1
        body = {
            "id": response.response_id,
            "request_id": getattr(response, "request_id", None),
            "usage": usage(response.usage),
            "entries": entries(response.usage) or None,
            "raw_usage": getattr(response, "raw_usage", None),
            "output": output,
        }
        self.responses[id(response)] = (call, response)
        clean = {key: value for key, value in body.items() if value is not None}
        return call, [
            *records,
            *self.make("call", {"n": call, "recalled": True, "response": clean}),
        ]

    # --- items --------------------------------------------------------------

    def item(  # noqa: PLR0913 - one keyword for each key of the body
        self,
        raw: Any,
        type: str | None,
        agent: str | None,
        *,
        call: int | None = None,
        extra: dict[str, Any] | None = None,
        tool: dict[str, Any] | None = None,
        output: Any = None,
    ) -> tuple[Recorded, list[Record]]:
        """Records one item."""
        mapping = dump(raw)
        public, redacted = self.privacy.item(mapping)
        kind = class_name(raw) if type is not None else None
        body = {
            "type": type,
            "agent": agent if call is None else None,
            "raw": public,
            "class": kind,
            "at": self.since() if call is None and tool is None else None,
            "call": call,
            "extra": self.public_extra(extra),
            "tool": tool,
            "redacted": True if redacted else None,
            "replaces": self._replaced(mapping),
        }
        records = self.make(
            "item", {key: value for key, value in body.items() if value is not None}
        )
        sent = mapping
        if isinstance(mapping, dict):
            sent = as_input_item(
                mapping,
                local_output=isinstance(raw, dict) and type == "tool_call_output_item",
            )
        recorded = Recorded(
            seq=records[0].seq,
            raw=mapping,
            source=raw,
            type=type,
            agent=agent,
            sent=sent,
            extra=extra or {},
            output=output,
            call=call,
            kind=kind,
        )
        self.recorded.append(recorded)
        self.sources.setdefault(id(raw), []).append(recorded)
        if isinstance(mapping, dict) and mapping.get("type") in MADE_BY_SDK:
            key = mapping.get("call_id") or mapping.get("approval_request_id")
            self.outputs.setdefault(str(key), []).append(recorded)
        return recorded, records

    def public_extra(self, extra: dict[str, Any] | None) -> dict[str, Any] | None:
        """Returns what an item holds beside its raw item, as it may be recorded."""
        if not extra or self.privacy.whole:
            return extra or None
        return {
            key: self.privacy.value(value) if key in CONTENT_EXTRA else value
            for key, value in extra.items()
        }

    def _replaced(self, mapping: Any) -> int | None:
        """Returns the record that said otherwise of the same output, before the SDK's own was seen."""
        if not isinstance(mapping, dict) or mapping.get("type") not in MADE_BY_SDK:
            return None
        for recorded in self.outputs.get(str(mapping.get("call_id")), ()):
            if recorded.predicted:
                recorded.predicted = False
                self.unseen = [entry for entry in self.unseen if entry is not recorded]
                return recorded.seq
        return None

    def latest_calls(self) -> list[Recorded]:
        """Returns the items of the latest response, in order."""
        found: list[Recorded] = []
        for recorded in reversed(self.recorded):
            if recorded.call is None:
                continue
            if recorded.call != self.calls - 1:
                break
            found.append(recorded)
        return found[::-1]

    def forget(self) -> None:
        """Lets go of the run's items when it has ended."""
        self.recorded, self.unseen, self.usages = [], [], []
        self.sources, self.outputs, self.responses, self._agents = {}, {}, {}, {}
        self._table, self.given_input, self.call = InputTable(), None, None

    def find(self, raw: Any) -> Recorded | None:
        """Returns the record of an SDK object, by identity."""
        found = self.sources.get(id(raw))
        return next((entry for entry in found or () if entry.source is raw), None)

    def _entry(self, item: Any, provisional: list[Record]) -> Any:
        """Returns the entry of an item that no earlier call saw."""
        for place, recorded in enumerate(self.unseen):
            if recorded.sent == item:
                recorded.predicted = False
                del self.unseen[place]
                return recorded.seq
        if not isinstance(item, dict):
            return self.privacy.item(dump(item))[0]
        for place, recorded in enumerate(self.unseen):
            if isinstance(recorded.sent, dict) and _is_part(item, recorded.sent):
                del self.unseen[place]
                return _ref(
                    recorded.seq, [key for key in recorded.sent if key not in item]
                )
        if self.calls and item.get("type") in MADE_BY_SDK:
            recorded, records = self.item(item, None, None)
            provisional += records
            return recorded.seq
        return self.privacy.item(item)[0]

    # --- agents -------------------------------------------------------------

    def known_agent(self, agent: Any) -> Described:
        """Returns what is recorded of an agent; looked up once per run."""
        known = self._agents.get(id(agent))
        if known is None:
            known = describe(agent, content=self.privacy.content)
            self._agents[id(agent)] = known
        return known


def _name(agent: Any) -> str | None:
    return agent if isinstance(agent, str) else getattr(agent, "name", None)


def _ref(seq: int, drop: Iterable[str] = ()) -> Escaped:
    reference = Escaped({TAG: "ref", "s": seq})
    if drop:
        reference["drop"] = list(drop)
    return reference


def _is_part(item: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether an entry is a recorded item with some keys left out, in the same order."""
    if len(item) >= len(whole) or item.get("type") != whole.get("type"):
        return False
    kept = [key for key in whole if key in item]
    return kept == list(item) and all(
        whole[key] == value for key, value in item.items()
    )
