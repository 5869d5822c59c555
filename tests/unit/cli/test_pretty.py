"""JSON and long texts as people read them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemtrace.cli.views import pretty
from itemtrace.codec.canonical import TAG


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text().filter(lambda k: k != TAG), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(json_values, st.integers(10, 100))
def test_pretty_json_is_json(value, width):
    """However it is laid out, it parses to the same value."""
    assert json.loads(pretty.json_text(value, width)) == value


def test_short_json_is_one_line():
    """What fits a line is on one line."""
    assert pretty.json_text({"a": [1, None], "b": {}}) == '{"a": [1, null], "b": {}}'


def test_long_json_has_a_line_for_each_key():
    """What does not fit is laid out."""
    laid_out = pretty.json_text({"key": "x" * 20, "list": [1, 2]}, 24)
    assert laid_out == '{\n  "key": "xxxxxxxxxxxxxxxxxxxx",\n  "list": [1, 2]\n}'
    assert pretty.json_text(["x" * 12, "y" * 12], 20).count("\n") == 3


def test_numbers_stay_as_written():
    """Reading JSON text changes no number."""
    text = '{"a": 1.0, "b": 1e400, "c": -0.0, "d": 12345678901234567890123}'
    assert pretty.shown(text) == text


@pytest.mark.parametrize("text", ["plain", "{broken", "[" * 100_000, '"quoted"'])
def test_text_that_is_no_json_stays(text):
    """Text is not touched unless it is an object or a list."""
    assert pretty.shown(text) == text


def test_very_long_json_is_not_parsed():
    """Nobody waits for the layout of megabytes."""
    text = json.dumps({"x": "y" * 300_000})
    assert pretty.from_text(text) is text


def test_deep_json_is_shown():
    """Nesting deeper than Python recurses is shown on one line."""
    value: list = []
    for _ in range(5_000):
        value = [value]
    assert pretty.json_text(value)


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        ({TAG: "withheld", "n": 1200}, "<withheld, 1.2 kB>"),
        ({TAG: "withheld"}, "<withheld>"),
        ({TAG: "missing", "s": 3}, "<missing>"),
        (
            {TAG: "repr", "type": "T", "v": "<T>"},
            "<T, of which only this is known: <T>>",
        ),
        ({TAG: "new"}, "<new>"),
    ],
)
def test_marks_stand_for_absent_content(mark, text):
    """What is not there is said in angle brackets, alone and inside other JSON."""
    found = pretty.shown(mark), pretty.json_text([mark, "x" * 90], 40).split("\n")[1]
    assert found == (text, f"  {text},")


def test_tuples_read_as_lists():
    """Python's tuples look like lists."""
    assert pretty.shown(("a", 1)) == '["a", 1]'


@pytest.mark.parametrize(
    ("text", "head", "more"),
    [
        ("short\n", "short", ""),
        ("a" * 50, "a" * 20, "… 30 B more (--full shows all)"),
        ("1\n2\n3\n4\n5", "1\n2\n3", "… 4 B more (--full shows all)"),
        ("a" * 21, "a" * 21, ""),
        ("1\n2\n3\n\n\n", "1\n2\n3", ""),
    ],
)
def test_folding(text, head, more):
    """Long text is cut at lines and characters, and the rest is counted; tiny rests are shown."""
    assert pretty.folded(text, pretty.Fold(3, 20)) == (head, more)


def test_full_text():
    """Nothing is folded with `--full`."""
    assert pretty.folded("x\n" * 10_000, pretty.FULL)[1] == ""
