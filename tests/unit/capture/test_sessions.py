"""Which items of a call were stored, which are new, and which somebody put in."""

import asyncio

from itemtrace.capture.recording import Given
from itemtrace.capture.sessions import first_origins, observed, origins


A, B, C = ({"role": "user", "content": text} for text in "abc")


def test_by_identity_then_by_equality():
    """The same object goes first; an equal copy is the next best."""
    assert origins([A], [dict(A)], [A, dict(A), B]) == [
        ["history", 1],
        ["input", 1],
        ["added", 1],
    ]
    assert origins([A, B], [C], [C, dict(B), dict(A)]) == [["input", 1], ["history", 2]]
    assert origins([], [], []) == []


def test_without_a_session_there_is_nothing_to_tell():
    """Only runs with a session have origins."""
    assert first_origins(Given(input="x"), [A]) is None


def test_without_a_callback_the_input_comes_last():
    """As the SDK appends it: a text, a list, or nothing."""
    session = {"session": "s"}
    text = {"content": "new", "role": "user"}
    assert first_origins(Given(input="new", options=session), [A, B, text]) == [
        ["history", 2],
        ["input", 1],
    ]
    assert first_origins(Given(input=[C], options=session), [A, C]) == [
        ["history", 1],
        ["input", 1],
    ]
    assert first_origins(Given(input=None, options=session), [A]) == [["history", 1]]


def test_a_callback_is_observed_and_obeyed():
    """What it got is noted before it can change it; what it returns is passed on."""
    given = Given(options={"session": "s"})

    def callback(stored, new):
        stored.clear()
        return [B, *new]

    call = observed(callback, given)
    assert call([A], [C]) == [B, C]
    assert given.merged == ([A], [C])
    assert first_origins(given, [B, C]) == [["added", 1], ["input", 1]]


def test_an_asynchronous_callback_is_awaited_by_the_sdk():
    """Its coroutine comes back as it is; nested runs do not observe twice."""
    given, inner = Given(), Given()

    async def callback(stored, new):
        return new

    call = observed(observed(callback, given), inner)
    assert asyncio.run(call([A], [B])) == [B]
    assert (given.merged, inner.merged) == (None, ([A], [B]))
