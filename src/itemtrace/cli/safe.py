"""Text from traces, made safe for a terminal, and numbers as people read them.

Traces are untrusted: control characters, escape sequences, invisible and direction-changing
characters are shown as escapes, never sent to the terminal.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final


UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f"  # invisible
    "\u2028\u2029\ud800-\udfff]"
)


def safe(text: object) -> str:
    r"""Returns text whose unsafe characters are escapes such as `\x1b`."""
    plain = str(text).replace("\r\n", "\n").expandtabs(4)
    return UNSAFE.sub(escaped, plain)


def escaped(match: re.Match[str]) -> str:
    """Returns the escape of a character."""
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: object, most: int = 0) -> str:
    """Returns text on one line, safe; cut to `most` characters if that is given."""
    plain = str(text)
    if most and len(plain) > most * 4:  # no more work than what can be seen
        plain = plain[: most * 4]
    line = " ".join(safe(plain).split())
    return f"{line[: most - 1]}…" if most and len(line) > most else line


def size(count: int) -> str:
    """Returns a number of bytes or characters: `512 B`, `12 kB`, `3.4 MB`."""
    if count < 1_000:
        return f"{count} B"
    value, unit = count / 1_000, "kB"
    for larger in ("MB", "GB"):
        if value >= 999.5:
            value, unit = value / 1_000, larger
    return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"


def duration(seconds: float) -> str:
    """Returns a time span: `0.4 ms`, `12 ms`, `3.4 s`, `2 min 5 s`, `3 h 10 min`."""
    if seconds < 0.01:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def between(start_ns: int, end_ns: int) -> str:
    """Returns the time from start to end; empty when one is not known."""
    return duration((end_ns - start_ns) / 1e9) if 0 < start_ns <= end_ns else ""


def moment(at_ns: int, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Returns a time of the local clock; `-` when unknown or out of every calendar."""
    try:
        at = datetime.fromtimestamp(at_ns / 1e9, tz=UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return "-"
    return at.strftime(form) if at_ns > 0 else "-"


def iso(at_ns: int) -> str | None:
    """Returns a time in UTC as ISO 8601, for machines; None when unknown."""
    try:
        at = datetime.fromtimestamp(at_ns / 1e9, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return at.isoformat(timespec="milliseconds") if at_ns > 0 else None


def number(value: int | None) -> str:
    """Returns a number with separators; `-` for None."""
    return "-" if value is None else f"{value:,}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Returns `1 run`, `2 runs`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
