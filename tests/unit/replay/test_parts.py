"""The small parts of a replay, one by one: order, differences, errors, sessions, reports."""

import asyncio
import socket

import openai
import pytest
from agents import ModelBehaviorError, UserError

from itemtrace.errors import ReplayDivergence
from itemtrace.replay import differences, failures
from itemtrace.replay.network import Door
from itemtrace.replay.recorded import canonical_arguments
from itemtrace.replay.report import Entry, Report
from itemtrace.replay.sessions import ReplaySession
from itemtrace.replay.turnstile import Turnstile


class TestTurnstile:
    """Completions in recorded order."""

    async def test_recorded_order(self):
        """What asks first waits until what ended before it has ended."""
        turnstile = Turnstile([("slow", 30), ("quick", 10), ("middle", 20)])
        ended = []

        async def end(key):
            assert await turnstile.wait(key)
            ended.append(key)
            turnstile.done(key)

        await asyncio.gather(*map(end, ("slow", "middle", "quick")))
        assert ended == ["quick", "middle", "slow"]

    async def test_equal_times_have_no_order(self):
        """Completions of one moment wait for none of each other."""
        turnstile = Turnstile([("a", 10), ("b", 10), ("c", 20)])
        assert await turnstile.wait("b")
        assert await turnstile.wait("a")
        turnstile.done("b", "a")
        assert await turnstile.wait("c")

    async def test_a_key_that_is_not_known(self):
        """What was not recorded passes."""
        assert await Turnstile([("a", 1)]).wait("other")

    async def test_patience(self):
        """A wait for something that never comes ends."""
        turnstile = Turnstile([("never", 1), ("late", 2)], patience=0.01)
        assert not await turnstile.wait("late")
        turnstile.done("never")
        assert await turnstile.wait("late")

    async def test_from_another_thread(self):
        """Loops in other threads are let through too."""
        turnstile = Turnstile([("first", 1), ("second", 2)])
        waiting = asyncio.create_task(turnstile.wait("second"))
        await asyncio.sleep(0)
        await asyncio.to_thread(turnstile.done, "first")
        assert await waiting

    async def test_a_wait_that_is_cancelled(self):
        """A cancelled wait is forgotten, also when its turn came meanwhile."""
        turnstile = Turnstile([("first", 1), ("second", 2)])
        waiting = asyncio.create_task(turnstile.wait("second"))
        await asyncio.sleep(0)
        turnstile.done("first")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


class TestDifferences:
    """What is the same, and what a person sees if not."""

    def test_nulls_are_no_difference(self):
        """SDK versions send nulls or leave them out."""
        assert differences.same({"a": 1, "status": None}, {"a": 1})
        assert not differences.same({"a": 1}, {"a": 2})

    def test_first_difference(self):
        """The first entry that differs, or where one list ends."""
        assert differences.first_difference([1, 2], [1, 3]) == 1
        assert differences.first_difference([1], [1, 2]) == 1
        assert differences.first_difference([1, {"x": None}], [1, {}]) is None

    def test_outputs_that_are_free(self):
        """Outputs of calls that were really made may be others; nothing else may."""
        old = {"type": "function_call_output", "call_id": "c", "output": "1"}
        new = {**old, "output": "2"}
        assert differences.fits(old, new, {"c"})
        assert not differences.fits(old, new, {"d"})
        assert not differences.fits({**old, "type": "function_call"}, new, {"c"})

    def test_a_readable_diff(self):
        """JSON inside strings is opened; long lines and long diffs are cut."""
        found = differences.diff(
            {"arguments": '{"a":1}', "t": "[not json"},
            {"arguments": '{"a":2}', "t": "[not json"},
        )
        assert "-    a: 1" in found.split("\n")
        assert "+    a: 2" in found.split("\n")
        long = differences.diff(["x" * 500], ["y" * 500])
        assert max(map(len, long.split("\n"))) == differences.LONGEST_LINE
        many = differences.diff(list(range(100)), list(range(100, 200)))
        assert many.endswith("more lines")
        assert (
            differences.diff([], {}) == "--- recorded\n+++ now\n@@ -1 +1 @@\n-[]\n+{}"
        )

    def test_arguments_that_are_equal(self):
        """The way arguments are written makes no difference."""
        assert canonical_arguments('{"b": 1, "a": [2]}') == canonical_arguments(
            {"a": [2], "b": 1}
        )
        assert canonical_arguments("{broken") == '"{broken"'


