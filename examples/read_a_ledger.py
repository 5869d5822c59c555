"""Read the runs of any source: items, tool calls, usage, handoffs, gaps. Needs no SDK objects.

python examples/read_a_ledger.py                       a recorded demo
python examples/read_a_ledger.py traces.db             a local store or a file
python examples/read_a_ledger.py jaeger://localhost    a backend
"""

import asyncio
import sys
import tempfile
from pathlib import Path

import itemtrace
from itemtrace.testing.demo import run_demo


def show(run: itemtrace.Run, depth: int = 0) -> None:
    indent = "  " * depth
    print(
        f"{indent}{run.workflow} ({run.group}): {run.status}, {run.usage.total_tokens} tokens"
    )
    for item in run.new_items:
        shown = (item.text or str(item.arguments or ""))[:60]
        print(f"{indent}  {item.agent:<11} {item.type:<22} {shown}")
    for call in run.tool_calls:
        print(f"{indent}  {call.name}({call.call_id}): {call.status}")
        for nested in call.runs:
            show(nested, depth + 2)
    for agent, usage in run.usage_by("agent").items():
        print(f"{indent}  {agent}: {usage.input_tokens} in, {usage.output_tokens} out")
    for gap in run.gaps:
        print(f"{indent}  {gap}")


def main(source: str) -> None:
    for ledger in itemtrace.iter_ledgers(source):
        for run in ledger.runs:
            show(run)


def demo(store: Path) -> None:
    itemtrace.install(store=store)
    asyncio.run(run_demo())
    itemtrace.uninstall()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as folder:
            demo(Path(folder) / "traces.db")
            main(str(Path(folder) / "traces.db"))
