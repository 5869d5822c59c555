"""Each kind of loss, one test: the gap has the right cause, run and place."""

from typing import Any

import pytest

from itemtrace.codec import canonical
from itemtrace.codec.canonical import TAG, Escaped
from itemtrace.codec.record import make
from itemtrace.ledger import GapCause
from itemtrace.rebuild import rebuild
from itemtrace.testing.synthetic import RunWriter, ref, rows_of


RUN, OTHER = "00000000000000a1", "00000000000000b2"


def run(*records, run_id=RUN, begin=None, end=None, seal=True, **sealed):
    """A run with these records between its begin and its end."""
    writer = RunWriter(run_id)
    writer.add("begin", **{"started": 1, "agent": "Desk", **(begin or {})})
    for kind, body in records:
        writer.add(kind, **body)
    writer.add("end", **{"status": "completed", "items": [], **(end or {})})
    if seal:
        writer.seal(**sealed)
    return writer.records


def item(**raw):
    """An item record."""
    return "item", {"type": "message_output_item", "agent": "Desk", "raw": raw}


def causes(*records):
    """Cause and run of every gap, in order."""
    ledger = rebuild(rows_of(records))
    assert ledger.self_check() == []
    return [(gap.cause.value, gap.run_id) for gap in ledger.gaps]


def test_whole_run_has_no_gap():
    """A sealed run is exact."""
    assert causes(*run(item(a=1), end={"items": [1]})) == []


def test_no_rows_give_an_empty_ledger():
    """Nothing in, nothing out."""
    ledger = rebuild([])
    assert (ledger.runs, ledger.gaps, ledger.trace_ids) == ((), (), ())


def test_unsealed():
    """No seal: the run may have gone on."""
    assert causes(*run(seal=False)) == [("unsealed", RUN)]


def test_missing_records_are_named_in_ranges():
    """Holes below the seal's count are missing, a row of them in one gap."""
    records = run(item(), item(), item(), item())
    ledger = rebuild(rows_of([records[0], records[3], records[6]]))
    assert [(gap.seq, gap.count, gap.message) for gap in ledger.gaps] == [
        (1, 2, "records 1 to 2 are missing"),
        (4, 2, "records 4 to 5 are missing"),
    ]


def test_a_single_missing_record():
    """One hole is told in the singular; a forged number costs nothing."""
    records = [
        *run(item(), seal=False)[:1],
        make("item", RUN, 999_999_999, '{"raw":1}'),
    ]
    messages = [gap.message for gap in rebuild(rows_of(records)).gaps]
    assert messages[1] == "records 1 to 999999998 are missing"
    assert (
        rebuild(rows_of(run(item())[:1] + run(item())[2:])).gaps[0].message
        == "record 1 is missing"
    )


@pytest.mark.parametrize(
    ("seal", "message"),
    [
        (
            {"records": 3, "digest": "x"},
            "the records are not the ones that were sealed",
        ),
        ({"records": 2, "digest": "x"}, "the seal is record 3 but closes 2 records"),
    ],
)
def test_broken_seal(seal, message):
    """A seal that closes other records is altered."""
    records = run(item(), seal=False)
    forged = make("seal", RUN, 3, canonical.dumps(seal))
    assert [gap.message for gap in rebuild(rows_of([*records, forged])).gaps] == [
        message
    ]


def test_record_after_the_seal():
    """Nothing may follow the seal."""
    records = run(item())
    after = make("item", RUN, len(records), '{"raw":{}}')
    assert causes(*records, after) == [("altered", RUN)]


def test_two_valid_records_of_one_number_conflict():
    """Neither copy is picked, and the number is not reported as missing too."""
    records = run(item(a=1), end={"items": [1]})
    other = make("item", RUN, 1, '{"raw":{"a":2}}')
    ledger = rebuild(rows_of([*records, other]))
    assert [gap.cause for gap in ledger.gaps] == [GapCause.CONFLICTING_COPIES]
    assert ledger.runs[0].new_items[0].lost


def test_run_must_begin_and_end_once():
    """A run that starts otherwise, and one with two ends."""
    writer = RunWriter(RUN)
    writer.add("end")
    writer.add("end")
    writer.seal()
    assert causes(*writer.records) == [("altered", RUN), ("altered", RUN)]


