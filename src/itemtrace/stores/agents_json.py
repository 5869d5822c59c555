"""What the Agents SDK's own exporter sends, kept in a file: read only.

The payload is `{"data": [...]}` with objects `trace` and `trace.span` (agents/tracing/processors.py);
a file has one payload, a list of such objects, or one payload or object a line.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec.spans import SpanRow
from itemtrace.errors import NotATrace, SourceError
from itemtrace.ledger.parts import is_sequence, mapping, sequence
from itemtrace.stores.base import (
    EVERYTHING,
    Capabilities,
    Query,
    RunSummary,
    Store,
    index_runs,
    register,
    selects_trace,
)


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


OBJECT: Final = re.compile(rb'"object"\s*:\s*"trace(\.span)?"')
SCOPE: Final = "openai-agents"
HEX: Final = re.compile(r"trace_([0-9a-f]{32})")
MOST_BYTES: Final = 1_000_000_000


def is_export(head: bytes, size: int) -> bool:  # noqa: ARG001 - a `Sniff`
    """Whether a file begins like such a payload."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text[:1] in (b"{", b"[") and OBJECT.search(head) is not None


@register("agents-json", sniff=is_export)
class AgentsJsonStore(Store):
    """A file of the SDK's exporter; see the module."""

    def __init__(self, source: str | Path, *, write: bool = False) -> None:
        """Opens the file.

        Raises:
            SourceError: It cannot be read, or was to be written.
        """
        self.path = Path(source).expanduser()
        self.url = str(self.path)
        self.problems: list[str] = []
        self.capabilities = Capabilities(list_runs=False)
        if write:
            msg = f"{self.url} is what the SDK exported, which is only read; write to .jsonl or .db"
            raise SourceError(msg, source=self.url)

    def traces(
        self, query: Query = EVERYTHING
    ) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        """Gives the selected traces, newest start first; see `Store.traces`."""
        return islice(self._selected(query), query.limit)

    def _selected(self, query: Query) -> Iterator[tuple[str, Iterable[SpanRow]]]:
        found: dict[str, list[SpanRow]] = {}
        for item in self._objects():
            row = row_of(item)
            found.setdefault(row.trace_id, []).append(row)
        starts = {
            trace_id: min((row.start_ns for row in rows if row.start_ns), default=0)
            for trace_id, rows in found.items()
        }
        for trace_id in sorted(found, key=lambda key: (-starts[key], key)):
            rows = found[trace_id]
            runs = [draft.summary() for draft in index_runs(rows)]
            if selects_trace(query, trace_id, starts[trace_id], runs):
                yield trace_id, rows

    def runs(self, query: Query = EVERYTHING) -> Iterator[RunSummary]:  # noqa: ARG002 - the contract
        """Gives nothing: no run of ours is in such a file."""
        return iter(())

    def close(self) -> None:
        """Nothing is held."""

    def _objects(self) -> Iterator[dict[str, Any]]:
        try:
            if self.path.stat().st_size > MOST_BYTES:
                msg = (
                    f"{self.url} has more than {MOST_BYTES:,} bytes; split it by trace"
                )
                raise SourceError(msg, source=self.url)
            text = self.path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"{self.url} cannot be read: {error}"
            raise SourceError(msg, source=self.url) from error
        for payload in self._payloads(text):
            yield from objects_in(payload)

    def _payloads(self, text: str) -> Iterator[Any]:
        try:
            yield json.loads(text)
        except ValueError:
            yield from self._lines(text)
        except RecursionError as error:
            msg = f"{self.url} is nested too deep; expected what the SDK exports"
            raise NotATrace(msg, source=self.url) from error

    def _lines(self, text: str) -> Iterator[Any]:
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                self.problems.append(
                    f"{self.url}: line {number} cannot be read: {error}"
                )


def objects_in(payload: Any) -> Iterator[dict[str, Any]]:
    """Yields the traces and spans of a payload."""
    inner = mapping(payload).get("data", payload)
    for item in sequence(inner) if is_sequence(inner) else [payload]:
        if mapping(item).get("object") in ("trace", "trace.span"):
            yield mapping(item)


def row_of(item: dict[str, Any]) -> SpanRow:
    """Returns a trace or span of the SDK as a row; a trace is the root of its spans."""
    is_trace = item["object"] == "trace"
    sdk_id = str(item.get("id" if is_trace else "trace_id"))
    match = HEX.fullmatch(sdk_id)
    trace_id = match[1] if match else _digits(sdk_id, 32)
    if is_trace:
        name = str(item.get("workflow_name") or "trace")
        attributes: dict[str, Any] = {"agents.trace": item}
        return SpanRow(
            trace_id, _digits(sdk_id, 16), name=name, attributes=attributes, scope=SCOPE
        )
    data = mapping(item.get("span_data"))
    error = item.get("error")
    return SpanRow(
        trace_id,
        _digits(str(item.get("id")), 16),
        parent_id=_digits(str(item.get("parent_id") or sdk_id), 16),
        name=str(data.get("name") or data.get("type") or "span"),
        start_ns=moment(item.get("started_at")),
        end_ns=moment(item.get("ended_at")),
        attributes={
            "agents.span_data": data,
            **({"agents.error": error} if error else {}),
        },
        status="ERROR" if error else "UNSET",
        scope=SCOPE,
    )


def _digits(text: str, count: int) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:count]


def moment(value: Any) -> int:
    """Returns nanoseconds since the epoch of an ISO time; 0 for anything else."""
    try:
        found = datetime.fromisoformat(value)
        whole = int(found.replace(microsecond=0).timestamp())
    except (TypeError, ValueError, OverflowError):
        return 0
    return max(whole * 1_000_000_000 + found.microsecond * 1000, 0)
