"""A ledger as one line of JSON, and back: its verified records and its gaps, so that nothing is lost.

{"format": "itemtrace-ledger/1", "trace_ids": […], "runs": {run: [[seq, kind, body], …]}, "gaps": […]}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG, Escaped
from itemtrace.codec.record import Record, make
from itemtrace.errors import NotATrace, UnsupportedVersion
from itemtrace.ledger.gaps import Gap
from itemtrace.ledger.model import Ledger, build


if TYPE_CHECKING:
    from collections.abc import Iterator


FORMAT: Final = "itemtrace-ledger/1"


def dumps(ledger: Ledger) -> str:
    """Returns a ledger as one line of JSON."""
    records = [record for run in ledger.all_runs() for record in run.records]
    by_run: dict[str, list[list[Any]]] = {}
    for record in (*records, *ledger.traces):
        by_run.setdefault(record.run, []).append(
            [record.seq, record.kind, _body(record)]
        )
    return canonical.dumps(
        {
            "format": FORMAT,
            "trace_ids": list(ledger.trace_ids),
            "runs": by_run,
            "gaps": [gap.to_json() for gap in ledger.gaps],
        }
    )


def _escaped(value: dict[str, Any]) -> dict[str, Any]:
    return Escaped(value) if TAG in value else value


def _body(record: Record) -> Any:
    """Returns a body as JSON; as text where JSON would not come back byte for byte."""
    value = json.loads(record.body, object_hook=_escaped)
    return value if canonical.dumps(value) == record.body else record.body


def loads(line: str) -> Ledger:
    """Returns the ledger of a line.

    Raises:
        NotATrace: The line is no ledger.
        UnsupportedVersion: A newer itemtrace wrote it.
    """
    try:
        value = json.loads(line, object_hook=_escaped)
        form = value["format"]
        if form != FORMAT and str(form).startswith("itemtrace-ledger/"):
            msg = f"a ledger of format {form!r}; this itemtrace reads {FORMAT!r}"
            raise UnsupportedVersion(msg)
        return _ledger(value)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        msg = f"this is no ledger: {error!r}; expected a line that `itemtrace rebuild` wrote"
        raise NotATrace(msg) from error


def _ledger(value: dict[str, Any]) -> Ledger:
    if value["format"] != FORMAT:
        msg = f"its format is {value['format']!r}"
        raise ValueError(msg)
    runs: dict[str, list[Record]] = {}
    traces: list[Record] = []
    for run_id, entries in value["runs"].items():
        for seq, kind, body in entries:
            text = body if isinstance(body, str) else canonical.dumps(body)
            record = make(kind, run_id, seq, text)
            if kind == "trace":
                traces.append(record)
            else:
                runs.setdefault(run_id, []).append(record)
    gaps = [Gap.from_json(gap) for gap in value["gaps"]]
    return build(runs, gaps=gaps, trace_ids=value["trace_ids"], traces=traces)


def read(path: str | Path) -> Iterator[Ledger]:
    """Yields the ledgers of a file of JSON lines.

    Raises:
        NotATrace: A line is no ledger.
    """
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield loads(line)
