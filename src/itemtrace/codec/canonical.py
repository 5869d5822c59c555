# pyright: basic
# A codec of JSON values: Any in, Any out
"""JSON that loses nothing.

`dumps` keeps key order, number types, unset against null, and all text; what JSON cannot say is an
object with the key `$it` (docs/format.md, "Values"). Control characters, lone surrogates and
U+2028/2029 are escaped, so the text passes through anything that takes UTF-8 strings.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import hashlib
import json
import math
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any


TAG = "$it"
"""The key that marks an escaped value."""

MARK = f'"{TAG}"'
"""A text without this has no escapes."""

JSON = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_NON_ASCII = re.compile("[^\x00-\x7e]")
_PAIR = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")
"""Between two lone surrogates that JSON would read back as one character (a cut stream has them)."""


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code > 0xFFFF:  # JSON writes astral characters as a surrogate pair
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


_encode_plain = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
).encode


def dumps(value: object, *, ascii: bool = False) -> str:
    """Returns the canonical text of a value; never raises for what a run can hold.

    Args:
        value: Anything; what is no JSON is escaped, and what cannot be escaped becomes its `repr`,
            marked as such.
        ascii: Escape everything outside ASCII.
    """
    try:
        plain = _is_plain(value)
        text = _encode_plain(value if plain else encode(value))
        if plain and not text.isascii() and _PAIR.search(text):
            text = _encode_plain(encode(value))
    except (TypeError, ValueError, RecursionError):
        text = _encode_plain(encode(value))
    return _escaped(text, ascii=ascii)


def dumps_encoded(value: JSON, *, ascii: bool = False) -> str:
    """Returns the canonical text of what `encode` gave."""
    return _escaped(_encode_plain(value), ascii=ascii)


def _escaped(text: str, *, ascii: bool) -> str:
    if text.isascii() and "\x7f" not in text:
        return text
    return (_NON_ASCII if ascii else _UNSAFE).sub(_escape, text)


def loads(text: str) -> JSON:
    """Returns the value of a canonical text, escapes of `encode` resolved."""
    value = json.loads(text)
    return decode(value) if MARK in text else value


def digest(text: str) -> bytes:
    """Returns the SHA-256 of a text as UTF-8, lone surrogates kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def b64(raw: bytes) -> str:
    """Returns base64url without padding: 43 characters for a SHA-256."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


_MAX_DEPTH = 200
"""How deep values are kept; what is deeper could not be read back without deep recursion."""

_MAX_BITS = 14_000
"""Python refuses to print or read integers of more than 4,300 digits."""


def _is_plain(value: object, depth: int = 0) -> bool:
    """Whether json would write the value back as it is: exact types, string keys, no tag."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return value.bit_length() < _MAX_BITS  # type: ignore[attr-defined,no-any-return]
    if depth > _MAX_DEPTH:
        return False
    if kind is dict:
        for key, child in value.items():  # type: ignore[attr-defined]
            if type(key) is not str or key == TAG:
                return False
            if type(child) is not str and not _is_plain(child, depth + 1):
                return False
        return True
    if kind is list:
        return all(_is_plain(child, depth + 1) for child in value)  # type: ignore[attr-defined]
    return kind is float and math.isfinite(value)  # type: ignore[arg-type]


class Escaped(dict[str, Any]):
    """An escape that `encode` must leave as it is: a reference, a blob, a mark."""


class Placeholder(dict[str, Any]):
    """What a reader gives for an escape that stands for absent content.

    It is a dict with the key `$it`, so it stays JSON: `withheld`, `repr`, `missing`.
    """


def encode(value: object) -> JSON:
    """Returns a JSON value that says the same, with `$it` objects where JSON has no words."""
    return _encode(value, set())


Path = set[int]
"""Identities of the containers around a value: what holds itself would never end."""


def _encode(value: object, path: Path) -> JSON:
    kind = type(value)
    if kind is str:
        return _encode_text(value)  # type: ignore[arg-type]
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if value.bit_length() < _MAX_BITS else _repr(value)  # type: ignore[attr-defined]
    identity = id(value)
    if identity in path or len(path) > _MAX_DEPTH:
        return _repr(value)
    path.add(identity)
    try:
        return _encode_deep(value, path)
    except Exception:  # noqa: BLE001 - a foreign class may raise anything
        return _repr(value)
    finally:
        path.discard(identity)