class TestFailures:
    """Recorded exceptions as exceptions."""

    @pytest.mark.parametrize(
        ("name", "text", "kind"),
        [
            ("ValueError", "why", ValueError),
            ("KeyError", "'key'", KeyError),
            ("KeyError", "no repr", KeyError),
            ("OSError", "[Errno 5] broke", OSError),
            ("UnicodeDecodeError", "odd", UnicodeDecodeError),
            ("agents.exceptions.ModelBehaviorError", "m", ModelBehaviorError),
            ("agents.exceptions.UserError", "u", UserError),
            ("openai.RateLimitError", "slow down", openai.RateLimitError),
            ("somebodys.Error", "x", failures.RecordedError),
            ("os.system", "x", failures.RecordedError),
            (None, "x", failures.RecordedError),
        ],
    )
    def test_class_and_text(self, name, text, kind):
        """Class and text are as recorded; classes that are not on the list keep the text."""
        made = failures.rebuilt(name, text)
        assert (isinstance(made, kind), str(made)) == (True, text)

    def test_fields_that_handlers_read(self):
        """What an error handler may look at is there."""
        made = failures.rebuilt("openai.APIStatusError", "500")
        assert (made.message, made.status_code, made.body) == ("500", None, None)


class TestSession:
    """The session of a replay."""

    async def test_it_forgets_nothing_while_it_lasts(self):
        """Items that the run adds are there until it ends."""
        session = ReplaySession([1, 2], None, "s")
        await session.add_items([3])
        assert await session.get_items() == [1, 2, 3]
        assert await session.get_items(2) == [2, 3]
        assert await session.get_items(0) == []
        assert await session.pop_item() == 3
        await session.clear_session()
        assert (await session.get_items(), await session.pop_item()) == ([], None)
        assert (session.session_id, session.written) == ("s", 1)

    def test_it_looks_like_the_one_that_it_stands_for(self):
        """Its id and settings are those of the real one."""
        inner = type("Inner", (), {"session_id": "real", "session_settings": "x"})()
        session = ReplaySession([], inner, "recorded")
        assert (session.session_id, session.session_settings) == ("real", "x")


class TestReport:
    """What became of each call."""

    def test_counts_and_text(self):
        """Entries are counted by kind and status."""
        report = Report(rest=lambda: iter([Entry("tool call", "R0", "t", "unused")]))
        assert not report.clean
        report.entries += [
            Entry("tool call", "R0 turn 1 c", "t", "live"),
            Entry("model call", "R0#0", "A", "diverged", "the input"),
        ]
        report.network.append("x:1")
        assert str(report) == (
            "2 tool calls (1 live, 1 unused); 1 model calls (1 diverged); 1 network calls blocked"
        )
        assert [str(entry) for entry in (*report.live, *report.diverged)] == [
            "tool call R0 turn 1 c (t) live",
            "model call R0#0 (A) diverged: the input",
        ]

    def test_nothing(self):
        """Nothing was asked for."""
        assert (str(Report()), Report().clean) == ("nothing was replayed", True)


def test_a_door_that_somebody_else_went_through():
    """What was put on top of our check stays; our check under it does nothing."""
    door = Door()
    before = socket.socket.__dict__.get("connect")
    door.close()
    ours = socket.socket.connect

    def theirs(sock, address):
        return ours(sock, address)

    socket.socket.connect = theirs
    door.open()
    assert socket.socket.__dict__["connect"] is theirs
    if before is None:
        del socket.socket.connect
    else:
        socket.socket.connect = before


def test_an_error_says_everything():
    """A divergence has its data on attributes."""
    error = ReplayDivergence(
        "text", place="R0", what="x", expected=1, got=2, diff="d", cause="c"
    )
    assert vars(error) == {
        "place": "R0", "what": "x", "expected": 1, "got": 2, "diff": "d", "cause": "c",
    }  # fmt: skip
