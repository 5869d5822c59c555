"""What only itemtrace can be asked: is the run back, how large is its ledger, how fast does a store give it."""

from __future__ import annotations

import asyncio
import os
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import itemtrace
from benchmarks.worker import export, switches, workload
from benchmarks.worker.registry import Emit, Job, measure
from itemtrace.capture.sinks import row_of
from itemtrace.ledger import io
from itemtrace.stores import open_store
from itemtrace.testing.truth import differences


if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents import RunResult
    from opentelemetry.sdk.trace import ReadableSpan


SHAPE = workload.Shape(turns=10)
FILL_BATCH = 100
"""Runs whose spans are written into the store together."""


def compare(
    spans: Sequence[ReadableSpan], result: RunResult, wanted: list[str]
) -> dict[str, Any]:
    """Rebuilds the run from its spans and compares every fact of its result."""
    ledger = itemtrace.rebuild(map(row_of, spans))
    found = differences(ledger.runs[0], result)
    why = str(found[0])[:80] if found else ", ".join(gap.message for gap in ledger.gaps)
    text = io.dumps(ledger)
    return {
        "share": export.share_found(wanted, [text]),
        "exact": ledger.exact and not found,
        "why": why[:80],
        "ledger_bytes": len(text.encode()),
    }


def store_path(spans: int) -> Path:
    """Returns where the store with at least this many spans is."""
    return Path(os.environ["BENCHMARK_STORES"]) / f"{spans}.sqlite"


@measure
def fill(job: Job, emit: Emit) -> dict[str, Any]:
    """Fills a local store with recorded runs, and says how long the writing took."""
    path = store_path(job["spans"])
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    exporter = InMemorySpanExporter()
    switches.switch_on(job["peer"], SimpleSpanProcessor(exporter))
    written, runs, spent = 0, 0, 0.0

    async def record() -> None:
        nonlocal runs
        for _ in range(FILL_BATCH):
            await workload.prepare(SHAPE, runs)()
            runs += 1

    with open_store(path, write=True) as store:
        while written < job["spans"]:
            asyncio.run(record())
            before = time.process_time()
            written += store.write(map(row_of, exporter.get_finished_spans()))
            spent += time.process_time() - before
            exporter.clear()
            emit(written=written, of=job["spans"])
    return {"written": written, "stored_runs": runs, "cpu": spent}


@measure
def rebuild(job: Job, emit: Emit) -> dict[str, Any]:  # noqa: ARG001 - one signature for all
    """Reads every ledger of a filled store."""
    path = store_path(job["spans"])
    with open_store(path) as store:
        read = sum(len(list(rows)) for _, rows in store.traces())
    ledgers, exact = 0, True
    before, wall = time.process_time(), time.perf_counter()
    for ledger in itemtrace.iter_ledgers(path):
        ledgers += 1
        exact = exact and ledger.exact
    return {
        "cpu": time.process_time() - before,
        "wall": time.perf_counter() - wall,
        "read": read,
        "ledgers": ledgers,
        "exact": exact,
        "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
