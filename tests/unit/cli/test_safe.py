"""Text from traces on a terminal, and numbers for people."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itemtrace.cli import safe


@pytest.fixture
def utc(monkeypatch):
    """The local clock is UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@given(st.text(st.characters(), max_size=200))
def test_safe_text_has_nothing_unsafe(text):
    """Whatever a trace says, no control, direction or invisible character gets through."""
    found = safe.safe(text)
    assert (safe.UNSAFE.search(found), safe.safe(found)) == (None, found)
    found.encode()  # no lone surrogates either


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("a\rb\x00\x9b", "a\\x0db\\x00\\x9b"),
        ("one\r\ntwo\tx", "one\ntwo x"),
        ("\u202eevil\ud800", "\\u202eevil\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("Weiß 笠 🙏 [bold]", "Weiß 笠 🙏 [bold]"),
    ],
)
def test_escapes(text, shown):
    """Unsafe characters are shown as escapes; all else stays itself."""
    assert safe.safe(text) == shown


@pytest.mark.parametrize(
    ("text", "most", "line"),
    [
        (" a\n\n b\x1b ", 0, "a b\\x1b"),
        ("abcdef", 4, "abc…"),
        ("x" * 1_000, 4, "xxx…"),
        ("abcd", 4, "abcd"),
    ],
)
def test_one_line(text, most, line):
    """Any text fits a line, cut with a mark."""
    assert safe.one_line(text, most) == line


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (52_428_800, "52 MB"),
        (999_999, "1.0 MB"),
        (2 * 10**15, "2000000 GB"),
    ],
)
def test_size(count, text):
    """Sizes are in the unit that makes them short."""
    assert safe.size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0004, "0.4 ms"),
        (0.5, "500 ms"),
        (2.345, "2.3 s"),
        (125, "2 min 5 s"),
        (11_400, "3 h 10 min"),
    ],
)
def test_duration(seconds, text):
    """Times are in the unit that makes them short."""
    assert safe.duration(seconds) == text


def test_between_needs_both_ends():
    """A time span of which an end is unknown, or before the start, is empty."""
    spans = (safe.between(1, 1_000_001), safe.between(0, 5), safe.between(5, 1))
    assert spans == ("1.0 ms", "", "")


def test_moments(utc):
    """Times are shown if a calendar has them."""
    at = 1_764_500_000_000_000_000
    assert [safe.moment(at), safe.moment(0), safe.moment(10**30)] == [
        "2025-11-30 10:53:20",
        "-",
        "-",
    ]
    assert [safe.iso(at), safe.iso(0), safe.iso(10**30)] == [
        "2025-11-30T10:53:20.000+00:00",
        None,
        None,
    ]


def test_counts():
    """Nouns agree with their numbers."""
    found = [
        safe.counted(1, "run"),
        safe.counted(2_000, "run"),
        safe.counted(0, "entry", "entries"),
        safe.number(None),
        safe.number(1_234),
    ]
    assert found == ["1 run", "2,000 runs", "0 entries", "-", "1,234"]
