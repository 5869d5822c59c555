"""A real run of several agents, recorded both ways, keeps to the conventions and to the registry."""

from typing import Any

import pytest
from agents import set_trace_processors
from agents.tracing import get_trace_provider

import itemtrace
from itemtrace import semconv
from itemtrace.testing.conformance import violations
from itemtrace.testing.demo import run_demo
from itemtrace.testing.recorder import SpanRecorder


async def by_seam(recorded):
    """Records the demo with the runner seam."""
    itemtrace.install(tracer_provider=recorded.provider, compat=True)
    try:
        await run_demo()
    finally:
        itemtrace.uninstall()


async def by_callbacks(recorded):
    """Records the demo from tracing callbacks alone."""
    provider: Any = get_trace_provider()
    before = provider._multi_processor._processors
    processor = itemtrace.ItemTraceProcessor(tracer_provider=recorded.provider)
    set_trace_processors([processor])
    try:
        await run_demo()
    finally:
        set_trace_processors(list(before))
        processor.shutdown()


@pytest.fixture(params=[by_seam, by_callbacks], ids=["seam", "callbacks"])
async def rows(request):
    """The demo's spans."""
    with SpanRecorder() as recorded:
        await request.param(recorded)
        return recorded.rows()


async def test_the_demo_conforms(rows):
    """No span of the demo breaks the policy of the conventions."""
    assert len(rows) > 50
    assert violations(rows) == []


async def test_the_demo_emits_registered_keys_only(rows):
    """Each attribute of the demo's spans is documented."""
    keys = {key for row in rows for key in row.attributes}
    records = {key for key in keys if key.startswith(semconv.ITEMTRACE_RECORD)}
    assert records
    assert keys - records - set(semconv.KEYS) == set()
