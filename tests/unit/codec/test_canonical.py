"""Canonical JSON: what is kept, what is escaped, and what is named a loss."""

import dataclasses
import datetime as dt
import decimal
import enum
import math
import uuid
from collections import OrderedDict, UserDict, deque
from types import MappingProxyType

import pytest
from pydantic import BaseModel

from itemtrace.codec import canonical
from itemtrace.codec.canonical import Escaped, Placeholder


class Colour(enum.Enum):
    """An enumeration of the user's."""

    RED = "red"


class Level(enum.IntEnum):
    """Numbers with names."""

    HIGH = 3


class Order(BaseModel):
    """A model with a field that is not set."""

    number: str
    note: str | None = None


@dataclasses.dataclass
class Point:
    """A dataclass of the user's."""

    x: int
    y: float


class Text(str):
    """A string of another type."""

    __slots__ = ()


KEPT = [
    (None, "null"),
    (True, "true"),
    (1, "1"),
    (1.0, "1.0"),
    (-0.0, "-0.0"),
    (10**40, "1" + "0" * 40),
    ("日本語 😀", '"日本語 😀"'),
    ({"b": 1, "a": [None]}, '{"b":1,"a":[null]}'),
    ("\x00\x7f\u2028\ud800", '"\\u0000\\u007f\\u2028\\ud800"'),
    ("\ud83d\ude00", '{"$it":"join","v":["\\ud83d","\\ude00"]}'),
    (
        {"\ud83d\ude00": 1},
        '{"$it":"map","v":[[{"$it":"join","v":["\\ud83d","\\ude00"]},1]]}',
    ),
    (math.inf, '{"$it":"float","v":"inf"}'),
    (-math.inf, '{"$it":"float","v":"-inf"}'),
    (b"\xff", '{"$it":"bytes","v":"/w=="}'),
    ((1, "a"), '{"$it":"tuple","v":[1,"a"]}'),
    ({1: "a"}, '{"$it":"map","v":[[1,"a"]]}'),
    ({"$it": "x"}, '{"$it":"map","v":[["$it","x"]]}'),
    (
        dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC),
        '{"$it":"datetime","v":"2026-01-02T03:04:00+00:00"}',
    ),
    (dt.date(2026, 1, 2), '{"$it":"date","v":"2026-01-02"}'),
    (uuid.UUID(int=1), '{"$it":"uuid","v":"00000000-0000-0000-0000-000000000001"}'),
    (decimal.Decimal("1.10"), '{"$it":"decimal","v":"1.10"}'),
]


@pytest.mark.parametrize(("value", "text"), KEPT)
def test_kept(value, text):
    """The value is written so and comes back as it was, type included."""
    assert canonical.dumps(value) == text
    assert repr(canonical.loads(text)) == repr(value)


BECOMES = [
    (Colour.RED, "red"),
    (Level.HIGH, 3),
    (Text("x"), "x"),
    ({Text("k"): 1}, {"k": 1}),
    (type("Whole", (int,), {})(4), 4),
    (type("Real", (float,), {})(0.5), 0.5),
    (type("Rows", (list,), {})([1]), [1]),
    (type("Pair", (tuple,), {})((1, 2)), (1, 2)),
    (bytearray(b"a"), b"a"),
    (memoryview(b"a"), b"a"),
    ({3, 1}, [1, 3]),
    (frozenset({"a"}), ["a"]),
    (range(3), [0, 1, 2]),
    (OrderedDict(a=1), {"a": 1}),
    (UserDict(a=1), {"a": 1}),
    (MappingProxyType({"a": 1}), {"a": 1}),
    (Order(number="A"), {"number": "A"}),
    (Point(1, 2.5), {"x": 1, "y": 2.5}),
]


@pytest.mark.parametrize(
    ("value", "expected"), BECOMES, ids=lambda value: type(value).__name__
)
def test_becomes(value, expected):
    """Foreign types come back as the plain value that they are."""
    assert repr(canonical.loads(canonical.dumps(value))) == repr(expected)


