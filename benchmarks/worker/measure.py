"""The measurements that every recorder goes through, one registered function for each."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from benchmarks.worker import export, switches, workload
from benchmarks.worker.registry import Emit, Job, measure
from benchmarks.worker.workload import Shape


WARM = Shape(turns=10)
WARM_UPS = 10


async def warm_up() -> None:
    """Runs a few short runs, so that imports, caches and lazy set-up are paid for."""
    for number in range(WARM_UPS):
        await workload.prepare(WARM, -1 - number)()


@measure
def cpu(job: Job, emit: Emit) -> dict[str, Any]:  # noqa: ARG001 - one signature for all
    """CPU of the whole process per run, and at each turn; spans go nowhere."""
    exporter = export.NoOpExporter()
    switches.switch_on(job["peer"], SimpleSpanProcessor(exporter))
    shape = Shape(turns=job["turns"])

    async def main() -> tuple[list[float], list[list[float]]]:
        await warm_up()
        whole, turns = [], []
        for number in range(job["runs"]):
            run = workload.prepare(shape, number)
            gc.collect()
            before = time.process_time()
            _, stamps = await run()
            after = time.process_time()
            whole.append(after - before)
            edges = [*stamps, after]
            turns.append([b - a for a, b in pairwise(edges)])
        return whole, turns

    whole, turns = asyncio.run(main())
    per_turn = [sorted(at)[len(at) // 2] for at in zip(*turns, strict=True)]
    return {
        "seconds": sum(whole) / len(whole),
        "per_turn": per_turn,
        "spans": exporter.count,
    }


@measure
def content(job: Job, emit: Emit) -> dict[str, Any]:  # noqa: ARG001
    """Bytes, spans, dropped attributes, and the share of the run that the export holds."""
    exporter = InMemorySpanExporter()
    switches.switch_on(job["peer"], SimpleSpanProcessor(exporter))
    shape = Shape(turns=job["turns"], script=job["script"])
    held: list[Any] = []

    async def main() -> None:
        # Handed out by the side: asyncio.run makes the repr of what its coroutine returns.
        held.extend(await workload.prepare(shape)())

    asyncio.run(main())
    result = held[0]
    spans = exporter.get_finished_spans()
    wanted = [*export.leaves(result.to_input_list())]
    for answer in result.raw_responses:
        wanted += export.leaves(
            [item.model_dump(exclude_unset=True) for item in answer.output]
        )
        wanted += [answer.response_id or ""]
    found = {
        "bytes": export.otlp_bytes(spans),
        "spans": len(spans),
        "dropped": export.dropped(spans),
    }
    if job["peer"].startswith("itemtrace"):
        from benchmarks.worker import ours

        return found | ours.compare(spans, result, wanted)
    return found | {"share": export.share_found(wanted, export.texts(spans))}


TICK = 0.001


async def longest_stall(work: Any) -> tuple[float, float]:
    """Returns how late a 1 ms ticker came at worst while the work ran, in wall time and in the loop's CPU time."""
    late = cpu_between = 0.0
    done = False

    async def ticker() -> None:
        nonlocal late, cpu_between
        while not done:
            wall, spent = time.perf_counter(), time.thread_time()
            await asyncio.sleep(TICK)
            late = max(late, time.perf_counter() - wall - TICK)
            cpu_between = max(cpu_between, time.thread_time() - spent)

    ticking = asyncio.create_task(ticker())
    await asyncio.sleep(5 * TICK)
    try:
        await work
    finally:
        done = True
        await ticking
    return late, cpu_between


@measure
def stall(job: Job, emit: Emit) -> dict[str, Any]:  # noqa: ARG001
    """Longest stall of the event loop in one run, the collector kept out of it."""
    switches.switch_on(job["peer"], SimpleSpanProcessor(export.NoOpExporter()))
    shape = Shape(turns=job["turns"], size=job["size"], pause=3 * TICK)

    async def main() -> list[tuple[float, float]]:
        await warm_up()
        found = []
        for number in range(job["runs"]):
            run = workload.prepare(shape, number)
            gc.collect()
            gc.disable()
            found.append(await longest_stall(run()))
            gc.enable()
        return found

    found = asyncio.run(main())
    walls, cpus = (sorted(values) for values in zip(*found, strict=True))
    return {"wall": walls[len(walls) // 2], "cpu": cpus[len(cpus) // 2]}


def resident_kb() -> int:
    """Returns the resident memory of this process (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


@measure
def memory(job: Job, emit: Emit) -> dict[str, Any]:
    """Memory after every tenth of many finished short runs: blocks that Python holds, and resident kB."""
    switches.switch_on(job["peer"], SimpleSpanProcessor(export.NoOpExporter()))
    shape = Shape(turns=2, size=200)
    step = job["runs"] // 10

    async def main() -> list[dict[str, int]]:
        points = []
        for number in range(1, job["runs"] + 1):
            await workload.prepare(shape, number)()
            if number % step == 0:
                gc.collect()
                points.append(
                    {
                        "runs": number,
                        "blocks": sys.getallocatedblocks(),
                        "kb": resident_kb(),
                    }
                )
                emit(done=number, of=job["runs"])
        return points

    return {"points": asyncio.run(main())}