def _encode_deep(value: object, path: Path) -> JSON:
    kind = type(value)
    if isinstance(value, Escaped | Placeholder):
        return dict(value)
    if kind is float:
        return value if math.isfinite(value) else _tag("float", repr(value))  # type: ignore[arg-type]
    if kind is list:
        return [_encode(child, path) for child in value]  # type: ignore[attr-defined]
    if kind is tuple:
        return _tag("tuple", [_encode(child, path) for child in value])  # type: ignore[attr-defined]
    if isinstance(value, Mapping):
        return _encode_mapping(value, path)
    for types, encoder in _ENCODERS:
        if isinstance(value, types):
            return encoder(value, path)
    return _encode_object(value, path)


def _encode_text(value: str) -> JSON:
    if value.isascii() or not _PAIR.search(value):
        return value
    return _tag("join", _PAIR.split(value))


def _encode_mapping(value: Mapping[Any, Any], path: Path) -> JSON:
    if TAG not in value and all(
        type(key) is str and (key.isascii() or not _PAIR.search(key)) for key in value
    ):
        return {key: _encode(child, path) for key, child in value.items()}
    pairs = [[_encode(k, path), _encode(v, path)] for k, v in value.items()]
    return _tag("map", pairs)


def _encode_object(value: object, path: Path) -> JSON:
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        content = _encode(dump(exclude_unset=True, warnings=False), path)
        return _tag("model", content, type=type_name(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        content = {
            field.name: _encode(getattr(value, field.name, None), path)
            for field in dataclasses.fields(value)
        }
        return _tag("dataclass", content, type=type_name(value))
    if isinstance(value, Sequence):
        return _encode(list(value), path)
    return _repr(value)


def _repr(value: object) -> JSON:
    try:
        text = repr(value)[:10_000]
    except Exception:  # noqa: BLE001 - a foreign __repr__ may raise anything
        text = "<no repr>"
    return _tag("repr", text, type=type_name(value))


def type_name(value: object) -> str:
    """Returns the qualified name of a value's class, without `builtins`."""
    kind = type(value)
    module = kind.__module__
    return (
        kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
    )


def _tag(name: str, value: JSON, **more: JSON) -> dict[str, JSON]:
    return {TAG: name, **more, "v": value}


_ENCODERS: list[tuple[type | tuple[type, ...], Callable[[Any, Path], JSON]]] = [
    (enum.Enum, lambda v, path: _encode(v.value, path)),
    (bool, lambda v, _: bool(v)),
    (str, lambda v, _: _encode_text(str(v))),
    (int, lambda v, _: int(v)),
    (float, lambda v, path: _encode(float(v), path)),
    (
        (bytes, bytearray, memoryview),
        lambda v, _: _tag("bytes", base64.b64encode(bytes(v)).decode()),
    ),
    (dt.datetime, lambda v, _: _tag("datetime", v.isoformat())),
    (dt.date, lambda v, _: _tag("date", v.isoformat())),
    (uuid.UUID, lambda v, _: _tag("uuid", str(v))),
    (decimal.Decimal, lambda v, _: _tag("decimal", str(v))),
    (tuple, lambda v, path: _tag("tuple", [_encode(c, path) for c in v])),
    (list, lambda v, path: [_encode(c, path) for c in v]),
    (
        (set, frozenset),
        lambda v, path: _tag("set", sorted((_encode(c, path) for c in v), key=repr)),
    ),
]

_DECODERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "join": "".join,
    "bytes": lambda v: base64.b64decode(v, validate=True),
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "uuid": uuid.UUID,
    "decimal": decimal.Decimal,
    "tuple": tuple,
    "set": lambda v: v,
    "model": lambda v: v,
    "dataclass": lambda v: v,
}


Resolver = Callable[[dict[str, Any]], Any]
"""Gives the value of an escape that `decode` does not know by itself: `ref`, `blob`, marks."""


def decode(value: JSON, resolve: Resolver = Placeholder) -> Any:
    """Returns the value that `encode` was given.

    Args:
        value: A JSON value.
        resolve: Called with each escape that needs a ledger (`ref`, `blob`, `withheld`, `repr`) or
            is not known; by default the escape itself is returned as a `Placeholder`.
    """
    if type(value) is list:
        return [decode(child, resolve) for child in value]
    if type(value) is not dict:
        return value
    name = value.get(TAG)
    if name is None:
        return {key: decode(child, resolve) for key, child in value.items()}
    if name == "map":
        return {decode(k, resolve): decode(v, resolve) for k, v in value["v"]}
    decoder = _DECODERS.get(name) if isinstance(name, str) else None
    if decoder is None:
        return resolve(value)
    return decoder(decode(value["v"], resolve))