def test_not_captured():
    """Spans only, failures of our own, and values of which only the repr was kept."""
    odd = Escaped({TAG: "repr", "type": "Lock", "v": "<lock>"})
    assert causes(*run(begin={"capture": "spans"})) == [("not captured", RUN)]
    assert causes(*run(failures=2)) == [("not captured", RUN)]
    assert causes(*run(item(a=odd, b=odd))) == [("not captured", RUN)]


def test_withheld():
    """Content that was not to be recorded is one gap of the run."""
    mark = Escaped({TAG: "withheld", "n": 3, "d": "x"})
    ledger = rebuild(rows_of(run(item(a=mark), item(a=mark), begin={"withheld": True})))
    assert [(gap.cause, gap.seq, gap.count) for gap in ledger.gaps] == [
        (GapCause.WITHHELD, 1, 2)
    ]
    assert causes(*run(begin={"withheld": True})) == [("withheld", RUN)]


def test_redacted():
    """Items that a redaction changed are named by number."""
    changed = ("item", {"raw": {}, "redacted": True})
    ledger = rebuild(rows_of(run(*[changed] * 22)))
    assert [gap.cause for gap in ledger.gaps] == [GapCause.REDACTED]
    assert ledger.gaps[0].message.endswith("19, 20, …")


def test_unknown_escapes_and_kinds_are_of_a_newer_version():
    """What a newer writer says is not taken for something else."""
    newer = Escaped({TAG: "wave", "v": 1})
    assert causes(*run(item(a=newer, b=newer))) == [("unsupported version", RUN)]
    assert causes(*run(("hologram", {}))) == [("unsupported version", RUN)]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("item", {"type": 1, "raw": {}}),
        ("item", {"type": "x"}),
        ("call", {"n": -1}),
        ("call", {"n": 0, "input": {"list": [[0]]}}),
        ("call", {"n": 0, "response": Escaped({TAG: "tuple", "v": []})}),
        ("end", {"guardrails": {"input": [1]}}),
        ("blob", {"d": "x"}),
        ("item", {"raw": Escaped({TAG: "bytes", "v": 5})}),
        ("item", {"raw": Escaped({TAG: "decimal", "v": "x"})}),
    ],
)
def test_unsound_bodies_are_altered(kind, body):
    """A valid digest on a body that no writer makes: the record is put aside."""
    assert ("altered", RUN) in causes(*run((kind, body)))


@pytest.mark.parametrize("body", ["[]", "{", "{} ", "7", "[" * 5000 + "]" * 5000])
def test_bodies_that_are_no_objects(body):
    """Text that is no JSON object, or nested without end, harms nothing else."""
    records = run(seal=False)
    gaps = causes(*records, make("item", RUN, 2, body))
    assert gaps == [("unsealed", RUN), ("altered", RUN)]


def test_unsound_trace_record():
    """A `trace` record of another shape is altered."""
    assert causes(make("trace", OTHER, 0, '{"runs":1}')) == [("altered", "")]


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ({"after": OTHER}, {}),
        ({"parent": {"run": OTHER, "call": "c", "n": 0}}, {}),
        ({"resumed": {"run": OTHER, "decisions": []}}, {}),
        ({}, {"children": [OTHER]}),
        ({}, {"input": [ref(4, r=OTHER)]}),
    ],
)
def test_named_runs_that_are_not_there(begin, end):
    """A run that another one names and of which nothing is there is missing, once."""
    assert causes(*run(begin=begin, end=end)) == [("missing", RUN)]


def test_run_resumed_from_another_trace():
    """A run that says that it resumes one of another trace lacks nothing."""
    assert causes(*run(begin={"resumed": {"run": OTHER, "trace": "trace_2"}})) == []


def test_runs_that_only_the_trace_names():
    """The trace's own record names root runs; so does an attribute of any span."""
    trace = make("trace", OTHER, 0, canonical.dumps({"id": "t", "runs": [RUN, OTHER]}))
    assert causes(*run(), trace) == [("missing", "")]
    rows = rows_of(run())
    attributes: Any = rows[0].attributes
    attributes["itemtrace.run.id"] = OTHER
    assert [gap.message for gap in rebuild(rows).gaps] == [
        f"run {OTHER} is missing, which a span names"
    ]


