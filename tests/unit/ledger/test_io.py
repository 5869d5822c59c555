"""A ledger survives as one line of JSON."""

import json

import pytest

from itemtrace.codec import canonical
from itemtrace.codec.record import make
from itemtrace.errors import NotATrace, UnsupportedVersion
from itemtrace.ledger import io
from itemtrace.rebuild import rebuild
from itemtrace.testing.synthetic import RunWriter, rows_of


RUN = "00000000000000a1"


def damaged():
    """A ledger with a gap, hard values, and a body in another profile's text."""
    run = RunWriter(RUN)
    run.add("begin", input="é\ud800\u2028", started=1)
    run.records.append(
        make("item", RUN, 1, canonical.dumps({"raw": {"text": "é"}}, ascii=True))
    )
    run.add("item", raw={(1, 2): float("nan"), "n": -0.0, "big": 10**30, "f": 1.0})
    trace = make("trace", RUN, 0, canonical.dumps({"id": "t", "runs": [RUN]}))
    return rebuild(rows_of([*run.records, trace]))


def test_round_trip():
    """Records, gaps and traces come back; the line has no line break."""
    ledger = damaged()
    line = io.dumps(ledger)
    again = io.loads(line)
    assert "\n" not in line
    assert again == ledger
    assert (again.trace_ids, again.traces, again.gaps) == (
        ledger.trace_ids,
        ledger.traces,
        ledger.gaps,
    )
    assert again.runs[0].records == ledger.runs[0].records
    assert io.dumps(again) == line


def test_shape_of_the_line():
    """The documented keys, bodies as JSON."""
    value = json.loads(io.dumps(damaged()))
    assert list(value) == ["format", "trace_ids", "runs", "gaps"]
    assert value["format"] == "itemtrace-ledger/1"
    assert [entry[:2] for entry in value["runs"][RUN]] == [
        [0, "begin"], [1, "item"], [2, "item"], [0, "trace"],
    ]  # fmt: skip
    assert value["gaps"][0]["cause"] == "unsealed"


@pytest.mark.parametrize(
    "line", ["", "[]", "{}", '{"format":"x"}', '{"format":"itemtrace-ledger/1"}']
)
def test_lines_that_are_no_ledger(line):
    """One clear error, whatever the text is."""
    with pytest.raises(NotATrace, match="this is no ledger"):
        io.loads(line)


def test_newer_format():
    """A ledger of a newer itemtrace is refused by name."""
    with pytest.raises(UnsupportedVersion, match="itemtrace-ledger/2"):
        io.loads('{"format":"itemtrace-ledger/2"}')


def test_file_of_ledgers(tmp_path):
    """A file has a ledger on each line; empty lines are none."""
    path = tmp_path / "ledgers.jsonl"
    line = io.dumps(damaged())
    path.write_text(f"{line}\n\n{line}\n", encoding="utf-8")
    assert list(io.read(path)) == [damaged(), damaged()]
