"""Traces: OpenTelemetry above and below, several runs in one, odd ids, sampled out, switched off."""

import datetime as dt
import uuid

import pytest
from agents import (
    Agent,
    RunConfig,
    Runner,
    custom_span,
    function_tool,
    get_current_span,
    set_tracing_disabled,
    trace,
)
from opentelemetry import context as otel_context
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

import itemtrace
from itemtrace.capture.guard import HEALTH
from itemtrace.testing.items import function_call, message
from itemtrace.testing.recorder import SpanRecorder


async def plain(agent, given, **more):
    """`Runner.run`."""
    return await Runner.run(agent, given, **more)


async def streamed(agent, given, **more):
    """`Runner.run_streamed`, to its end."""
    result = Runner.run_streamed(agent, given, **more)
    async for _ in result.stream_events():
        pass
    return result


WAYS = pytest.mark.parametrize("way", [plain, streamed])
SCRIPT = {"m": [[function_call("look_up", "call_1")], [message("Found.")]] * 4}


def librarian(fake, *tools):
    """The agent of this file."""

    @function_tool
    async def look_up() -> str:
        """Looks up."""
        return "page 7"

    return Agent(
        name="Librarian",
        model=fake.responses_model("m"),
        tools=list(tools) or [look_up],
    )


def named(recorded, name):
    """The one span with a name."""
    (found,) = (row for row in recorded.rows() if row.name == name)
    return found


# --- above and below ---------------------------------------------------------------


@WAYS
async def test_spans_of_the_application(way, provide, proved, recorded):
    """A request's span is the run's parent; a query's span in a tool is that tool's child."""
    tracer = recorded.provider.get_tracer("library")

    @function_tool
    async def look_up() -> str:
        """Looks up, in a span."""
        with tracer.start_as_current_span("SELECT"):
            return "page 7"

    @function_tool(name_override="look_up")
    def look_up_sync() -> str:
        """The same in a worker thread."""
        with tracer.start_as_current_span("SELECT sync"):
            return "page 7"

    fake = provide(SCRIPT)
    with tracer.start_as_current_span("GET /books"):
        first = await way(librarian(fake, look_up), "Where?")
        second = await way(librarian(fake, look_up_sync), "Where?")
    proved(first, second)
    request = named(recorded, "GET /books")
    roots = [row for row in recorded.rows() if row.name.startswith("invoke_workflow")]
    assert {row.parent_id for row in roots} == {request.span_id}
    assert {row.trace_id for row in recorded.rows()} == {request.trace_id}
    by_id = {row.span_id: row for row in recorded.rows()}
    for query in ("SELECT", "SELECT sync"):
        above = by_id[named(recorded, query).parent_id]
        assert above.name == "execute_tool look_up"


@WAYS
async def test_context_after_a_run(way, provide, proved, recorded):
    """After a run the current context is what it was before, in every way to end."""
    tracer = recorded.provider.get_tracer("library")
    fake = provide({"m": [*SCRIPT["m"][:2], [function_call("nowhere", "call_1")]]})
    before = otel_context.get_current()
    await way(librarian(fake), "Where?")
    assert otel_context.get_current() == before
    with tracer.start_as_current_span("GET /books") as span:
        inside = otel_context.get_current()
        with pytest.raises(Exception, match="nowhere"):
            await way(librarian(fake), "Where?")
        assert otel.get_current_span() is span
        assert otel_context.get_current() == inside
    assert otel_context.get_current() == before
    assert get_current_span() is None


async def test_parents(provide, proved, recorded):
    """Spans stand where the work was: run, agent, turn, model call and tool, items below them."""
    fake = provide(SCRIPT)
    proved(await Runner.run(librarian(fake), "Where?"))
    by_id = {row.span_id: row for row in recorded.rows()}

    def path(row):
        names = []
        while row is not None:
            names.append(row.name)
            row = by_id.get(row.parent_id)
        return names[::-1]

    paths = {tuple(path(row)) for row in recorded.rows()}
    root = ("invoke_workflow Librarian", "task", "invoke_agent Librarian", "turn")
    assert (*root, "chat m", "message_output_item") in paths
    assert (*root, "chat m", "tool_call_item") in paths
    assert (*root, "execute_tool look_up") in paths


# --- several runs, spans around them ---------------------------------------------------


@WAYS
async def test_two_runs_in_one_trace(way, provide, proved, recorded):
    """Runs in one `trace()` are one trace, in order, with its group and metadata."""
    fake = provide(SCRIPT)
    agent = librarian(fake)
    with trace("Search", group_id="reader-3", metadata={"floor": 2}):
        first = await way(agent, "Where?")
        second = await way(
            agent, [*first.to_input_list(), {"role": "user", "content": "And?"}]
        )
    runs = proved(first, second)
    assert {run.workflow for run in runs} == {"Search"}
    assert {run.group for run in runs} == {"reader-3"}
    assert [run.metadata for run in runs] == [{"floor": 2}] * 2
    assert runs[1].begin["after"] == runs[0].run_id
    assert len({row.trace_id for row in recorded.rows()}) == 1
    root = named(recorded, "invoke_workflow Search")
    assert root.attributes["gen_ai.conversation.id"] == "reader-3"


