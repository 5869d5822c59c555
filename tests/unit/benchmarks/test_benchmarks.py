"""The benchmark's arithmetic and its pages."""

from benchmarks import report
from benchmarks.sections import SECTIONS
from benchmarks.sections.base import Budget, failures, good
from benchmarks.stats import Spread, paired
from benchmarks.worker import export


def test_spread_is_least_median_and_most():
    """Three repetitions give their least, median and most."""
    assert Spread.of([3, 1, 2]) == Spread(1, 2, 3)
    assert Spread.of([3, 1, 2]).show(1) == "2.0 (1.0..3.0)"


def test_differences_pair_the_same_round():
    """Each repetition is compared with the base of its own round, as far as both exist."""
    assert paired([5, 7, 9], [1, 2]) == [4, 5]


def test_leaves_skip_what_matches_by_accident():
    """Only strings long enough to be told apart count."""
    value = {"a": ["completed", "ok"], "b": {"c": "resp_0123456789"}, "n": 3}
    assert list(export.leaves(value)) == ["completed", "resp_0123456789"]


def test_content_is_found_as_it_is_and_escaped():
    """A string counts when it stands in an export in plain, in JSON, or in ASCII-only JSON."""
    wanted = ["a line\nand another", "港の記録によれば", "nowhere at all"]
    found = [
        r'{"x": "a line\nand another"}',
        r"\u6e2f\u306e\u8a18\u9332\u306b\u3088\u308c\u3070",
    ]
    assert export.share_found(wanted, found) == 2 / 3


def test_failed_jobs_are_named_and_not_measured():
    """A recorder that failed gives a line, and no number."""
    rows = [{"peer": "a", "failed": "boom"}, {"peer": "b", "seconds": 1}]
    assert good(rows) == [{"peer": "b", "seconds": 1}]
    assert failures(rows) == ["a failed: boom"]


def test_memory_growth_is_judged_from_the_middle_on():
    """Caches that fill up in the first half are no leak; growth is compared with the SDK's own."""

    def row(peer, *blocks):
        points = [
            {"runs": n * 100, "blocks": b, "kb": 1024} for n, b in enumerate(blocks, 1)
        ]
        return {"measure": "memory", "peer": peer, "runs": 400, "points": points}

    rows = [row("noop", 0, 100, 200, 300), row("itemtrace-off", 0, 9_000, 9_100, 9_200)]
    expected = Budget(
        'memory after 400 finished runs, itemtrace, messages="off"',
        "flat",
        "+0.000 blocks a run over noop",
        True,
    )
    assert SECTIONS["memory"].budgets(rows) == [expected]


def test_the_leanest_peer_is_the_limit_for_cpu():
    """We are compared with the peer that adds least, by medians of paired differences."""
    seconds = {
        "off": [1.0, 1.1, 1.0],
        "itemtrace-off": [1.2, 1.3, 1.2],
        "logfire": [2.0, 2.1, 2.0],
        "traceloop": [1.1, 1.2, 1.1],
    }
    rows = [
        {"measure": "cpu", "peer": peer, "turns": 100, "seconds": value}
        for peer, values in seconds.items()
        for value in values
    ]
    budget = SECTIONS["cpu"].budgets(rows)[0]
    assert (budget.limit, budget.measured, budget.verdict) == (
        "1.00 (1.00..1.00) ms (traceloop)",
        "2.00 (2.00..2.00) ms",
        "not met",
    )


def test_every_section_shows_nothing_for_nothing():
    """A section without measurements has no table and no budget."""
    assert [(s.tables([]), s.budgets([])) for s in SECTIONS.values()] == [
        ([], [])
    ] * len(SECTIONS)


def test_the_page_names_versions_and_verdicts():
    """The page says when it was measured and which budgets are met."""
    points = [{"runs": n, "blocks": 10, "kb": 1024} for n in range(1, 11)]
    rows = [
        {"measure": "memory", "peer": peer, "runs": 10, "points": points}
        for peer in ("noop", "itemtrace-off")
    ]
    page = report.page({"memory": {"date": "2026-11-30", "quick": False, "rows": rows}})
    assert "- memory: measured on 2026-11-30\n" in page
    assert "| flat | +0.000 blocks a run over noop | met |" in page
