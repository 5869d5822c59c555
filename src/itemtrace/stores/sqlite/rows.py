"""A span row as one line of JSON, and back: what the table `spans` holds."""

from __future__ import annotations

import json
from typing import Any, Final

from itemtrace.codec import canonical
from itemtrace.codec.spans import SpanRow


FIELDS: Final = (
    ("span_id", ""),
    ("parent_id", ""),
    ("name", ""),
    ("kind", "INTERNAL"),
    ("start_ns", 0),
    ("end_ns", 0),
    ("status", "UNSET"),
    ("status_message", ""),
    ("dropped_attributes", 0),
)
"""The plain fields of a row and what they are when left out."""

ESCAPED: Final = f'"{canonical.TAG}"'
"""In the text only where a value is escaped: in a string its quotes would be."""

ORIGIN: Final = ("resource", "scope", "scope_version")
"""The fields that many rows of a trace share; they are written once."""


def dump(row: SpanRow) -> str:
    """Returns the text of a row made of plain values, without trace id and origin."""
    body: dict[str, Any] = {}
    for name, default in FIELDS:
        value = getattr(row, name)
        if value != default:
            body[name] = value
    if row.attributes:
        body["attributes"] = row.attributes
    if row.events:
        body["events"] = list(row.events)
    if row.links:
        body["links"] = list(row.links)
    return canonical.dumps(body)


def dump_origin(row: SpanRow) -> str:
    """Returns the text of where a row came from: resource and scope."""
    return canonical.dumps({name: getattr(row, name) for name in ORIGIN})


def load(trace_id: str, text: str, origin: dict[str, Any]) -> SpanRow:
    """Returns the row of a text and its origin."""
    body = load_value(text)
    for name in ("events", "links"):
        if name in body:
            body[name] = tuple(body[name])
    return SpanRow(trace_id, **body, **origin)


def load_value(text: str) -> Any:
    """Returns what a canonical text says; faster than `canonical.loads` on ledger records."""
    value = json.loads(text)
    return canonical.decode(value) if ESCAPED in text else value


def indexable(text: str) -> str:
    r"""Returns text that SQLite takes: lone surrogates as `\ud800`."""
    return text.encode("utf-8", "backslashreplace").decode()
