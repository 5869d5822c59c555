"""The pytest plugin: a recorded run as a regression test.

    @pytest.mark.itemtrace("ledgers/refund.jsonl")
    async def test_refund():
        result = await Runner.run(front_desk, "My lamp is broken.")
        assert result.final_output.refunded == 89.9

The test is played from the file, offline. It fails where the code does something else than was
recorded, and when a recorded call was not asked for. `pytest --itemtrace-record` runs such tests for
real and writes their files anew. Keywords of the marker go to `itemtrace.replay`.

It stands beside the command line, above `install` and `replay`, since it uses both.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from itemtrace.errors import ReplayError


if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from itemtrace.replay import Tape


MARK: Final = "itemtrace"
TAPE: Final = pytest.StashKey["Tape"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--itemtrace-record`."""
    parser.getgroup("itemtrace").addoption(
        "--itemtrace-record",
        action="store_true",
        default=False,
        help="Run tests marked with itemtrace for real, and write their ledgers anew.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(path, **options): replay the runs of this test from a file of ledgers",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Reads the file of a marked test, before its fixtures are made."""
    marker = item.get_closest_marker(MARK)
    if marker is not None and not item.config.getoption("--itemtrace-record"):
        item.stash[TAPE] = read(place(item, marker), dict(marker.kwargs))


@pytest.fixture
def tape(request: pytest.FixtureRequest) -> Tape | None:
    """The tape of a test that is marked with `itemtrace`; None while it is recorded."""
    found: Tape | None = request.node.stash.get(TAPE, None)
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Plays or records a marked test while it runs."""
    marker = item.get_closest_marker(MARK)
    played = item.stash.get(TAPE, None)
    if marker is None:
        result = yield
    elif played is None:
        with recording(place(item, marker)):
            result = yield
    else:
        with played:
            result = yield
        played.assert_complete()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shows what differs, and not the way through the SDK to it."""
    report = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, ReplayError) and item.get_closest_marker(MARK) is not None:
        report.longrepr = str(error)
    return report


def place(item: pytest.Item, marker: pytest.Mark) -> Path:
    """Returns the file of a marker; it is named from the directory of the test.

    Raises:
        pytest.UsageError: The marker names no file.
    """
    if len(marker.args) != 1:
        msg = f'{item.nodeid}: expected @pytest.mark.itemtrace("ledgers/name.jsonl")'
        raise pytest.UsageError(msg)
    return item.path.parent / str(marker.args[0])


def read(path: Path, options: dict[str, Any]) -> Tape:
    """Returns the tape of a file of ledgers."""
    from itemtrace.ledger import io  # noqa: PLC0415 - only for marked tests
    from itemtrace.replay import replay  # noqa: PLC0415

    if not path.is_file():
        msg = f"{path} is not there; `pytest --itemtrace-record` writes it"
        pytest.fail(msg, pytrace=False)
    runs = [run for ledger in io.read(path) for run in ledger.runs]
    given: dict[str, Any] = {"everywhere": True, **options}
    return replay(runs, **given)


@contextmanager
def recording(path: Path) -> Generator[None]:
    """Records what runs inside, and writes it to a file of ledgers if nothing was raised."""
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    from itemtrace.install import install, uninstall  # noqa: PLC0415 - loads the SDK
    from itemtrace.ledger import io  # noqa: PLC0415
    from itemtrace.testing.recorder import SpanRecorder  # noqa: PLC0415

    with SpanRecorder(ids=RandomIdGenerator()) as recorder:
        install(tracer_provider=recorder.provider)
        try:
            yield
        finally:
            uninstall()
    ledger = recorder.ledger()
    if not ledger.runs:
        msg = (
            f"no run was recorded for {path}; either the test runs no agent, or the program has "
            "installed itemtrace already: let it leave that to tests"
        )
        pytest.fail(msg, pytrace=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(io.dumps(ledger) + "\n", encoding="utf-8")
