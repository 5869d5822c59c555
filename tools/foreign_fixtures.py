# ruff: noqa: S603 - a script, no package; it runs itself in several environments
"""Makes the spans of other recorders that `tests/golden/foreign/` keeps: real ones, of small runs.

    python tools/foreign_fixtures.py             all, each in its environment of the benchmarks
    python tools/foreign_fixtures.py logfire     only this one

`python -m benchmarks` makes the environments (benchmarks/envs.py), `benchmarks.worker.switches` says
how each recorder is switched on. Ids and times are put in order afterwards, so that a fixture
changes only when a recorder does. Beside each the runs' own results stand in `results.json`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from itemtrace.codec.spans import SpanRow


ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "foreign"
RECORDERS = ("openinference", "traceloop", "genai", "contrib-v2", "logfire", "oa-otel")
SDK = "sdk"
"""The SDK's own exporter: what it would send, caught before it is sent."""

START_NS = 1_700_000_000_000_000_000


def desk() -> dict[str, Any]:
    """Returns the script: reasoning, equal parallel calls, a handoff, an agent as a tool, a tool that fails."""
    from itemtrace.testing.items import function_call, message, reasoning

    return {
        "desk": [
            [
                reasoning("rs_1", "gAAAAsealed", "Orders knows more."),
                function_call("transfer_to_orders", "call_handoff"),
            ],
        ],
        "orders": [
            [
                function_call("stock_level", "call_a", article="lamp"),
                function_call("stock_level", "call_b", article="lamp"),
                function_call("translate", "call_t", input="Seven lamps are left."),
            ],
            [message("Seven, 七つ.", "msg_1")],
        ],
        "translator": [[message("ランプが七つ残っています。", "msg_2")]],
        "parcels": [[function_call("parcel_status", "call_p", number="1042")]],
        "chat": [
            [function_call("stock_level", "call_c", article="shade")],
            [message("Seven shades.", "msg_3")],
        ],
    }


async def runs() -> list[dict[str, Any]]:
    """Runs the script and returns what the SDK's results say."""
    from agents import Agent, RunConfig, Runner, function_tool
    from agents.exceptions import UserError

    from itemtrace.testing.provider import FakeProvider

    @function_tool
    async def stock_level(article: str) -> str:
        """Returns how many of an article are left."""
        return f"7 {article}s"

    @function_tool(failure_error_function=None)
    async def parcel_status(number: str) -> str:
        """Asks the carrier where a parcel is."""
        msg = f"the carrier does not know {number}"
        raise ConnectionError(msg)

    async with FakeProvider(desk()) as fake:
        translator = Agent(
            name="Translator",
            instructions="Into Japanese.",
            model=fake.responses_model("translator"),
        )
        orders = Agent(
            name="Orders",
            instructions="Look it up.",
            model=fake.responses_model("orders"),
            tools=[
                stock_level,
                translator.as_tool("translate", "Translates into Japanese."),
            ],
        )
        front = Agent(
            name="Desk",
            instructions="Hand over.",
            model=fake.responses_model("desk"),
            handoffs=[orders],
        )
        chat = Agent(
            name="Clerk",
            instructions="Be brief.",
            model=fake.chat_model("chat"),
            tools=[stock_level],
        )
        config = RunConfig(workflow_name="Order desk", group_id="customer-1")
        done = [await Runner.run(front, "How many lamps are left?", run_config=config)]
        done.append(
            await Runner.run(
                chat, "And shades?", run_config=RunConfig(workflow_name="Shades")
            )
        )
        parcels = Agent(
            name="Parcels",
            model=fake.responses_model("parcels"),
            tools=[parcel_status],
        )
        failed = ""
        try:
            await Runner.run(parcels, "Where is it?")
        except UserError as error:
            failed = str(error)
    told = [
        {
            "input": result.input,
            "to_input_list": result.to_input_list(),
            "final_output": result.final_output,
            "last_agent": result.last_agent.name,
            "usage": [
                result.context_wrapper.usage.requests,
                result.context_wrapper.usage.input_tokens,
                result.context_wrapper.usage.output_tokens,
            ],
        }
        for result in done
    ]
    return [*told, {"error": failed}]


# --- in the environment of a recorder -------------------------------------------------


def record(name: str) -> None:
    """Runs the script under a recorder and writes its spans."""
    made = _record_sdk() if name == SDK else _record_otel(name)
    results, text, suffix = made
    text = text.replace(f"{ROOT}/", "")  # tracebacks name files of the checkout only
    (GOLDEN / f"{name}.{suffix}").write_text(text, encoding="utf-8")
    told = json.dumps(results, ensure_ascii=False, indent=1) + "\n"
    (GOLDEN / "results.json").write_text(told, encoding="utf-8")


def _record_otel(name: str) -> tuple[Any, str, str]:
    from benchmarks.worker.switches import switch_on
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import (
        InMemorySpanExporter,
    )

    kept = InMemorySpanExporter()
    switch_on(name, SimpleSpanProcessor(kept))
    results = asyncio.run(runs())

    from itemtrace.capture.sinks import row_of
    from itemtrace.stores.otlp import write_json

    rows = in_order([row_of(span) for span in kept.get_finished_spans()])
    return results, "".join(write_json([row]) + "\n" for row in rows), "jsonl"


