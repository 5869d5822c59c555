"""What the bodies of records may look like.

A digest says that a body is what was written, not that its writer was sound: spans come from
outside. Only what the views lean on is checked here (docs/format.md, "Bodies").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from itemtrace.codec import canonical
from itemtrace.codec.canonical import MARK, TAG
from itemtrace.errors import CodecError
from itemtrace.ledger.book import UNREADABLE
from itemtrace.ledger.parts import is_mapping, sequence
from itemtrace.ledger.parts import mapping as mapping_in


if TYPE_CHECKING:
    from itemtrace.codec.record import Record


Check = Callable[[Any], bool]


def text(value: Any) -> bool:
    """A string."""
    return type(value) is str


def whole(value: Any) -> bool:
    """A number of something."""
    return type(value) is int and 0 <= value < 2**63


def mapping(value: Any) -> bool:
    """A JSON object that is no escape."""
    return type(value) is dict and TAG not in value


def is_dict(value: Any) -> bool:
    """A JSON object, or an escape."""
    return type(value) is dict


def flag(value: Any) -> bool:
    """`true` or `false`."""
    return type(value) is bool


def list_of(check: Check) -> Check:
    """Returns the check of a list."""
    return lambda value: type(value) is list and all(map(check, sequence(value)))


def mapping_of(check: Check) -> Check:
    """Returns the check of the values of an object."""
    return lambda value: mapping(value) and all(map(check, value.values()))


def either(*checks: Check) -> Check:
    """Returns the check that one of some holds."""
    return lambda value: any(check(value) for check in checks)


def shape(**keys: Check) -> Check:
    """Returns the check of an object; keys that are not named may hold anything."""
    return lambda value: mapping(value) and not wrong_keys(value, keys)


def wrong_keys(value: Mapping[str, Any], keys: Mapping[str, Check]) -> list[str]:
    """Returns the keys that hold what they may not."""
    return [
        key
        for key, child in value.items()
        if (check := keys.get(key)) is not None and not check(child)
    ]


def a_range(value: Any) -> bool:
    """`[first, count]`."""
    pair = sequence(value)
    return len(pair) == 2 and all(map(whole, pair))


RANGES: Final = list_of(a_range)
SEQS: Final = list_of(whole)
ERROR: Final = shape(type=text)
USAGE: Final = list_of(
    lambda value: type(value) is int or value is None or mapping(value)
)
NOTHING: Final[Check] = lambda value: value is None  # noqa: E731

RESPONSE: Final = shape(
    id=either(text, NOTHING), request_id=either(text, NOTHING), usage=USAGE,
    entries=list_of(USAGE), raw_usage=either(mapping, NOTHING), output=SEQS, model=text, previous=text,
)  # fmt: skip

SHAPES: Final[Mapping[str, Mapping[str, Check]]] = {
    "begin": {
        "recorded_by": text, "lacks": list_of(text),
        "version": text, "sdk": text, "capture": text, "started": whole, "agent": text,
        "trace": shape(id=text, name=text, group=either(text, NOTHING), metadata=either(is_dict, NOTHING)),
        "options": mapping, "parent": shape(run=text, call=either(text, NOTHING)), "after": text,
        "resumed": shape(run=text, trace=text, decisions=list_of(mapping)),
    },
    "blob": {"d": text, "v": text},
    "call": {
        "n": whole, "as": whole, "agent": text, "turn": whole, "start": whole, "end": whole, "model": text,
        "api": text, "input": shape(new=list_of(lambda _: True), list=RANGES),
        "response": RESPONSE, "error": ERROR, "attempts": list_of(ERROR),
    },
    "item": {
        "type": text, "agent": text, "at": whole, "call": whole, "extra": mapping, "class": text,
        "tool": shape(name=text, ran=list_of(whole), error=ERROR), "replaces": whole,
    },
    "tool": {
        "call": either(text, NOTHING), "name": text, "agent": text, "start": whole, "end": whole,
        "status": text, "error": ERROR,
    },
    "end": {
        "status": text, "end": whole, "items": list_of(either(whole, a_range)),
        "fix": mapping_of(shape(type=text, agent=text, extra=mapping)), "responses": SEQS,
        "final": shape(text=whole), "last_agent": text,
        "tools": mapping_of(mapping_of(mapping)), "interruptions": SEQS,
        "guardrails": mapping_of(list_of(mapping)), "usage": USAGE,
        "entries": either(flag, list_of(USAGE)), "lists": mapping_of(list_of(lambda _: True)),
        "error": ERROR, "children": list_of(text),
    },
    "seal": {"records": whole, "digest": text, "failures": whole},
    "trace": {"id": text, "runs": list_of(text)},
}  # fmt: skip
"""Kind -> key -> what it may hold."""

NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "blob": ("d", "v"),
    "call": ("n",),
    "item": ("raw",),
    "seal": ("records", "digest"),
    "trace": ("runs",),
}
"""Kind -> keys that must be there."""


PLAIN_MARKS: Final = ("ref", "blob", "withheld", "repr")
"""Escapes that stand for themselves until a ledger resolves them."""


def marks(value: Any) -> Iterator[dict[str, Any]]:
    """Yields the escapes in a JSON value, those inside others too."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if is_mapping(current):
            if TAG in current:
                yield current
            waiting += [child for child in current.values() if type(child) in _NESTING]
        else:
            waiting += [child for child in sequence(current) if type(child) in _NESTING]


_NESTING: Final = (dict, list)


_decode: Final = json.JSONDecoder().raw_decode
"""Faster than `json.loads`, which looks for white space that a record does not have."""


def read(record: Record) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns the body of a record as JSON, and the escapes in it, unresolved.

    Raises:
        CodecError: It is none that such a record may have.
    """
    try:
        body, end = _decode(record.body)
        escapes = list(marks(body)) if MARK in record.body else []
        for escape in escapes:
            if escape[TAG] not in PLAIN_MARKS:
                canonical.decode(escape)
    except UNREADABLE as error:
        msg = f"record {record.seq} ({record.kind}) cannot be read: {error}"
        raise CodecError(msg) from error
    if type(body) is not dict or end != len(record.body):
        msg = f"record {record.seq} ({record.kind}) is no JSON object"
        raise CodecError(msg)
    known = mapping_in(body)
    wrong = wrong_keys(known, SHAPES.get(record.kind, {}))
    wrong += [key for key in NEEDED.get(record.kind, ()) if key not in known]
    if wrong:
        msg = f"record {record.seq} ({record.kind}) holds what it may not in {', '.join(wrong)}"
        raise CodecError(msg)
    return known, escapes
