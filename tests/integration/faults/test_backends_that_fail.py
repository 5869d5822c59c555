"""Exporters that raise or are slow, stores that are full or read-only: the run does not notice."""

import asyncio
import sqlite3
import threading
import time

import pytest
from agents import custom_span, trace
from agents.tracing import get_trace_provider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

import itemtrace
from itemtrace.errors import SourceError, StoreLocked
from itemtrace.stores import open_store


class Raising(SpanExporter):
    """Raises on every batch."""

    def __init__(self):
        self.batches = 0

    def export(self, spans):
        """Raises."""
        self.batches += 1
        msg = "the backend is gone"
        raise ConnectionError(msg)


class Slow(SpanExporter):
    """Takes its time, and keeps what came."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.spans = []

    def export(self, spans):
        """Waits."""
        time.sleep(self.seconds)
        self.spans += spans
        return SpanExportResult.SUCCESS


@pytest.fixture
def handoff(stage):
    """Plays the first story and returns what a user sees of it."""

    def play():
        ((ends, beside),) = stage.play(stage.stories[0])
        return stage.said(ends), beside

    return play


def test_an_exporter_that_raises(handoff, caplog):
    """The run's result is the same; OpenTelemetry logs the backend's error."""
    expected = handoff()
    exporter = Raising()
    itemtrace.install(exporter=exporter)
    assert handoff() == expected
    itemtrace.uninstall()
    assert exporter.batches > 0
    assert itemtrace.health() == {}
    assert "Exception while exporting" in caplog.text


def test_a_slow_exporter_is_not_waited_for(handoff):
    """Spans are sent from another thread; the run ends before the first batch does."""
    exporter = Slow(1.0)
    itemtrace.install(exporter=exporter)
    handoff()
    assert exporter.spans == []
    assert itemtrace.flush(10)
    assert len(exporter.spans) > 10
    itemtrace.uninstall()


def test_a_full_disk(handoff, tmp_path, caplog):
    """The store refuses, once in the log and counted; what was there before can be read."""
    path = tmp_path / "full.db"
    expected = handoff()
    itemtrace.install(store=path)
    handoff()
    itemtrace.uninstall()
    before = itemtrace.load(path)
    store = open_store(path, write=True)
    pages = store.fetch("PRAGMA page_count")[0][0]
    store.fetch(f"PRAGMA max_page_count = {pages}")
    itemtrace.install(store=store)
    big = "x" * 500_000  # more than the free room in the last pages
    with itemtrace_span(big):
        assert handoff() == expected
    itemtrace.uninstall()
    assert set(itemtrace.health()) == {"the local store"}
    ours = [r.getMessage() for r in caplog.records if r.name == "itemtrace"]
    assert len(ours) == 1
    assert "the disk is full" in ours[0]
    after = itemtrace.load(path)
    assert after.runs[: len(before.runs)] == before.runs
    assert after == before or not after.exact


def itemtrace_span(text):
    """Returns the SDK's custom span that holds a large text."""

    class Both:
        def __enter__(self):
            self.trace = trace("big").__enter__()
            custom_span("big", {"text": text}).__enter__().__exit__(None, None, None)

        def __exit__(self, *error):
            self.trace.__exit__(*error)

    return Both()


def test_a_read_only_store_is_refused_at_once(tmp_path):
    """`install` says so; nothing is put in."""
    path = tmp_path / "sealed.db"
    open_store(path, write=True).close()
    connection = sqlite3.connect(path)
    connection.close()
    directory = tmp_path / "taken"
    directory.write_text("a file where a directory is asked for")
    with pytest.raises(SourceError, match=r"cannot be written|is read-only") as raised:
        itemtrace.install(store=directory / "traces.db")
    assert not isinstance(raised.value, StoreLocked)
    assert list(get_trace_provider()._multi_processor._processors) == []


def test_a_store_that_becomes_read_only(handoff, tmp_path, caplog):
    """Writes fail and are counted; the run is the same."""
    path = tmp_path / "traces.db"
    open_store(path, write=True).close()
    expected = handoff()
    store = open_store(path, write=True)
    store.fetch("PRAGMA query_only = 1")
    itemtrace.install(store=store)
    assert handoff() == expected
    itemtrace.uninstall()
    assert set(itemtrace.health()) == {"the local store"}
    assert sum(r.name == "itemtrace" for r in caplog.records) == 1


def test_a_thousand_pending_spans_do_not_block(stage):
    """A queue that overflows drops spans and names the gap; the loop is never stopped."""
    exporter = Slow(0.2)
    itemtrace.install(exporter=exporter)
    before = threading.active_count()
    ticks = []

    async def busy():
        async def tick():
            while True:
                ticks.append(1)
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        async with stage.client() as client:
            agents = stage.team(client)
            await asyncio.gather(*(stage.stories[3](agents) for _ in range(5)))
        ticking.cancel()

    asyncio.run(busy())
    assert ticks
    assert threading.active_count() <= before + 1
    itemtrace.uninstall()
