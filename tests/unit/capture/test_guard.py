"""The guard: nothing raises, each place is logged once and counted always."""

import logging

import pytest

from itemtrace.capture.guard import FRAME, HEALTH, Health, guarded
from itemtrace.errors import CodecError


@pytest.fixture(autouse=True)
def reset():
    """Starts and ends healthy."""
    HEALTH.reset()
    yield
    HEALTH.reset()


@guarded("a place")
def divide(one, other=1):
    """Divides."""
    return one / other


def test_what_works_is_passed_through():
    """Arguments, result and name are the function's own."""
    assert divide(6, other=3) == 2
    assert (divide.__name__, divide.__doc__) == ("divide", "Divides.")
    assert HEALTH.counts() == {}


def test_a_failure_is_none_counted_and_logged_once(caplog):
    """Three failures are one line; the error's own text, which may hold content, is not in it."""
    assert [divide(1, 0), divide("secret"), divide(2, 0)] == [None, None, None]
    assert HEALTH.counts() == {"a place": 3}
    assert [record.getMessage() for record in caplog.records] == [
        (
            "itemtrace: a place failed (ZeroDivisionError); the run goes on, its ledger will name "
            "the gap. Further failures here are counted only."
        )
    ]
    assert not caplog.records[0].exc_info


def test_the_traceback_is_for_debugging(caplog):
    """With the logger at DEBUG the cause is there whole."""
    with caplog.at_level(logging.DEBUG, "itemtrace"):
        divide(1, 0)
    assert caplog.records[0].exc_info[0] is ZeroDivisionError


def test_errors_of_ours_say_what_to_do(caplog):
    """Their texts hold no content."""
    health = Health()
    health.failed("a store", CodecError("make room"))
    assert "a store failed (CodecError: make room)" in caplog.text


def test_the_run_knows():
    """The run that is being recorded counts its own failures."""

    class Recording:
        failures = 0

    recording = Recording()
    token = FRAME.set(recording)
    try:
        divide(1, 0)
    finally:
        FRAME.reset(token)
    divide(1, 0)
    assert recording.failures == 1


def test_what_is_no_exception_passes():
    """Cancellation and exits are the user's."""

    @guarded("an exit")
    def leave():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()
    assert HEALTH.counts() == {}
