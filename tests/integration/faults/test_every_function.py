"""Each function of ours is made to fail in turn; the run must not notice, the ledger must say so."""

import asyncio
import importlib
import inspect
import logging
import pkgutil
import sys
import types
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import pytest
from agents.tracing import get_trace_provider
from opentelemetry.sdk.trace import SpanProcessor

import itemtrace
from itemtrace.capture.guard import HEALTH
from itemtrace.testing.recorder import SpanRecorder


BOUNDARY = {
    # the guard itself
    "itemtrace.capture.guard:guarded.decorate.call",
    "itemtrace.capture.guard:Health.failed",
    # what stands between the SDK and the guard: one call each, nothing that can fail
    "itemtrace.capture.hooks:RecordingHooks.on_llm_start",
    "itemtrace.capture.hooks:RecordingHooks.on_llm_end",
    "itemtrace.capture.hooks:RecordingHooks.on_agent_start",
    "itemtrace.capture.hooks:RecordingHooks.on_agent_end",
    "itemtrace.capture.hooks:RecordingHooks.on_handoff",
    "itemtrace.capture.hooks:RecordingHooks.on_tool_start",
    "itemtrace.capture.hooks:RecordingHooks.on_tool_end",
    "itemtrace.capture.runner:RunnerSeam._run",
    "itemtrace.capture.runner:RunnerSeam._run_streamed",
    "itemtrace.capture.runner:_recorded",
    "itemtrace.capture.runner:_watch.done",
    "itemtrace.capture.sessions:observed.call",
    "itemtrace.capture.processor:Processor.force_flush",
    "itemtrace.capture.processor:Processor.shutdown",
}


@dataclass(frozen=True)
class Place:
    """One function of ours: the function object whose code holds it, and the way down to it."""

    module: str
    owner: types.FunctionType
    path: tuple[types.CodeType, ...]

    @property
    def name(self):
        """Module and qualified name."""
        return f"{self.module}:{self.path[-1].co_qualname.replace('.<locals>', '')}"

    @contextmanager
    def failing(self):
        """Replaces this function by one that raises, wherever it is called from."""
        code = self.owner.__code__
        self.owner.__code__ = _replaced(code, self.path[1:])
        try:
            yield
        finally:
            self.owner.__code__ = code


def _replaced(code, path):
    if not path:
        return _raising(code)
    inner = _replaced(path[0], path[1:])
    found = tuple(inner if const is path[0] else const for const in code.co_consts)
    return code.replace(co_consts=found)


def _raising(code):
    """Returns code that raises at once and has as many free variables as the given one."""
    free = code.co_freevars
    source = (
        "def outer():\n"
        + "".join(f"    {name} = None\n" for name in free)
        + "    def broken(*args, **kwargs):\n"
        + "".join(f"        {name}\n" for name in free)
        + "        __import__('sys').modules['itemtrace_faults'].fire()\n"
        + "    return broken\n"
    )
    space = {}
    exec(compile(source, "<fault>", "exec"), space)  # noqa: S102 - our own few lines
    return space["outer"]().__code__


class Faults(types.ModuleType):
    """Counts how often a fault was met."""

    def __init__(self):
        super().__init__("itemtrace_faults")
        self.fired = 0

    def fire(self):
        """Raises what no code of ours expects."""
        self.fired += 1
        msg = "injected fault"
        raise RuntimeError(msg)


def _modules():
    for package in ("itemtrace.capture", "itemtrace.codec"):
        root = importlib.import_module(package)
        for found in pkgutil.walk_packages(root.__path__, package + "."):
            yield importlib.import_module(found.name)


def _functions(module):
    """Yields the functions that a module defines, wrappers taken off, each once."""
    seen = set()
    spaces = [vars(module)]
    spaces += [vars(kind) for kind in vars(module).values() if inspect.isclass(kind)]
    for value in [value for space in spaces for value in space.values()]:
        found = value.fget if isinstance(value, property) else value
        found = found.fset if isinstance(value, property) and found is None else found
        found = inspect.unwrap(found) if callable(found) else found
        if not isinstance(found, types.FunctionType) or found in seen:
            continue
        if found.__code__.co_filename == module.__file__:
            seen.add(found)
            yield found


ENDERS = {
    "itemtrace.capture.processor:Processor.on_span_end",
    "itemtrace.capture.processor:Processor.on_trace_end",
    "itemtrace.capture.tree:Tree.get",
    "itemtrace.capture.tree:Tree.leave",
    "itemtrace.capture.tree:Tree.end_trace",
    "itemtrace.capture.tree:Tree._remember",
    "itemtrace.capture.tree:Tree.end_root",
}
"""What ends spans: when it fails at its very first line, spans stay open."""


ABSENT = {"the start of a run", "on_trace_start", "on_span_start"}
"""Where a run fails to begin, nothing of it may be there at all; then only the count says so."""

NAMED_LOSSES = {
    "itemtrace.codec.canonical:_encode_deep",
    "itemtrace.codec.canonical:_encode_mapping",
    "itemtrace.codec.canonical:_encode_object",
    "itemtrace.codec.canonical:_encode_text",
}
"""Where a value that cannot be encoded becomes a mark in its record; the ledger counts it."""