class Broken:
    """Raises wherever it is touched."""

    def __repr__(self):
        raise KeyError

    def __eq__(self, other):
        raise ZeroDivisionError

    __hash__ = None

    def model_dump(self, **options):
        """Fails like a model with a broken serializer."""
        raise TypeError


class BrokenMapping(UserDict):
    """A mapping that cannot be read."""

    def items(self):
        """Fails."""
        raise OSError

    def __repr__(self):
        return "<broken mapping>"


def circular():
    """Returns a list that holds itself twice."""
    found = ["a"]
    found += [found, found]
    return found


def deep(depth):
    """Returns a list in a list in a list."""
    found = []
    for _ in range(depth):
        found = [found]
    return found


LOST = [
    (Broken(), "<no repr>"),
    (BrokenMapping(), "<broken mapping>"),
    (deque([1]), "deque([1])"),
    (dt.timedelta(1), "datetime.timedelta(days=1)"),
    (10**5_000, "<no repr>"),
    (Order, repr(Order)),
]


@pytest.mark.parametrize(
    ("value", "text"), LOST, ids=lambda value: type(value).__name__
)
def test_a_loss_is_named(value, text):
    """What cannot be kept is its repr, marked as such, and its neighbours are whole."""
    found = canonical.loads(canonical.dumps(["before", value, "after"]))
    mark = {"$it": "repr", "type": canonical.type_name(value), "v": text}
    if isinstance(value, deque):
        assert found == ["before", [1], "after"]
    else:
        assert found == ["before", mark, "after"]
        assert type(found[1]) is Placeholder


def test_a_circle_ends():
    """A list that holds itself is written once, and its inner copies are named losses."""
    found = canonical.loads(canonical.dumps(circular()))
    mark = {"$it": "repr", "type": "list", "v": "['a', [...], [...]]"}
    assert found == ["a", mark, mark]


@pytest.mark.parametrize("depth", [190, 300, 3_000])
def test_depth_is_bounded(depth):
    """However deep a value is, it is written and can be read; what is too deep is a named loss."""
    text = canonical.dumps({"deep": deep(depth), "beside": 1})
    found = canonical.loads(text)
    assert found["beside"] == 1
    assert ('"$it":"repr"' in text) == (depth > 200)


def test_ascii():
    """With ascii every character is a byte, astral ones as a pair of escapes."""
    assert canonical.dumps("é😀\ud800", ascii=True) == '"\\u00e9\\ud83d\\ude00\\ud800"'


def test_an_escape_stays_an_escape():
    """References and marks are written as they are, also inside other values."""
    reference = Escaped({"$it": "ref", "s": 3})
    text = canonical.dumps(
        {"new": [reference, Placeholder({"$it": "withheld", "n": 1})]}
    )
    assert text == '{"new":[{"$it":"ref","s":3},{"$it":"withheld","n":1}]}'
    assert canonical.dumps_encoded(canonical.encode(reference)) == '{"$it":"ref","s":3}'


def test_a_reader_resolves_what_it_knows():
    """Escapes that need a ledger go to the resolver, inside containers too."""
    value = {
        "a": [{"$it": "ref", "s": 1}],
        "b": {"$it": "tuple", "v": [{"$it": "new"}]},
    }
    found = canonical.decode(value, lambda escape: escape.get("s", "unknown"))
    assert found == {"a": [1], "b": ("unknown",)}


def test_an_escape_of_a_strange_name_is_kept():
    """A name that is no text goes to the resolver like any unknown one."""
    assert canonical.decode({"$it": ["x"], "v": 1}) == {"$it": ["x"], "v": 1}


def test_digest():
    """Digests are SHA-256 in base64url without padding, of lone surrogates too."""
    assert (
        canonical.b64(canonical.digest(""))
        == "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
    )
    assert len(canonical.b64(canonical.digest("\ud800"))) == 43
