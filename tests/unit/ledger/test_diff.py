"""Two runs side by side."""

import pytest

import itemtrace
from itemtrace.ledger.alike import aligned, arguments_of, same
from itemtrace.ledger.diff import Diff, Difference
from itemtrace.ledger.tools import ToolCall


def call(name, arguments, **more):
    """A tool call."""
    fields = {"call_id": "c", "agent": "A", "call": None, "output": None, **more}
    return ToolCall(name=name, arguments=arguments, **fields)


class TestAlike:
    """What is the same."""

    def test_ids_and_nulls(self):
        """Ids differ between any two runs, nulls come and go, arguments are written as one likes."""
        left = [{"id": "a", "type": "x", "arguments": '{"a": 1}', "status": None}]
        right = [{"id": "b", "type": "x", "arguments": '{"a":1}'}]
        assert same(left, right)
        assert not same(left, [{"type": "x", "arguments": '{"a":2}'}])
        assert same({"arguments": 3}, {"arguments": 3})

    def test_arguments(self):
        """Arguments that are no JSON stay text."""
        assert arguments_of('{"a":1}') == {"a": 1}
        assert arguments_of("{a") == "{a"
        assert arguments_of(["x"]) == ["x"]

    def test_alignment(self):
        """Equal calls meet first, then those of equal name, and the rest stands alone."""
        old = [call("a", "1"), call("b", "2"), call("c", "3")]
        new = [call("b", "2"), call("c", "4"), call("d", "5")]
        names = [
            (
                left and (left.name, left.arguments),
                right and (right.name, right.arguments),
            )
            for left, right in aligned(old, new)
        ]
        assert names == [
            (("a", "1"), None),
            (("b", "2"), ("b", "2")),
            (("c", "3"), ("c", "4")),
            (None, ("d", "5")),
        ]


class TestDiff:
    """What a diff says."""

    def test_first_is_content(self):
        """Tokens and times are no parting of ways."""
        found = Diff(
            (Difference("R0", "time", 1, 2), Difference("R0", "input", "a", "b"))
        )
        assert found.first == Difference("R0", "input", "a", "b")
        assert (found.equal, len(found), str(found)) == (
            False,
            2,
            "R0: time\nR0: input",
        )
        assert [each.to_json()["what"] for each in found] == ["time", "input"]
        assert str(Diff()) == "no differences"

    @pytest.fixture
    async def recorded_pair(self, sdk_processors):
        """Makes ledgers of runs that a function makes."""
        from itemtrace.testing.provider import FakeProvider
        from itemtrace.testing.recorder import SpanRecorder

        async def record(script, story):
            with SpanRecorder() as recorder:
                itemtrace.install(tracer_provider=recorder.provider)
                try:
                    async with FakeProvider(script) as fake:
                        await story(fake)
                finally:
                    itemtrace.uninstall()
                return recorder.ledger()

        return record

    async def test_two_runs(self, recorded_pair):
        """Runs, model calls, tools and nested runs that differ, came or went, each at its place."""
        from agents import Agent, Runner, function_tool

        from itemtrace.testing.items import function_call, message

        @function_tool
        async def look(at: str) -> str:
            """Looks."""
            return at.upper()

        def outer(fake, instructions):
            inner = Agent(name="Inner", model=fake.responses_model("inner"))
            return Agent(
                name="Outer",
                instructions=instructions,
                model=fake.responses_model("outer"),
                tools=[look, inner.as_tool("ask", "Asks.")],
            )

        async def first(fake):
            await Runner.run(outer(fake, "Look."), "Go.")
            await Runner.run(outer(fake, "Look."), "Again.")

        async def second(fake):
            await Runner.run(outer(fake, "Look!"), "Go.")

        before = await recorded_pair(
            {
                "outer": [
                    [
                        function_call("look", "call_1", at="sea"),
                        function_call("ask", "call_2", input="?"),
                    ],
                    [message("Blue.", "msg_1")],
                    [message("Yes.", "msg_2")],
                ],
                "inner": [[message("one", "msg_3")]],
            },
            first,
        )
        after = await recorded_pair(
            {
                "outer": [
                    [
                        function_call("ask", "call_8", input="?"),
                        function_call("look", "call_9", at="sky"),
                    ],
                    [function_call("look", "call_10", at="sea")],
                    [message("Grey.", "msg_1")],
                ],
                "inner": [[message("two", "msg_3")]],
            },
            second,
        )
        found = itemtrace.diff(before, after)
        content = [(d.place, d.what) for d in found if d.of_content]
        assert content == [
            ("R0#0", "instructions"),
            ("R0#0", "output"),
            ("R0 turn 1 look", "missing"),
            ("R0/ask#0", "output"),
            ("R0/ask", "final output"),
            ("R0 turn 1 ask", "output"),
            ("R0 turn 1 look", "added"),
            ("R0#1", "instructions"),
            ("R0#1", "input"),
            ("R0#1", "output"),
            ("R0 turn 2 look", "added"),
            ("R0#2", "added"),
            ("R0", "final output"),
            ("R1", "missing"),
        ]
        back = itemtrace.diff(after.runs[0], before.runs[0])
        assert ("R0#2", "missing") in [(d.place, d.what) for d in back]
        assert itemtrace.diff(before, before).equal
