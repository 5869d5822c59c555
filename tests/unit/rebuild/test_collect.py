"""Chunks are found wherever a backend put them; what cannot be verified is a gap."""

import json

import pytest

from itemtrace.codec.spans import SpanRow
from itemtrace.ledger import Gap, GapCause
from itemtrace.limits import Profile
from itemtrace.rebuild.collect import collect
from itemtrace.testing.synthetic import RunWriter, rows_of, values_of


RUN = "00000000000000a1"
SMALL = Profile("small", value_bytes=200)


def written(text="x" * 400):
    """A record in several chunks, and their values."""
    run = RunWriter(RUN)
    run.add("item", raw={"text": text})
    return run.records[0], values_of(rows_of(run.records, profile=SMALL))


def row(*values, **more):
    """A span row with these attribute values."""
    return SpanRow(
        "t" * 32, "s" * 16, attributes={str(n): v for n, v in enumerate(values)}, **more
    )


def only(collected):
    """The only record that was verified."""
    return next(iter(collected.records[RUN][0].values()))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda values: values,
        lambda values: [values],
        lambda values: [tuple(values)],
        lambda values: [json.dumps(values)],
        lambda values: [json.dumps(values, indent=1)],
        lambda values: [{"deep": {"er": values}}],
        lambda values: [
            *values,
            1,
            None,
            2.5,
            True,
            b"it1;",
            "it",
            "item",
            "itsy",
            "[1]",
            '["it',
        ],
    ],
)
def test_chunks_are_found_however_they_are_wrapped(wrap):
    """Lists, tuples, JSON text and nested mappings give the same record as plain strings."""
    record, values = written()
    collected = collect([row(*wrap(values))])
    assert only(collected) == record
    assert list(collected.trace_ids) == ["t" * 32]


def test_order_rows_and_doubles_do_not_matter():
    """Chunks of several rows, reversed and doubled, join once."""
    record, values = written()
    collected = collect([row(value) for value in [*reversed(values), *values]])
    assert only(collected) == record
    assert collected.gaps == set()


def test_array_text_cut_in_the_middle_gives_what_it_still_has():
    """A JSON array that a backend cut holds whole chunks and one that is cut."""
    _, values = written()
    text = json.dumps(values)
    collected = collect([row(text[:-40])])
    assert [gap.cause for gap in collected.gaps] == [GapCause.CUT]


def test_array_text_that_lost_only_its_bracket():
    """Every chunk is still whole in a JSON array cut after its last string."""
    record, values = written()
    assert only(collect([row(json.dumps(values)[:-1])])) == record


def test_missing_chunk_is_a_cut():
    """Some chunks of a record: the gap says how many are there."""
    _, values = written()
    (gap,) = collect([row(*values[1:])]).gaps
    assert (gap.cause, gap.run_id, gap.seq) == (GapCause.CUT, RUN, 0)
    assert f"{len(values) - 1} of {len(values)} chunks" in gap.message


def test_shortened_text_is_a_cut():
    """All chunks, but one lost its end: cut, not altered."""
    _, values = written()
    (gap,) = collect([row(*values[:-1], values[-1][:-3])]).gaps
    assert gap == Gap(GapCause.CUT, "record 0 has 416 of 419 bytes (item)", RUN, 0)


def test_changed_text_is_altered():
    """A character that changed: the digest differs."""
    _, values = written()
    (gap,) = collect([row(values[0][:-1] + "y", *values[1:])]).gaps
    assert gap.cause == GapCause.ALTERED


def test_altered_copy_beside_the_sound_one_does_no_harm():
    """The copy whose digest is right is the record."""
    record, values = written()
    collected = collect([row(values[0][:-1] + "y", *values)])
    assert only(collected) == record
    assert collected.gaps == set()


def test_two_altered_copies_are_conflicting():
    """Copies that differ, none of them sound: no copy is picked."""
    _, values = written()
    (gap,) = collect(
        [row(values[0][:-1] + "y", values[0][:-1] + "z", *values[1:])]
    ).gaps
    assert gap.cause == GapCause.CONFLICTING_COPIES


def test_wrong_header_is_never_accepted():
    """A chunk that claims another seq is a gap there."""
    run = RunWriter(RUN)
    run.add("item", raw={})
    (value,) = values_of(rows_of(run.records))
    collected = collect([row(value.replace(";0;", ";7;", 1))])
    assert collected.records == {}
    assert [(gap.cause, gap.seq) for gap in collected.gaps] == [(GapCause.ALTERED, 7)]


def test_same_record_cut_for_two_profiles():
    """One record, exported in two sizes: it is there once, and the incomplete copy is no loss."""
    record, values = written()
    whole = values_of(rows_of([record]))
    collected = collect([row(*values[1:], *whole)])
    assert only(collected) == record
    assert collected.gaps == set()


def test_newer_version_and_damaged_header_are_gaps():
    """`it2;` is named as a newer format, a broken `it1;` as altered; each once."""
    gaps = collect([row("it2;what", "it2;ever", "it1;no header")]).gaps
    assert {(gap.cause, gap.message) for gap in gaps} == {
        (
            GapCause.UNSUPPORTED_VERSION,
            "a record of format it2; this itemtrace reads it1",
        ),
        (GapCause.ALTERED, "a chunk with a damaged header: 'it1;no header'"),
    }


def test_spans_name_their_run():
    """A run that a span's attribute names is remembered; foreign rows leave nothing."""
    rows = [
        SpanRow("t", "s", attributes={"itemtrace.run.id": RUN}),
        row("hello", ["a"], {"b": 1}),
    ]
    collected = collect(rows)
    assert (collected.mentioned, collected.records, dict(collected.trace_ids)) == (
        {RUN},
        {},
        {},
    )
