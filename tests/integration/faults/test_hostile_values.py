"""Objects that raise, circles, redactors and hooks that fail: the run is the same as without us."""

import threading
from dataclasses import dataclass

import pytest
from agents import Agent, RunHooks, Runner, function_tool

import itemtrace
from itemtrace.ledger import GapCause
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder
from itemtrace.testing.truth import differences


class Hostile:
    """Has a text for the model and raises at every other touch."""

    def __str__(self):
        return "hostile"

    def __repr__(self):
        raise KeyError

    def __eq__(self, other):
        raise ZeroDivisionError

    __hash__ = None

    def __bool__(self):
        raise OverflowError

    def model_dump(self, **options):
        """Raises."""
        raise TypeError

    def items(self):
        """Raises."""
        raise OSError


@dataclass
class Broken:
    """A dataclass whose field raises when it is read back."""

    value: int

    def __repr__(self):
        return "broken"

    def __getattribute__(self, name):
        if name == "value":
            raise PermissionError
        return object.__getattribute__(self, name)


def circle():
    """Returns a mapping and a list that hold each other, twice."""
    inside = []
    outside = {"inside": inside, "again": inside}
    inside += [outside, outside]
    return outside


VALUES = {
    "hostile": Hostile,
    "broken dataclass": lambda: Broken(1),
    "circle": circle,
    "lock": threading.Lock,
    "generator": lambda: (n for n in range(2)),
    "deep": lambda: eval("[" * 90 + "]" * 90),  # noqa: S307 - ninety brackets
    "huge": lambda: "ß" * 300_000,
    "nothing": lambda: None,
    "a type": lambda: Hostile,
}


async def ask(fake, value, **install):
    """Runs an agent whose tool gives a value; returns the result and what was recorded."""

    @function_tool
    def give():
        """Gives it."""
        return value

    model = fake.responses_model("giver")
    agent = Agent(name="Giver", model=model, tools=[give])
    with SpanRecorder() as recorder:
        itemtrace.install(tracer_provider=recorder.provider, **install)
        try:
            result = await Runner.run(agent, "Give.", context=value)
        finally:
            itemtrace.uninstall()
    return result, recorder.ledger()


SCRIPT = {"giver": [[function_call("give", "call_1")], [message("Given.")]]}


@pytest.mark.parametrize("name", VALUES)
async def test_tool_outputs_of_any_kind(name):
    """The run ends well; what cannot be kept is a named gap, all else is exact."""
    async with FakeProvider(SCRIPT) as fake:
        result, ledger = await ask(fake, VALUES[name]())
    assert result.final_output == "Given."
    assert itemtrace.health() == {}
    (run,) = ledger.runs
    assert {gap.cause for gap in ledger.gaps} <= {GapCause.NOT_CAPTURED}
    if ledger.exact:
        assert differences(run, result) == []
    output = run.items[1]
    assert output.raw["output"] == result.to_input_list()[2].get("output")


async def test_a_redactor_that_raises():
    """What it could not look at is withheld, marked and counted; the run and its ids are whole."""

    def broken(item):
        raise ValueError(item)

    async with FakeProvider(SCRIPT) as fake:
        result, ledger = await ask(fake, "secret", redact=[broken])
    assert result.final_output == "Given."
    (run,) = ledger.runs
    assert [item.call_id for item in run.items] == ["call_1", "call_1", None]
    causes = {gap.cause for gap in ledger.gaps}
    assert causes == {GapCause.REDACTED, GapCause.WITHHELD}
    assert set(itemtrace.health()) == {"a redaction"}


async def test_a_redactor_that_gives_no_item():
    """A redactor that returns something else withholds the item."""
    async with FakeProvider(SCRIPT) as fake:
        result, ledger = await ask(fake, "secret", redact=[lambda item: "gone"])
    assert result.final_output == "Given."
    assert {gap.cause for gap in ledger.gaps} == {
        GapCause.REDACTED,
        GapCause.WITHHELD,
    }


class BrokenHooks(RunHooks):
    """Hooks of the user that raise."""

    async def on_tool_start(self, context, agent, tool):
        """Raises."""
        msg = "user hook"
        raise LookupError(msg)


async def test_user_hooks_that_raise_end_the_run_as_without_us():
    """Their exception reaches the caller; the ledger has the failed run."""
    async with FakeProvider(SCRIPT) as fake:
        model = fake.responses_model("giver")
        tool = function_tool(lambda: "x", name_override="give", description_override="")
        agent = Agent(name="Giver", model=model, tools=[tool])
        with SpanRecorder() as recorder:
            itemtrace.install(tracer_provider=recorder.provider)
            try:
                with pytest.raises(Exception, match="user hook") as recorded:
                    await Runner.run(agent, "Give.", hooks=BrokenHooks())
            finally:
                itemtrace.uninstall()
        fake.script = {"giver": [SCRIPT["giver"][0]] * 2}
        with pytest.raises(Exception, match="user hook") as plain:
            await Runner.run(agent, "Give.", hooks=BrokenHooks())
    assert type(recorded.value) is type(plain.value)
    ledger = recorder.ledger()
    assert [run.status for run in ledger.runs] == ["failed"]
    assert ledger.exact
    assert itemtrace.health() == {}


async def test_hooks_that_are_none_are_refused_as_without_us():
    """The SDK's own message comes through."""
    async with FakeProvider(SCRIPT) as fake:
        agent = Agent(name="Giver", model=fake.responses_model("giver"))
        with SpanRecorder() as recorder:
            itemtrace.install(tracer_provider=recorder.provider)
            with pytest.raises(TypeError, match="hooks"):
                await Runner.run(agent, "Give.", hooks="no hooks")
            itemtrace.uninstall()
    assert itemtrace.health() == {}
