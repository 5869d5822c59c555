"""The table `runs`: its columns, and what a query asks of them."""

from __future__ import annotations

from typing import Final


FIELDS: Final = (
    "run_id",
    "group",
    "workflow",
    "agent",
    "parent",
    "status",
    "started_ns",
    "ended_ns",
    "items",
    "input_tokens",
    "output_tokens",
)
"""The fields of a `RunDraft` after `trace_id`, in their order; the columns have their names."""

STARTED: Final = FIELDS.index("started_ns")
COLUMNS: Final = ", ".join(
    "iif(r.workflow = '', t.workflow, r.workflow)"
    if name == "workflow"
    else f'r."{name}"'
    for name in FIELDS
)
"""The fields of runs `r` of traces `t`: a workflow's name mostly stands on the trace's root span."""

CRITERIA: Final = {
    "run_id": "r.run_id = ?",
    "group": 'r."group" = ?',
    "status": "r.status = ?",
    "since_ns": "r.started_ns >= ?",
    "until_ns": "r.started_ns < ?",
    "agent": "EXISTS (SELECT 1 FROM facets WHERE run = r.id AND kind = 'agent' AND value = ?)",
    "tool": "EXISTS (SELECT 1 FROM facets WHERE run = r.id AND kind = 'tool' AND value = ?)",
    "model": "EXISTS (SELECT 1 FROM facets WHERE run = r.id AND kind = 'model' AND value = ?)",
}
"""What each field of a `Query` asks of a run."""
