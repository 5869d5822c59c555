"""Every situation that is recorded by the other tests is replayed as well, and ends the same."""

import asyncio
import importlib.util
import inspect
from pathlib import Path

import pytest

import itemtrace


HERE = Path(__file__).parent
SITUATIONS = HERE.parent / "situations"

MODULES = (
    "test_answers", "test_approvals", "test_failures", "test_guardrails", "test_handoffs",
    "test_history", "test_hooks_and_servers", "test_item_types", "test_nested", "test_tools",
    "test_ways_to_run", "test_traces",
)  # fmt: skip


def load(path):
    """Returns a test module, loaded once more under another name."""
    spec = importlib.util.spec_from_file_location(f"replayed_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SKIPPED = {
    "test_state_from_a_trace",  # a state from a trace does not know the usage before it
    "test_nested_state_from_a_trace",
}
STATEFUL = {
    "test_dynamic_instructions",  # they count how often they were asked
    "test_model_input_filter",
    "test_input_tripwire",  # its hooks remember that the model has answered
}
"""Tests whose own code is another one the second time."""


support = load(HERE / "conftest.py")


for name in MODULES:
    module = load(SITUATIONS / f"{name}.py")
    for key, value in list(vars(module).items()):
        if (
            key.startswith("test_")
            and inspect.iscoroutinefunction(value)
            and "proved" in inspect.signature(value).parameters
        ):
            globals()[f"{key}__{name[5:]}"] = value
        elif type(value).__name__ == "FixtureFunctionDefinition":
            globals()[key] = value


@pytest.fixture
def proved(request, proved, noted, recorded):
    """The proof of the other tests, and after it a replay with a proof of its own."""
    waiting = []

    def prove(*ended, gaps=(), unequal=(), **more):
        runs = proved(*ended, gaps=gaps, unequal=unequal, **more)
        if not gaps and not unequal:
            waiting.append((recorded.ledger(), list(noted)))
        return runs

    yield prove
    itemtrace.uninstall()
    name = request.function.__name__
    for ledger, calls in waiting if name not in SKIPPED | STATEFUL else ():
        tape, results = asyncio.run(support.play(ledger, calls))
        assert support.differences(ledger, results) == []
        assert tape.report.network == []
        assert [str(d) for d in tape.report.divergences] == []
        assert [str(e) for e in tape.report.unused] == []
