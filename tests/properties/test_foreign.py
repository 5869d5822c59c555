"""Whatever is in spans of other recorders, reading them never fails, and order changes nothing."""

from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itemtrace.ledger.gaps import GapCause
from itemtrace.rebuild import rebuild
from itemtrace.stores import open_store
from itemtrace.testing.strategies import json_values


GOLDEN = Path(__file__).parents[1] / "golden" / "foreign"
FILES = sorted(path for path in GOLDEN.iterdir() if path.name != "results.json")
ROWS = {}
for path in FILES:
    with open_store(path) as store:
        ROWS[path.name] = [row for _, found in store.traces() for row in found]
NONSENSE = st.one_of(
    json_values().filter(lambda value: "it1;" not in str(value)),
    st.sampled_from(
        ["", "[", "[[]]", '{"output": 7}', '[{"role": 1, "parts": 2}]', "\ud800"]
    ),
)


@st.composite
def harmed(draw):
    """Draws the spans of a fixture, some lost, some with other values."""
    rows = list(ROWS[draw(st.sampled_from(sorted(ROWS)))])
    for _ in range(draw(st.integers(0, 5))):
        place = draw(st.integers(0, len(rows) - 1))
        attributes = dict(rows[place].attributes)
        match draw(st.sampled_from(["drop", "value", "lose", "loose"])):
            case "drop" if len(rows) > 1:
                del rows[place]
            case "value" if attributes:
                attributes[draw(st.sampled_from(sorted(attributes)))] = draw(NONSENSE)
                rows[place] = replace(rows[place], attributes=attributes)
            case "lose" if attributes:
                del attributes[draw(st.sampled_from(sorted(attributes)))]
                rows[place] = replace(rows[place], attributes=attributes)
            case _:
                rows[place] = replace(
                    rows[place], parent_id=rows[-1].span_id, status="ERROR"
                )
    return rows


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(harmed(), st.data())
def test_reading_never_fails(rows, data):
    """Any spans give a sound ledger, the same in any order, whose runs all say what they lack."""
    ledger = rebuild(rows)
    assert ledger.self_check() == []
    assert all(run.own_gaps for run in ledger.all_runs())
    causes = {GapCause.NOT_CAPTURED, GapCause.UNSEALED}
    assert [str(gap) for gap in ledger.gaps if gap.cause not in causes] == []
    for run in ledger.all_runs():
        assert run.to_input_list() is not None
        assert run.usage.requests >= 0
    assert rebuild(data.draw(st.permutations(rows))) == ledger
