"""What is done for a turn does not grow with the history of its run."""

import sys

from agents import Agent, Runner, function_tool

import itemtrace
from itemtrace.codec import canonical
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder


TURNS = 62


async def test_serialised_per_turn_at_turn_5_and_at_turn_60(monkeypatch):
    """A late turn writes as many JSON texts as an early one, of the same size."""
    texts = []
    marks = []

    @function_tool
    def step(number: str) -> str:
        """One step."""
        marks.append(len(texts))
        return "x" * 200

    def spy(value, **options):
        text = dumps(value, **options)
        caller = sys._getframe(1).f_globals["__name__"]
        if caller.startswith(("itemtrace.capture", "itemtrace.codec")):
            texts.append(text)  # the scripted provider writes its answers with it too
        return text

    dumps = canonical.dumps
    monkeypatch.setattr(canonical, "dumps", spy)
    turns = [
        [function_call("step", f"call_{n:04}", number=f"{n:04}")] for n in range(TURNS)
    ]
    async with FakeProvider({"worker": [*turns, [message("done")]]}) as fake:
        agent = Agent(name="W", model=fake.responses_model("worker"), tools=[step])
        with SpanRecorder() as recorder:
            itemtrace.install(tracer_provider=recorder.provider)
            try:
                await Runner.run(agent, "Go.", max_turns=100)
            finally:
                itemtrace.uninstall()
    early, late = (texts[marks[n] : marks[n + 1]] for n in (5, 60))
    assert len(early) == len(late) > 0
    sizes = [sum(map(len, part)) for part in (early, late)]
    assert (
        0 < max(sizes) - min(sizes) <= 40 or sizes[0] == sizes[1]
    )  # times and numbers
    assert max(sizes) < 2_500
    exported = [
        sum(len(str(v)) for v in s.attributes.values())
        for s in recorder.spans("chat worker")
    ]
    assert abs(exported[60] - exported[5]) <= 40
