"""Attribute values, ids and enums of OTLP: what JSON and protobuf have in common."""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from typing import TYPE_CHECKING, Any, Final


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from itemtrace.codec.spans import SpanRow


KINDS: Final = ("", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
"""Span kinds by their number."""

STATUSES: Final = ("UNSET", "OK", "ERROR")
"""Status codes by their number."""

HEX: Final = re.compile(r"[0-9A-Fa-f]*\Z")
INT64: Final = range(-(1 << 63), 1 << 63)


def enum_name(value: object, names: tuple[str, ...], prefix: str) -> str:
    """Returns the name of an enum value given as number, numeral or name."""
    if isinstance(value, str) and not value.isdecimal():
        name = value.upper().removeprefix(prefix)
        return name if name in names else names[0]
    number = int(value) if isinstance(value, int | str) else 0
    return names[number] if 0 <= number < len(names) else names[0]


def id_of(value: object, digits: int) -> str:
    """Returns an id as lowercase hex: from hex, base64 or bytes; all zeros are empty.

    Args:
        value: The id as it stands in the payload.
        digits: How many hex digits it must have, 32 or 16.
    """
    if isinstance(value, bytes):
        text = value.hex()
    else:
        text = "" if value is None else str(value)
        if not is_hex(text, digits):
            text = base64_id(text, digits)
    text = text.lower()
    return text if text.strip("0") else ""


def is_hex(text: str, digits: int) -> bool:
    """Whether an id is hex; a trace id may have 16 digits, as old Jaeger clients write."""
    return len(text) in (digits, 16) and HEX.match(text) is not None


def base64_id(text: str, digits: int) -> str:
    """Returns the hex digits of an id in base64; the text itself if it is no such thing."""
    padded = text + "=" * (-len(text) % 4)
    try:
        raw = base64.b64decode(
            padded,
            altchars=b"-_" if "-" in text or "_" in text else None,
            validate=True,
        )
    except (binascii.Error, ValueError):
        return text
    return raw.hex() if len(raw) * 2 == digits else text


def grouped(
    rows: Iterable[SpanRow],
) -> Iterator[tuple[dict[str, Any], list[tuple[str, str, list[SpanRow]]]]]:
    """Gives rows as OTLP nests them: `(resource, [(scope, version, rows)])`.

    Rows that follow each other and agree share a group, so the order of rows is kept.
    """
    for _, of_resource in itertools.groupby(rows, key=lambda row: Exact(row.resource)):
        members = list(of_resource)
        scopes = itertools.groupby(members, lambda row: (row.scope, row.scope_version))
        yield (
            dict(members[0].resource),
            [(*scope, list(of_scope)) for scope, of_scope in scopes],
        )


class Exact:
    """Compares values with their types: 1, 1.0 and True differ, and so does order of keys."""

    __slots__ = ("text", "value")

    def __init__(self, value: object) -> None:
        self.value = value
        self.text: str | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exact) and (
            self.value is other.value or self.form() == other.form()
        )

    __hash__ = None  # type: ignore[assignment]

    def form(self) -> str:
        """Returns the text that is compared."""
        if self.text is None:
            self.text = repr(self.value)
        return self.text