def _record_sdk() -> tuple[Any, str, str]:
    """Returns what the SDK's exporter would post (agents/tracing/processors.py, `export`)."""
    import agents
    from agents.tracing.processor_interface import TracingExporter
    from agents.tracing.processors import BatchTraceProcessor

    class Kept(TracingExporter):
        def __init__(self) -> None:
            self.items: list[Any] = []

        def export(self, items: list[Any]) -> None:
            self.items += [item.export() for item in items]

    kept = Kept()
    processor = BatchTraceProcessor(kept)
    agents.set_trace_processors([processor])
    results = asyncio.run(runs())
    processor.shutdown()
    data = tidy_sdk([item for item in kept.items if item])
    told = json.dumps({"data": data}, ensure_ascii=False, indent=1) + "\n"
    return results, _plain(told, {}), "json"


# --- the same every time ----------------------------------------------------------------


def in_order(rows: Iterable[SpanRow]) -> list[SpanRow]:
    """Returns rows by start, with ids and times that do not change from run to run."""
    ids: dict[str, str] = {}
    ordered = sorted(rows, key=lambda row: (row.start_ns, row.end_ns))
    traces = _numbers((row.trace_id for row in ordered), 32)
    spans = _numbers((row.span_id for row in ordered), 16)
    moments = sorted({t for row in ordered for t in (row.start_ns, row.end_ns)})
    moments += sorted(
        {event["time_ns"] for row in ordered for event in row.events} - set(moments)
    )
    times = {
        moment: START_NS + place * 1_000_000
        for place, moment in enumerate(sorted(moments))
    }
    return [
        replace(
            row,
            trace_id=traces[row.trace_id],
            span_id=spans[row.span_id],
            parent_id=spans.get(row.parent_id, ""),
            start_ns=times[row.start_ns],
            end_ns=times[row.end_ns],
            attributes={
                key: _plain(value, ids)
                for key, value in row.attributes.items()
                if key not in LEFT_OUT
            },
            events=tuple(
                {**event, "time_ns": times[event["time_ns"]]} for event in row.events
            ),
            resource={"service.name": "desk"},
        )
        for row in ordered
    ]


def _numbers(ids: Iterable[str], digits: int) -> dict[str, str]:
    return {
        found: f"{place:0{digits}x}"
        for place, found in enumerate(dict.fromkeys(ids), 1)
    }


LEFT_OUT = ("server.port", "code.lineno", "code.filepath", "code.function")
"""Attributes that say where the script ran."""


def _plain(value: Any, ids: dict[str, str]) -> Any:
    """Takes ports, moments and the SDK's random ids out of an attribute."""
    if not isinstance(value, str):
        return value
    value = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", value)
    value = re.sub(
        r'("(?:created_at|completed_at)": ?)[\d.]+', r"\g<1>1700000000.0", value
    )
    return re.sub(
        r"(trace|span)_([0-9a-f]{32}|[0-9a-f]{24})\b",
        lambda m: _numbered(m, ids),
        value,
    )


def _numbered(match: re.Match[str], ids: dict[str, str]) -> str:
    kind, digits = match.groups()
    return ids.setdefault(match[0], f"{kind}_{len(ids) + 1:0{len(digits)}x}")


def tidy_sdk(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the SDK's objects with ids and times that do not change."""
    traces = _numbers(
        (i["id"] if i["object"] == "trace" else i["trace_id"] for i in data), 32
    )
    spans = _numbers((i["id"] for i in data if i["object"] != "trace"), 24)
    moments = sorted(
        {i[key] for i in data for key in ("started_at", "ended_at") if i.get(key)}
    )
    times = {
        m: f"2023-11-14T22:13:20.{place:03d}000+00:00"
        for place, m in enumerate(moments)
    }
    return [_tidy(item, traces, spans, times) for item in data]


def _tidy(
    item: dict[str, Any],
    traces: Mapping[str, str],
    spans: Mapping[str, str],
    times: Mapping[str, str],
) -> dict[str, Any]:
    if item["object"] == "trace":
        return {**item, "id": f"trace_{traces[item['id']]}"}
    parent = item.get("parent_id")
    return {
        **item,
        "id": f"span_{spans[item['id']]}",
        "trace_id": f"trace_{traces[item['trace_id']]}",
        "parent_id": f"span_{spans[parent]}" if parent in spans else None,
        "started_at": times[item["started_at"]],
        "ended_at": times[item["ended_at"]],
    }


def _borrowed() -> str:
    """Returns a directory with what itemtrace imports and other recorders' environments lack."""
    import tempfile
    from importlib.util import find_spec

    found = find_spec("platformdirs")
    place = Path(tempfile.mkdtemp())
    (place / "platformdirs").symlink_to(Path(found.origin).parent)
    return str(place)


def main(arguments: list[str]) -> int:
    """Runs each recorder in its environment; `--here` says that this is one."""
    if "--here" in arguments:
        record(arguments[-1])
        return 0
    sys.path.insert(0, str(ROOT))
    from benchmarks.peers import PEERS

    failed = 0
    borrowed = _borrowed()
    for name in arguments or (*RECORDERS, SDK):
        peer = ROOT / "benchmarks" / ".envs" / name / "bin" / "python"
        python = (
            sys.executable if name == SDK else peer
        )  # the SDK's exporter is in ours too
        more = dict(PEERS[name].variables) if name in PEERS else {}
        environ = {
            **os.environ,
            **more,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}:{borrowed}",
            "OPENAI_API_KEY": "none",
        }
        done = subprocess.run(
            [str(python), __file__, "--here", name], env=environ, check=False
        )
        failed += bool(done.returncode)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
