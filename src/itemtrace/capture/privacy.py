# pyright: basic
# Raw items and SDK objects are JSON values and Any at this edge
"""What may leave the process: withheld content and redaction.

A run with `trace_include_sensitive_data=False` keeps structure, ids, sizes and keyed digests.
Redaction functions see raw items; ids and encrypted content are put back after them, since a
changed id breaks the pairing of calls and outputs.
"""

from __future__ import annotations

import copy
import hmac
import secrets
from collections.abc import Callable, Sequence
from typing import Any, Final

from itemtrace.capture.guard import HEALTH
from itemtrace.codec import canonical


Redactor = Callable[[dict[str, Any]], dict[str, Any] | None]
"""Gets a copy of a raw item (a message, call, output, ...) and returns it changed, or None for as it is."""

STRUCTURE: Final = frozenset(
    {
        "type", "id", "call_id", "role", "status", "name", "namespace", "server_label",
        "approval_request_id", "approve", "phase", "execution", "caller",
    }
)  # fmt: skip
"""Keys of raw items that are kept when content is withheld."""

PROTECTED: Final = (
    "type", "id", "call_id", "role", "approval_request_id", "encrypted_content", "caller",
)  # fmt: skip
"""Keys that a redaction cannot change."""

_KEY = secrets.token_bytes(32)


def withheld(value: object, key: bytes = _KEY) -> canonical.Escaped:
    """Returns the mark for content that is not recorded: its size and a keyed digest.

    The key is random for each process, so that a short secret cannot be found by trying.
    """
    raw = canonical.dumps(value).encode("utf-8", "surrogatepass")
    digest = canonical.b64(hmac.digest(key, raw, "sha256"))
    return canonical.Escaped({canonical.TAG: "withheld", "n": len(raw), "d": digest})


class Privacy:
    """The rules of one run.

    Attributes:
        content: False when content is withheld.
        redactors: Applied in order to every raw item.
    """

    def __init__(self, *, content: bool, redactors: Sequence[Redactor] = ()) -> None:
        self.content = content
        self.redactors = tuple(redactors)
        self.touched = False

    @property
    def whole(self) -> bool:
        """Whether everything is recorded as it is."""
        return self.content and not self.redactors

    def value(self, value: Any) -> Any:
        """Returns content that is no item (instructions, error text, outputs), or its mark.

        Redactors see each text and number in it as the text of a message; what they leave as it is
        stays the same object.
        """
        if value is None or self.whole:
            return value
        if not self.content:
            return withheld(value)
        if isinstance(value, str):
            return self.text(value)
        encoded = canonical.encode(value)
        changed = self._walk(encoded)
        return value if changed == encoded else _verbatim(changed)

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._walk(child) for child in value]
        if isinstance(value, dict):
            return {
                key: child if key in (canonical.TAG, "type") else self._walk(child)
                for key, child in value.items()
            }
        if type(value) in (int, float):
            text = str(value)
            changed = self.text(text)
            return value if changed == text else changed
        return value

    def text(self, text: str) -> Any:
        """Returns a text after redaction, or its mark; redactors see it as a message."""
        if not self.content:
            return withheld(text)
        if not self.redactors:
            return text
        seen = {"role": "user", "content": text}
        return self.item(seen)[0].get("content", "")

    def item(self, raw: Any) -> tuple[Any, bool]:
        """Returns a raw item as it may be recorded, and whether a redaction changed it."""
        if not isinstance(raw, dict):
            return self.value(raw), False
        if not self.content:
            return _bare(raw), False
        if not self.redactors:
            return raw, False
        try:
            return self._redact(raw)
        except Exception as error:  # noqa: BLE001 - a user's function; what it did not see is not recorded
            HEALTH.failed("a redaction", error)
            self.touched = True
            return _bare(raw), True

    def _redact(self, raw: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        changed = copy.deepcopy(raw)
        for redactor in self.redactors:
            changed = redactor(changed) or changed
        for key in PROTECTED:
            if key in raw:
                changed[key] = raw[key]
        if changed == raw:
            return changed, False
        self.touched = True
        return changed, True


def _bare(raw: dict[str, Any]) -> dict[str, Any]:
    """Returns the structure of a raw item, marks in place of its content."""
    return {
        key: value if key in STRUCTURE and _short(value) else withheld(value)
        for key, value in raw.items()
    }


def _verbatim(encoded: Any) -> Any:
    """Returns what `canonical.encode` gave as something that it will not encode again."""
    if isinstance(encoded, dict):
        return canonical.Escaped(encoded)
    return (
        [_verbatim(child) for child in encoded]
        if isinstance(encoded, list)
        else encoded
    )


def _short(value: object) -> bool:
    return (
        isinstance(value, bool | int)
        or value is None
        or (isinstance(value, str) and len(value) <= 200)
        or (isinstance(value, dict) and set(value) <= {"type", "caller_id"})
    )