def _nested(code):
    for const in code.co_consts:
        if isinstance(const, types.CodeType) and not const.co_name.startswith("<"):
            yield (const,)
            yield from ((const, *deeper) for deeper in _nested(const))


@cache
def places():
    """Returns every function of capture and codec by name, nested ones too."""
    found = {}
    for module in _modules():
        for function in _functions(module):
            code = function.__code__
            paths = [(code,), *((code, *deeper) for deeper in _nested(code))]
            inside = [Place(module.__name__, function, path) for path in paths]
            found.update({place.name: place for place in inside})
    return found


class Started(SpanProcessor):
    """Counts spans that started and did not end."""

    def __init__(self):
        self.open = Counter()

    def on_start(self, span, parent_context=None):
        """One more."""
        self.open[span.context.span_id] += 1

    def on_end(self, span):
        """One less."""
        self.open[span.context.span_id] -= 1

    def left(self):
        """Returns how many are open."""
        return +self.open


@contextmanager
def untouched():
    """Changes nothing."""
    yield


def record(stage, stories, meanwhile=untouched):
    """Plays each story under an installation of its own; returns what was seen of each.

    Args:
        stage: Has the client and the agents.
        stories: What to play.
        meanwhile: Entered after the installation, left before it is taken out.
    """
    seen = []

    async def play():
        async with stage.client() as client:
            agents = stage.team(client)
            for story in stories:
                seen.append(await _one(story, agents, meanwhile))  # noqa: PERF401 - one after the other

    asyncio.run(play())
    return seen


async def _one(story, agents, meanwhile):
    started = Started()
    with SpanRecorder() as recorder:
        recorder.provider.add_span_processor(started)
        itemtrace.install(tracer_provider=recorder.provider)
        tree = _tree()
        try:
            with meanwhile():
                ends, beside = await story(agents)
                await asyncio.sleep(0)
        finally:
            itemtrace.uninstall()
        left = (len(started.left()), tree.open_count())
        return ends, beside, left, recorder


def _tree():
    return get_trace_provider()._multi_processor._processors[-1].tree


def _called(stage):
    """Returns code object -> the stories that call it, from one recorded play of each."""
    calls = {}
    files = {place.path[0].co_filename for place in places().values()}
    for story in stage.stories:

        @contextmanager
        def profiled(story=story):
            def note(frame, event, _):
                if event == "call" and frame.f_code.co_filename in files:
                    calls.setdefault(frame.f_code, {})[story] = True

            sys.setprofile(note)
            try:
                yield
            finally:
                sys.setprofile(None)

        ((ends, _, _, recorder),) = record(stage, [story], profiled)
        ledger = recorder.ledger()
        assert ledger.exact
        assert stage.wrong(ledger, ends) == []
    return {code: list(stories) for code, stories in calls.items()}


GROUPS = sorted({place.module for place in places().values()})


@pytest.fixture(scope="module")
def truth():
    """Kept between the tests of this module: what stories give without us."""
    return {}


@pytest.mark.parametrize("module", GROUPS)
def test_a_failing_function_never_reaches_the_run(module, stage, truth, caplog):
    """Result, hooks and spans are as without us; each fault is logged once and counted."""
    if not truth:
        ended = stage.play(*stage.stories)
        truth["said"] = {
            story: (stage.said(ends), beside)
            for story, (ends, beside) in zip(stage.stories, ended, strict=True)
        }
        truth["called"] = _called(stage)
    problems = {}
    for name, place in places().items():
        stories = truth["called"].get(place.path[-1], ())
        if place.module != module or name in BOUNDARY or not stories:
            continue
        found = _faulty(stage, place, stories[:1], truth["said"], caplog)
        if found:
            problems[name] = found
    assert problems == {}


def _faulty(stage, place, stories, expected, caplog):
    faults = sys.modules["itemtrace_faults"] = Faults()
    HEALTH.reset()
    caplog.clear()
    with caplog.at_level(logging.WARNING, "itemtrace"):
        try:
            seen = record(stage, stories, place.failing)
        except Exception as error:  # noqa: BLE001 - the finding itself
            return [f"raised {error!r}"]
        finally:
            del sys.modules["itemtrace_faults"]
            itemtrace.uninstall()
    problems = []
    counts = HEALTH.counts()
    for story, (ends, beside, left, recorder) in zip(stories, seen, strict=True):
        if (stage.said(ends), beside) != expected[story]:
            problems.append(f"{story.__name__}: another result")
        if left != (0, 0) and place.name not in ENDERS:
            problems.append(f"{story.__name__}: left open {left}")
        ledger = recorder.ledger()
        if ledger.runs or ledger.gaps or not ABSENT & set(counts):
            texts = stage.wrong(ledger, ends)
            problems += [f"{story.__name__}: {text}" for text in texts]
    logged = [r.getMessage() for r in caplog.records if r.name == "itemtrace"]
    if faults.fired and not counts and place.name not in NAMED_LOSSES:
        problems.append("not counted")
    if len(logged) != len(counts):
        problems.append(f"{len(logged)} log lines for {counts}")
    return problems