async def test_custom_span_around_a_run(provide, proved, recorded):
    """An application's `custom_span` around a run keeps its data and is its parent."""
    fake = provide(SCRIPT)
    with trace("Search"), custom_span("shelf", {"row": 3, "free": None}):
        result = await Runner.run(librarian(fake), "Where?")
    proved(result)
    shelf = named(recorded, "shelf")
    assert shelf.attributes["itemtrace.custom.data"] == '{"row":3,"free":null}'
    assert named(recorded, "task").parent_id == shelf.span_id


ODD_IDS = [
    "trace_my-order-42",
    "order#1",
    "trace_" + "z" * 32,
    "trace_" + "0" * 32,
    "trace_" + "ab" * 16,
    str(uuid.UUID(int=7)),
    "trace_日本",
]


@pytest.mark.parametrize("trace_id", ODD_IDS)
async def test_odd_trace_ids(trace_id, provide, proved, recorded):
    """Whatever a user takes for a trace id is kept, and the runs under it are in one trace."""
    fake = provide(SCRIPT)
    config = RunConfig(trace_id=trace_id)
    result = await Runner.run(librarian(fake), "Where?", run_config=config)
    (run,) = proved(result)
    assert run.trace_id == trace_id
    assert len({row.trace_id for row in recorded.rows()}) == 1


async def test_same_trace_id_twice(provide, proved):
    """Two traces with one id are two runs, one after the other."""
    fake = provide(SCRIPT)
    config = RunConfig(trace_id="trace_" + "ab" * 16)
    results = [
        await Runner.run(librarian(fake), "Where?", run_config=config) for _ in range(2)
    ]
    first, second = proved(*results)
    assert first.run_id != second.run_id


async def test_odd_metadata(provide, proved):
    """Metadata of any kind comes back: ids, dates, NaN, nested."""
    metadata = {
        "order": uuid.UUID(int=3),
        "at": dt.datetime(2026, 11, 30, tzinfo=dt.UTC),
        "ratio": float("nan"),
        "tags": ["a", {"b": None}],
        "": "no name",
    }
    fake = provide(SCRIPT)
    config = RunConfig(trace_metadata=metadata, workflow_name="日本語, odd")
    (run,) = proved(await Runner.run(librarian(fake), "Where?", run_config=config))
    assert repr(run.metadata) == repr(metadata)
    assert run.workflow == "日本語, odd"


async def test_without_task_and_turn_spans(provide, proved, recorded):
    """With task and turn spans switched off nothing is lost."""
    fake = provide(SCRIPT)
    config = RunConfig(tracing={"include_task_and_turn_spans": False})
    (run,) = proved(await Runner.run(librarian(fake), "Where?", run_config=config))
    names = {row.name for row in recorded.rows()}
    assert not names & {"task", "turn"}
    assert len(run.model_calls) == 2


# --- nothing recorded ---------------------------------------------------------------


@WAYS
async def test_unsampled(way, provide, sdk_processors):
    """In a trace that is sampled out nothing is recorded and nothing breaks."""
    HEALTH.reset()
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    itemtrace.install(tracer_provider=provider)
    try:
        fake = provide(SCRIPT)
        result = await way(librarian(fake), "Where?")
        assert result.final_output == "Found."
        tree = itemtrace.install()._processor.tree
        assert tree.open_count() == 0
    finally:
        itemtrace.uninstall()
        provider.shutdown()
    assert exporter.get_finished_spans() == ()
    assert itemtrace.health() == {}


@WAYS
@pytest.mark.parametrize("where", ["config", "globally"])
async def test_tracing_disabled(way, where, provide, recorded):
    """With tracing switched off nothing is recorded and nothing breaks."""
    fake = provide(SCRIPT)
    if where == "globally":
        set_tracing_disabled(True)
    try:
        config = RunConfig(tracing_disabled=where == "config")
        result = await way(librarian(fake), "Where?", run_config=config)
    finally:
        set_tracing_disabled(False)
    assert result.final_output == "Found."
    assert recorded.rows() == []
    assert itemtrace.health() == {}


async def test_uninstalled_in_the_middle(provide, recorded):
    """Taking itemtrace out while a run is at work leaves the run alone and says 'unsealed'."""

    @function_tool
    async def look_up() -> str:
        """Takes itemtrace out."""
        itemtrace.uninstall()
        return "page 7"

    fake = provide(SCRIPT)
    result = await Runner.run(librarian(fake, look_up), "Where?")
    assert result.final_output == "Found."
    ledger = recorded.ledger()
    assert len(ledger.runs) == 1
    assert ledger.self_check() == []
    assert itemtrace.health() == {}


async def test_installed_in_the_middle(provide, sdk_processors):
    """Installing while a run is at work disturbs nothing; the next run is whole."""
    HEALTH.reset()
    with SpanRecorder() as recorder:

        @function_tool
        async def look_up() -> str:
            """Puts itemtrace in."""
            itemtrace.install(tracer_provider=recorder.provider)
            return "page 7"

        fake = provide(SCRIPT)
        agent = librarian(fake, look_up)
        try:
            first = await Runner.run(agent, "Where?")
            second = await Runner.run(agent, "Where?")
        finally:
            itemtrace.uninstall()
        assert first.final_output == second.final_output == "Found."
        whole = [run for run in recorder.ledger().runs if run.exact]
        assert [run.final_output for run in whole] == ["Found."]
    assert itemtrace.health() == {}
