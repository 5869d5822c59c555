"""`self_check` finds a ledger that contradicts itself; the rebuild never makes one."""

from dataclasses import replace

import pytest

from itemtrace.codec.record import make
from itemtrace.ledger.model import Ledger, build
from itemtrace.testing.synthetic import RunWriter


ROOT, CHILD = "00000000000000a1", "00000000000000b2"


def built(*bodies, seal=True, run_id=ROOT):
    """A ledger of these records as they are, without a rebuild that would name what is wrong."""
    run = RunWriter(run_id)
    run.add("begin", started=1)
    for kind, body in bodies:
        run.add(kind, **body)
    if seal:
        run.seal()
    return build({run_id: run.records})


def test_sound_ledgers(ledger):
    """Nothing to say."""
    assert ledger.self_check() == []
    assert built().self_check() == []


def test_records_out_of_order():
    """Numbers must rise, and records belong to their run."""
    records = [make("begin", CHILD, 1, "{}"), make("seal", ROOT, 0, "{}")]
    assert build({ROOT: records}).self_check()[:2] == [
        f"run {ROOT}: its records are not in order",
        f"run {ROOT}: it holds records of another run",
    ]


@pytest.mark.parametrize(
    ("ledger", "problem"),
    [
        (built(seal=False), "it is unsealed, and no gap says so"),
        (built(("end", {"items": [9]})), "item 9 is lost, and no gap says so"),
        (
            built(
                ("item", {"raw": {}}),
                ("item", {"raw": {}, "replaces": 1}),
                ("end", {"items": [1]}),
            ),
            None,
        ),
        (
            built(("call", {"n": 0, "input": {"new": [], "list": [[0, 2_000_000]]}})),
            "model call 0 saw 0 items",
        ),
    ],
)
def test_unnamed_losses(ledger, problem):
    """What is lost must be named by a gap."""
    assert ledger.self_check() == ([f"run {ROOT}: {problem}"] if problem else [])


def test_pairs_that_do_not_match(run):
    """An output of another call, or of another family."""
    call = run.tool_calls[0]
    wrong = replace(call.output, raw={"type": "shell_call_output", "call_id": "c9"})
    run.__dict__["tool_calls"] = (replace(call, output=wrong),)
    from_checks = [
        "the output of c1 answers c9",
        "function_call c1 has a shell_call_output",
    ]
    assert [
        problem.partition(": ")[2] for problem in ledger_of(run).self_check()
    ] == from_checks


def ledger_of(run):
    """A ledger with only this run's tree."""
    ledger = Ledger(run.book)
    ledger.runs = (run,)
    ledger.book.runs = {found.run_id: found for found in run.all_runs()}
    return ledger


def test_items_outside_the_run(run):
    """An item of the result that is among no items."""
    run.__dict__["items"] = run.items[1:]
    problems = ledger_of(run).self_check()
    assert f"run {run.run_id}: an item of the result is not among its items" in problems


def test_broken_trees(ledger, run):
    """A run that is there twice, one that hangs under the wrong parent, one that is not reached."""
    stranger = built(run_id="00000000000000d4").runs[0]
    ledger.book.nested[run.run_id].append(stranger)
    assert ledger.self_check() == [
        f"run {run.run_id}: run 00000000000000d4 is nested here and does not know it",
        "a run is reached from no root",
    ]
    ledger.book.nested[run.run_id][-1] = run.runs[0]
    assert ledger.self_check() == ["run 00000000000000b2 is there twice"]
