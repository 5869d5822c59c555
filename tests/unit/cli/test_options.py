"""Options and the query they make."""

from datetime import UTC, datetime

import pytest

from itemtrace.cli import options
from itemtrace.errors import ConfigError
from itemtrace.stores import Query


NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "ago"),
    [("90s", 90), ("30m", 1_800), (" 2h ", 7_200), ("3d", 259_200), ("1w", 604_800)],
)
def test_times_ago(text, ago):
    """A number with a unit is that long ago."""
    assert options.time_ns(text, NOW) == int(NOW.timestamp() - ago) * SECOND


def test_iso_times():
    """ISO times with a zone are exact; dates are midnight of the local clock."""
    at = options.time_ns("2026-11-30T10:00:00.5+00:00", NOW)
    midnight = datetime(2026, 11, 30).astimezone()
    assert at == int(NOW.timestamp() - 7_200) * SECOND + SECOND // 2
    assert options.time_ns("2026-11-30", NOW) == int(midnight.timestamp()) * SECOND


@pytest.mark.parametrize("text", ["3x", "", "yesterday", "999999999w", "-5m"])
def test_no_times(text):
    """What is no time is refused with what is expected."""
    with pytest.raises(ConfigError, match="is no time; expected 90s"):
        options.time_ns(text, NOW)


def test_query():
    """Every filter gets its place in the query."""
    found = options.query(
        agent="A",
        tool="t",
        status="failed",
        model="m",
        group="g",
        since="1970-01-01T00:00:01+00:00",
        until="1970-01-01T00:00:02+00:00",
        limit=3,
    )
    assert found == Query(
        agent="A",
        tool="t",
        status="failed",
        model="m",
        group="g",
        since_ns=SECOND,
        until_ns=2 * SECOND,
        limit=3,
    )
    assert options.query() == Query()


def test_unknown_status():
    """A status that no run can have is refused."""
    with pytest.raises(ConfigError, match="'done' is not known; expected one of comp"):
        options.query(status="done")
