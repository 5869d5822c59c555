# pyright: basic
# Raw items and bodies of records are JSON values and Any at this edge
"""One run, measured from the records of its ledger, so that both say the same."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from itemtrace import semconv
from itemtrace import semconv_metrics as names
from itemtrace.capture.guard import guarded


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from opentelemetry.context import Context

    from itemtrace.capture.frame import Frame
    from itemtrace.capture.metrics.metrics import Metrics
    from itemtrace.codec.record import Record

DECIDED: Final = ("approved", "rejected")


class RunMetrics:
    """Measures one run; made when it begins.

    Args:
        metrics: Of the installation.
        frame: The run's records.
        agent: The starting agent.
        nested: Whether another run's tool started it.
    """

    def __init__(
        self, metrics: Metrics, frame: Frame, agent: str | None, *, nested: bool
    ) -> None:
        self._metrics = metrics
        self._frame = frame
        self._agent = agent
        self._nested = nested
        self._model: str | None = None
        self._turns: set[int] = set()
        self._marks: set[str] = set()
        self._pending: set[str] = set()

    # --- records --------------------------------------------------------------------

    @guarded("metrics", ledger=False)
    def made(
        self, kind: str, body: Mapping[str, Any], records: Sequence[Record]
    ) -> None:
        """Counts records that were made of a body, and learns what only the body says."""
        add = self._metrics.instruments.add
        for record in records:
            of: dict[str, Any] = {names.RECORD_KIND: record.kind}
            add(names.RECORDS, 1, of)
            if record.kind == "item":
                of[names.ITEM_TYPE] = body.get("type") or "unknown"
            add(names.RECORD_SIZE, len(record.body.encode()), of)
        if body.get("redacted"):
            self._marks.add("redacted")
        learn = _LEARN.get(kind)
        if learn is not None:
            learn(self, body)

    def _begun(self, body: Mapping[str, Any]) -> None:
        if body.get("withheld"):
            self._marks.add("withheld")
        if body.get("capture") == "spans":
            self._gap("not captured")
        for decided in body.get("resumed", {}).get("decisions", ()):
            self._decided(decided)

    def _decided(self, entry: Mapping[str, Any]) -> None:
        decision, call = str(entry.get("decision")), str(entry.get("call"))
        if decision not in DECIDED:
            self._pending.add(call)
            return
        tool: dict[str, Any] = {semconv.GEN_AI_TOOL_NAME: entry.get("tool")}
        attributes = {**tool, names.APPROVAL_DECISION: decision}
        add = self._metrics.instruments.add
        add(names.APPROVALS, 1, attributes)
        add(names.APPROVALS_WAITING, -1, tool)
        seconds = self._metrics.waited(self._frame.shared.sdk_id, call)
        if seconds is not None:
            add(names.APPROVAL_WAIT, seconds, attributes)

    def _called(self, body: Mapping[str, Any]) -> None:
        if body.get("recalled"):
            return
        self._agent = self._agent or body.get("agent")  # spans alone: the first
        self._turns.add(body.get("turn") or body["n"] + 1)
        self._model = body.get("model") or self._model
        attempts = body.get("attempts")
        if attempts:
            whose: dict[str, Any] = {
                semconv.GEN_AI_AGENT_NAME: body.get("agent"),
                semconv.GEN_AI_REQUEST_MODEL: self._model,
            }
            self._metrics.instruments.add(names.RETRIES, len(attempts), whose)

    def _sealed(self, body: Mapping[str, Any]) -> None:
        if body.get("failures"):
            self._gap("not captured")
        for mark in sorted(self._marks):
            self._gap(mark)

    def _gap(self, cause: str) -> None:
        self._metrics.instruments.add(names.GAPS, 1, {names.GAP_CAUSE: cause})

    # --- the end --------------------------------------------------------------------

    @guarded("metrics", ledger=False)
    def ended(self, end: Mapping[str, Any], context: Context) -> None:
        """Measures the run as a whole.

        Args:
            end: The body of the `end` record.
            context: With a span of the run, for exemplars.
        """
        add = self._metrics.instruments.add
        whose: dict[str, Any] = {semconv.GEN_AI_AGENT_NAME: self._agent}
        ended = {**whose, semconv.ITEMTRACE_RUN_STATUS: end["status"]}
        counted = {**ended, names.RUN_NESTED: self._nested, **self._metadata()}
        add(names.RUNS, 1, counted, context)
        add(names.RUN_DURATION, end["end"] / 1e6, ended, context)
        add(names.RUN_TURNS, len(self._turns), whose, context)
        items = Counter(self._items(end))
        add(names.RUN_ITEMS, items.total(), whose, context)
        for (kind, agent), count in items.items():
            item: dict[str, Any] = {names.ITEM_TYPE: kind}
            item[semconv.GEN_AI_AGENT_NAME] = agent
            add(names.ITEMS_BY_TYPE, count, item, context)
        if end["status"] == "interrupted":
            self._ask(end.get("interruptions") or ())

    def _metadata(self) -> dict[str, str]:
        given = self._frame.shared.metadata or {}
        return {
            f"{names.TRACE_METADATA}{key}": str(given[key])
            for key in self._metrics.settings.metadata
            if key in given
        }

    def _items(self, end: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        """Gives type and agent of each item of the result, as the ledger has them."""
        known = {entry.seq: entry for entry in self._frame.recorded}
        fixes = {int(seq): fix for seq, fix in (end.get("fix") or {}).items()}
        for seq in _numbers(end.get("items") or ()):
            entry, fix = known[seq], fixes.get(seq, {})
            kind = fix.get("type") or entry.type
            yield kind or "unknown", fix.get("agent") or entry.agent

    def _ask(self, seqs: Sequence[int]) -> None:
        known = {entry.seq: entry.raw for entry in self._frame.recorded}
        trace = self._frame.shared.sdk_id
        for seq in seqs:
            raw = known.get(seq)
            item = raw if isinstance(raw, dict) else {}
            call = str(item.get("call_id") or item.get("id"))
            if call in self._pending:
                continue  # asked for by an earlier part of the run
            tool: dict[str, Any] = {semconv.GEN_AI_TOOL_NAME: item.get("name")}
            asked = {**tool, names.APPROVAL_DECISION: "requested"}
            self._metrics.instruments.add(names.APPROVALS, 1, asked)
            self._metrics.instruments.add(names.APPROVALS_WAITING, 1, tool)
            self._metrics.asked(trace, call)


def _numbers(ranges: Sequence[int | Sequence[int]]) -> Iterator[int]:
    for entry in ranges:
        if isinstance(entry, int):
            yield entry
        else:
            yield from range(entry[0], entry[0] + entry[1])


_LEARN: Final[dict[str, Callable[[RunMetrics, Mapping[str, Any]], None]]] = {
    "begin": RunMetrics._begun,
    "call": RunMetrics._called,
    "seal": RunMetrics._sealed,
}
"""Kind of a record -> what is learned from its body."""
