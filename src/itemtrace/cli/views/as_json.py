"""Traces, runs and items as JSON for scripts. The exact form of a ledger is `itemtrace rebuild`'s."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from itemtrace.cli.safe import iso
from itemtrace.cli.sources import Found
from itemtrace.cli.views.scene import RunScene, Scene, Wanted
from itemtrace.ledger import ErrorInfo, Item, ModelCall, Run, ToolCall, Usage


def trace(found: Found, wanted: Wanted) -> dict[str, Any]:
    """Returns a trace, or the run of it that was asked for."""
    return {
        "source": found.source,
        "trace_id": found.trace_id,
        "exact": found.ledger.exact,
        "runs": [run_json(run, wanted) for run in found.runs],
        "gaps": [gap.to_json() for gap in found.ledger.gaps],
    }


def run_json(run: Run, wanted: Wanted) -> dict[str, Any]:
    """Returns a run, nested ones inside."""
    scene = RunScene(Scene(wanted=wanted), run)
    return {
        "run_id": run.run_id,
        "sdk_trace_id": run.trace_id,
        "workflow": run.workflow,
        "group": run.group,
        "metadata": run.metadata,
        "agent": run.agent,
        "last_agent": run.last_agent,
        "status": run.status,
        "error": error(run.error),
        "started": iso(run.started_ns),
        "ended": iso(run.ended_ns),
        "capture": run.capture,
        "streamed": run.streamed,
        "parent": run.begin.get("parent"),
        "resumed": run.begin.get("resumed"),
        "input": run.given_input,
        "items": [item_json(item) for item in run.items if scene.wants(item)],
        "model_calls": [call_json(call) for call in run.model_calls],
        "tool_calls": [tool_json(call) for call in run.tool_calls],
        "handoffs": [
            {"call_id": h.call_id, "source": h.source, "target": h.target, "tool": h.tool_name}
            for h in run.handoffs
        ],
        "approvals": [
            {"call_id": a.call_id, "tool": a.tool, "decision": a.decision, "message": a.message}
            for a in run.approvals
        ],
        "guardrails": {
            kind: [asdict(result) for result in getattr(run, f"{kind}_guardrail_results")]
            for kind in ("input", "output", "tool_input", "tool_output")
        },
        "final_output": run.final_output,
        "usage": usage_json(run.usage),
        "exact": run.exact,
        "gaps": [gap.to_json() for gap in run.own_gaps],
        "runs": [run_json(child, wanted) for child in run.runs],
    }  # fmt: skip


def item_json(item: Item) -> dict[str, Any]:
    """Returns an item with its raw form."""
    return {
        "run_id": item.run_id,
        "seq": item.seq,
        "type": item.type or None,
        "agent": item.agent,
        "model_call": item.call,
        "at": iso(item.at_ns),
        "call_id": item.call_id,
        "tool": item.tool_name,
        "raw": item.raw,
    }


def call_json(call: ModelCall) -> dict[str, Any]:
    """Returns a model call without its input, which `--model-view` gives."""
    response = call.response
    return {
        "n": call.n,
        "agent": call.agent,
        "turn": call.turn,
        "model": call.model,
        "started": iso(call.start_ns),
        "seconds": call.duration or None,
        "response_id": response.response_id if response else None,
        "usage": usage_json(response.usage) if response else None,
        "error": error(call.error),
        "recalled": call.recalled,
    }


def tool_json(call: ToolCall) -> dict[str, Any]:
    """Returns a tool call; its items have arguments and output."""
    return {
        "call_id": call.call_id,
        "name": call.name,
        "agent": call.agent,
        "status": call.status,
        "seconds": call.duration or None,
        "error": error(call.error),
        "hosted": call.hosted,
        "call": call.call.seq if call.call else None,
        "output": call.output.seq if call.output else None,
        "runs": [run.run_id for run in call.runs],
    }


def error(info: ErrorInfo | None) -> dict[str, Any] | None:
    """Returns an error as type and message."""
    return None if info is None else {"type": info.type, "message": info.message}


def usage_json(usage: Usage) -> dict[str, Any]:
    """Returns token numbers."""
    return {
        "requests": usage.requests,
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "total_tokens": usage.total_tokens,
    }
