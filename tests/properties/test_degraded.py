"""After every backend a ledger is exact with the documented profile, and never wrong without a gap."""

import asyncio
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import itemtrace
from itemtrace.limits import PROFILES, Profile
from itemtrace.rebuild import rebuild
from itemtrace.testing.degrade import DEGRADERS, degrade
from itemtrace.testing.degrade.outcome import judge, outcome
from itemtrace.testing.demo import run_demo
from itemtrace.testing.recorder import SpanRecorder
from itemtrace.testing.strategies import span_rows
from itemtrace.testing.synthetic import RunWriter, rows_of


SLOW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]
TEXT = st.text(max_size=60) | st.sampled_from(
    ["it1;", "潮の満ち引き" * 400, '{"a": "' + "x" * 5_000 + '"}', "\ud800 alone", "[1"]
)
PROFILE = {
    name: PROFILES[found.profile or "portable"] for name, found in DEGRADERS.items()
}
DONE = {}


def demo(profile):
    """The spans of the demo, recorded once for each profile."""
    if profile not in DONE:
        messages = "off" if profile == "xray" else "delta"
        with SpanRecorder() as recorder:
            itemtrace.install(
                tracer_provider=recorder.provider, profile=profile, messages=messages
            )
            try:
                asyncio.run(run_demo())
            finally:
                itemtrace.uninstall()
        DONE[profile] = recorder.rows()
    return DONE[profile]


@pytest.mark.parametrize("name", DEGRADERS)
def test_the_demo_is_exact_with_the_documented_profile(name, sdk_processors):
    """The demo comes back whole; what has no profile, being late, says that it is not whole."""
    found = outcome(name, demo(PROFILE[name].name))
    assert found.wrong == ()
    assert found.exact == bool(DEGRADERS[name].profile)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_demo_is_never_wrong(profile, sdk_processors):
    """With any profile, after any backend, a ledger is exact or has gaps."""
    found = {name: outcome(name, demo(profile)) for name in DEGRADERS}
    assert {name: each.wrong for name, each in found.items() if each.wrong} == {}
    assert [
        name for name, each in found.items() if not each.exact and not each.gaps
    ] == []


@st.composite
def runs(draw: st.DrawFn):
    """Draws the runs of a trace: some turns, short and long texts in several scripts."""
    numbers = count(1)
    written = []
    for _ in range(draw(st.integers(1, 2))):
        run = RunWriter(f"{next(numbers):016x}")
        run.add("begin", started=10**18, agent="Desk", input=draw(TEXT))
        items = []
        for turn in range(draw(st.integers(0, 3))):
            raw: dict[str, Any] = {
                "type": "function_call",
                "call_id": f"c{turn}",
                "name": "look",
            }
            raw["arguments"] = (
                run.blob(draw(TEXT)) if draw(st.booleans()) else draw(TEXT)
            )
            asked = run.add("item", type="tool_call_item", agent="Desk", raw=raw)
            run.add(
                "call",
                n=turn,
                agent="Desk",
                input={"new": []},
                response={"output": [asked]},
            )
            out = {
                "type": "function_call_output",
                "call_id": f"c{turn}",
                "output": draw(TEXT),
            }
            items += [asked, run.add("item", type="tool_call_output_item", raw=out)]
        run.add("end", status="completed", items=items)
        run.seal()
        written.append(run)
    return written


@st.composite
def recorded(draw: st.DrawFn, profile: Profile):
    """Draws the rows of a trace, in a profile, with other spans of all kinds between."""
    records = [record for run in draw(runs()) for record in run.records]
    per_span = draw(st.integers(1, min(profile.attributes, 8)))
    rows = rows_of(records, profile=profile, per_span=per_span)
    if profile.array:
        rows = [
            replace(row, attributes={f"{profile.key}0": [*row.attributes.values()]})
            for row in rows
        ]
    others = draw(st.lists(span_rows(), max_size=2))
    return draw(
        st.permutations([*rows, *(row for row in others if rebuild([row]).exact)])
    )


NAMES = st.sampled_from(sorted(DEGRADERS))


@settings(max_examples=60, suppress_health_check=SLOW)
@given(NAMES.filter(lambda name: DEGRADERS[name].profile), st.data())
def test_generated_runs_are_exact_with_the_documented_profile(name, data):
    """Any run comes back whole through a backend with its profile."""
    rows = data.draw(recorded(PROFILE[name]))
    degraded = degrade(name, rows)
    found = judge(rebuild(rows), rebuild(degraded), degraded)
    assert found.wrong == ()
    assert found.exact


@settings(max_examples=60, suppress_health_check=SLOW)
@given(NAMES, st.data())
def test_generated_runs_are_never_wrong(name, data):
    """In any profile, what a backend took away is named, and nothing else changes."""
    rows = data.draw(recorded(PROFILES[data.draw(st.sampled_from(sorted(PROFILES)))]))
    degraded = degrade(name, rows)
    ledger = rebuild(degraded)
    assert judge(rebuild(rows), ledger, degraded).wrong == ()
    assert ledger.self_check() == []