def test_references_without_target():
    """Items and texts that are referred to and not there; each is named once."""
    blob = Escaped({TAG: "blob", "d": "nowhere"})
    assert causes(*run(item(a=blob, b=blob))) == [("missing", RUN)]
    assert (
        causes(*run(end={"input": [ref(0), Escaped({TAG: "ref", "s": "x"}), ref(0)]}))
        == [("missing", RUN)] * 2
    )
    assert causes(
        *run(("call", {"n": 0, "input": {"new": [9], "list": [[0, 1]]}}))
    ) == [("missing", RUN)]


def test_records_that_name_what_is_no_item():
    """`items`, `final`, `interruptions` and `output` name item records."""
    assert causes(*run(end={"items": [0]})) == [("altered", RUN)]
    assert causes(*run(end={"final": {"text": 0}})) == [("altered", RUN)]
    assert causes(*run(("call", {"n": 0, "response": {"output": [0]}}))) == [
        ("altered", RUN)
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"n": 1},
        {"n": 0, "as": 0},
        {"n": 0, "input": {"new": [], "list": [[0, 1]]}},
        {"n": 0, "input": {"new": [1], "list": [[0, 0]]}},
    ],
)
def test_broken_calls(body):
    """Calls out of order, and inputs that reach beyond the table."""
    assert set(causes(*run(("call", body)))) >= {("altered", RUN)}


def test_response_of_a_call_that_has_none():
    """`responses` names calls that were answered."""
    assert causes(*run(("call", {"n": 0}), end={"responses": [0]})) == [
        ("altered", RUN)
    ]


def test_runs_that_started_each_other():
    """A circle of parents is told, and no run disappears in it."""
    first = run(begin={"parent": {"run": OTHER, "call": "c", "n": 0}})
    second = run(begin={"parent": {"run": RUN, "call": "c", "n": 0}}, run_id=OTHER)
    ledger = rebuild(rows_of([*first, *second]))
    assert [(gap.cause, gap.run_id) for gap in ledger.gaps] == [
        (GapCause.ALTERED, RUN), (GapCause.ALTERED, OTHER),
    ]  # fmt: skip
    assert {found.run_id for found in ledger.runs} == {RUN, OTHER}


def test_only_the_asked_trace():
    """Rows of other traces do not count when a trace is asked for."""
    rows = [
        *rows_of(run(), trace_id="a" * 32),
        *rows_of(run(run_id=OTHER), trace_id="b" * 32),
    ]
    ledger = rebuild(rows, trace_id="b" * 32)
    assert [found.run_id for found in ledger.runs] == [OTHER]
    assert ledger.trace_ids == ("b" * 32,)


def test_altered_number_of_a_sound_run():
    """A chunk that claims the number of another record is a gap there, and its own place is missing."""
    records = run(item(a=1), item(a=2))
    rows = rows_of(records)
    attributes: Any = rows[0].attributes
    attributes["itemtrace.r.2"] = attributes["itemtrace.r.2"].replace(";2;", ";1;", 1)
    ledger = rebuild(rows)
    assert [(gap.cause, gap.seq) for gap in ledger.gaps] == [
        (GapCause.ALTERED, 1), (GapCause.MISSING, 2),
    ]  # fmt: skip
    found = ledger.runs[0].item_at(1)
    assert found is not None
    assert found.raw == {"a": 1}


def test_cut_record_is_told_once_and_where_it_belongs():
    """A record that came cut is no missing one too; of an unknown run the ledger itself tells."""
    rows = rows_of(run(item(a="x" * 50)), per_span=1)
    attributes: Any = rows[1].attributes
    attributes["itemtrace.r.0"] = attributes["itemtrace.r.0"][:-9]
    assert [(gap.cause, gap.run_id, gap.seq) for gap in rebuild(rows).runs[0].gaps] == [
        (GapCause.CUT, RUN, 1)
    ]
    alone = rebuild(rows[1:2])
    assert (alone.runs, [gap.run_id for gap in alone.own_gaps]) == ((), [RUN])


def test_doubled_spans_change_nothing():
    """At-least-once delivery gives the same ledger."""
    rows = rows_of(run(item(a=1), end={"items": [1]}))
    assert rebuild([*rows, *rows]) == rebuild(rows)
    assert rebuild([*rows, *rows]).exact
