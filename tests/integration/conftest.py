"""What the situations share: a scripted provider, and the proof that a ledger is the run."""

from collections.abc import Sequence

import pytest

import itemtrace
from itemtrace.testing import conformance, truth
from itemtrace.testing.provider import FakeProvider


@pytest.fixture
async def provide():
    """Starts scripted providers that end with the test."""
    started = []

    def start(script, **options):
        fake = FakeProvider(script, **options).start()
        started.append(fake)
        return fake

    yield start
    for fake in started:
        await fake.aclose()


@pytest.fixture
def proved(recorded):
    """Rebuilds what was recorded and holds it against what the SDK returned or raised."""

    def prove(
        *ended,
        gaps: Sequence[str] = (),
        unequal: Sequence[str] = (),
        conform: bool = True,
    ):
        """Returns the root runs of the ledger, after every check.

        Args:
            ended: The SDK's result of each call of `Runner`, or its exception, in order.
            gaps: The causes of all gaps that must be there, in order.
            unequal: What must differ, since a gap stands in its place.
            conform: Whether the spans must keep to the conventions.
        """
        ledger = recorded.ledger()
        assert [gap.cause.value for gap in ledger.gaps] == list(gaps), ledger.gaps
        assert ledger.exact == (not gaps)
        assert len(ledger.runs) == len(ended)
        found = [
            differing
            for run, expected in zip(ledger.runs, ended, strict=True)
            for differing in truth.differences(run, expected)
        ]
        assert [one.name for one in found] == list(unequal), [str(one) for one in found]
        assert ledger.self_check() == []
        assert itemtrace.health() == {}
        rows = recorded.rows()
        assert sum(row.dropped_attributes for row in rows) == 0
        if conform:
            assert conformance.violations(rows) == []
        return ledger.runs

    return prove
