"""Queries, summaries and values, without any store."""

from dataclasses import replace

import pytest

from itemtrace.codec.chunks import split
from itemtrace.codec.record import make
from itemtrace.errors import ConfigError
from itemtrace.limits import PROFILES
from itemtrace.stores import Capabilities, Query
from itemtrace.stores.base import as_int, index_runs, matches, plain_row, selects_trace
from itemtrace.testing.store_contract import row, run_rows, run_summary


class Name(str):
    """A string with something on it, as the registry of attribute keys has them."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1),
        (1.0, 1),
        ("1", 1),
        ("1.0", 1),
        (str(2**63 - 1), 2**63 - 1),
        (1.5, None),
        ("x", None),
        ("nan", None),
        ("inf", None),
        (True, None),
        (None, None),
        ([1], None),
    ],
)
def test_numbers_of_any_backend(value, number):
    """A number is read whatever a backend made of it; nothing else is."""
    assert as_int(value) == number


def test_plain_row():
    """Tuples become lists and mappings dicts, all through; keys lose what they carry."""
    odd = row(
        1,
        1,
        attributes={Name("k"): ("a", ({Name("x"): (1,)},)), "n": None, "t": Name("v")},
        events=({"name": "e", "attributes": {"k": ("v",)}},),
    )
    found = plain_row(odd)
    assert found == replace(
        odd,
        attributes={"k": ["a", [{"x": [1]}]], "n": None, "t": "v"},
        events=({"name": "e", "attributes": {"k": ["v"]}},),
    )
    assert [type(key) for key in found.attributes] == [str, str, str]


def test_a_store_refuses_what_it_cannot_filter():
    """A criterion outside its filters is refused, with those that it has."""
    can = Capabilities(filters=frozenset({"trace_ids", "limit"}))
    can.check(Query(trace_ids=("a",), limit=1), "here")
    with pytest.raises(
        ConfigError,
        match="here cannot filter by agent, tool; it can by limit, trace_ids",
    ):
        can.check(Query(agent="a", tool="b", limit=1), "here")


def test_drafts_do_not_depend_on_order():
    """A run is summed up alike from its spans in any order, doubled or not."""
    rows = run_rows(1)
    (there,) = index_runs(rows)
    (back,) = index_runs([*reversed(rows), *rows])
    assert there.summary() == back.summary() == run_summary(1)


def test_merging_drafts_is_like_taking_all_rows():
    """A draft of some rows and one of the others give the summary of all."""
    rows = run_rows(1)
    for cut in range(1, len(rows)):
        (early,), (late,) = index_runs(rows[:cut]), index_runs(rows[cut:])
        late.merge(early)
        assert late.summary() == run_summary(1)
        (early,), (late,) = index_runs(rows[:cut]), index_runs(rows[cut:])
        early.merge(late)
        assert early.summary() == run_summary(1)


def test_the_starting_agent_without_a_start():
    """Without the beginning, the starting agent is known only if there was one agent."""
    (draft,) = index_runs(run_rows(1)[1:])
    assert draft.summary().agent == "Agent 1"
    draft.facets.add(("agent", "Other"))
    assert draft.summary().agent == ""


def test_a_span_names_its_run_by_its_chunks():
    """A span without the run's id is of the run whose ledger records it carries."""
    run = "00000000000000ab"
    chunks = split(make("call", run, 1, "{}"), PROFILES["portable"])
    about_the_trace = split(make("trace", "f" * 16, 0, "{}"), PROFILES["portable"])
    carried = [
        {"x": "its", "y": [], "itemtrace.r.1": about_the_trace[0], "z": chunks[0]},
        {"itemtrace.r": chunks},
    ]
    for attributes in carried:
        (draft,) = index_runs(
            [row(1, 1, attributes={**attributes, "gen_ai.request.model": "m"})]
        )
        assert (draft.run_id, draft.summary().models) == (run, ("m",))
    assert index_runs([row(1, 1, attributes={"x": about_the_trace[0]})]) == []


def test_spans_of_others_are_no_runs():
    """A span without a run's id belongs to no run."""
    assert index_runs([row(1, 1)]) == []


def test_the_limit_is_no_criterion_of_a_run():
    """A run matches whatever the limit; counting is the store's."""
    assert matches(run_summary(1), Query(limit=0))


def test_traces_without_runs():
    """A trace without a run is selected by id and time only."""
    assert selects_trace(Query(), "t", 5, [])
    assert selects_trace(Query(since_ns=5, until_ns=6), "t", 5, [])
    assert not selects_trace(Query(until_ns=5), "t", 5, [])
    assert not selects_trace(Query(agent="a"), "t", 5, [])
    assert not selects_trace(Query(trace_ids=("u",)), "t", 5, [])
