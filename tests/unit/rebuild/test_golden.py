"""The frozen example of format `it1`: read by every later itemtrace, never rewritten."""

import json
from pathlib import Path

from itemtrace.codec.spans import SpanRow
from itemtrace.ledger import Usage, io
from itemtrace.ledger.usage import RequestUsage
from itemtrace.rebuild import rebuild


GOLDEN = Path(__file__).parents[2] / "golden" / "it1"


def golden_rows():
    """The frozen span rows."""
    lines = (GOLDEN / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    return [SpanRow(**json.loads(line)) for line in lines]


def test_rows_give_the_frozen_ledger():
    """The rows rebuild to the ledger that was written down, byte for byte."""
    ledger = rebuild(golden_rows())
    assert io.dumps(ledger) + "\n" == (GOLDEN / "ledger.json").read_text(
        encoding="utf-8"
    )


def test_ledger_json_is_read_back():
    """The frozen ledger line is equal to what the rows give."""
    line = (GOLDEN / "ledger.json").read_text(encoding="utf-8")
    assert io.loads(line) == rebuild(golden_rows())


def test_values_of_the_frozen_run():
    """What the page of the format says of each record is what the views show."""
    run = rebuild(golden_rows()).runs[0]
    assert run.exact
    assert (run.agent, run.workflow, run.group, run.status) == (
        "Desk", "Order desk", "order-17", "completed",
    )  # fmt: skip
    assert [item.type for item in run.new_items] == [
        "reasoning_item", "tool_call_item", "tool_call_output_item", "message_output_item",
    ]  # fmt: skip
    assert run.final_output == "Elle est partie."
    assert run.new_items[1].extra == {"description": "Finds an order."}
    assert run.new_items[2].to_input_item()["output"].endswith('"\ud800"}')
    assert run.new_items[2].output["weight"] == 1.0
    assert [len(call.input) for call in run.model_calls] == [1, 4]
    assert run.model_calls[1].input == run.to_input_list()[:-1]
    assert run.model_calls[1].system == run.model_calls[0].system
    assert run.usage == Usage(
        2, 280, 39, 319,
        {"cached_tokens": 100, "cache_write_tokens": 0}, {"reasoning_tokens": 12},
        (
            RequestUsage(120, 30, 150, {"cached_tokens": 0, "cache_write_tokens": 0}, {"reasoning_tokens": 12}),
            RequestUsage(160, 9, 169, {"cached_tokens": 100, "cache_write_tokens": 0}, {"reasoning_tokens": 0}),
        ),
    )  # fmt: skip
