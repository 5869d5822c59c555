"""What the demo says when something is not as it should be."""

import os

import pytest
from tests.unit.cli.conftest import Story, found_of, render

from itemtrace.capture.guard import HEALTH
from itemtrace.cli.demo import Noted, proof_json, record
from itemtrace.cli.views.proof import proof_parts
from itemtrace.errors import SourceError
from itemtrace.testing.recorder import SpanRecorder
from itemtrace.testing.truth import Comparison


class Full:
    """A store whose disk is full."""

    url = "full.db"

    def write(self, rows) -> int:
        """Refuses."""
        msg = "full.db cannot grow, the disk is full"
        raise SourceError(msg)


@pytest.fixture
def environ(monkeypatch, sdk_processors):
    """The demo may change the environment; afterwards it is as before."""
    before = dict(os.environ)
    HEALTH.reset()
    yield
    HEALTH.reset()
    os.environ.clear()
    os.environ.update(before)


def test_findings_are_an_exit_code(itemtrace, environ, tmp_path, monkeypatch):
    """A demo whose ledgers are not exact ends with exit code 1."""
    monkeypatch.setattr("itemtrace.ledger.Ledger.exact", False)
    found = itemtrace("demo", "--store", str(tmp_path / "demo.db"))
    assert (found.exit_code, "Something differs" in found.stdout) == (1, True)


def test_differences_are_shown():
    """A fact that differs is named with what was expected and what came back."""
    found = found_of(Story())
    facts = [Comparison("usage", True, "1", "1"), Comparison("input", False, "1", "2")]
    proofs = [(found.runs[0], facts)]
    lines = render(proof_parts(proofs, [found.ledger], equal=False, verbose=True))
    for line in (
        "  ✗ run 00000000000000a1  unsealed  1 of 2 facts equal",
        "      ✓ usage",
        "      ✗ input: expected 1, got 2",
        "  Something differs; please report it.",
    ):
        assert line in lines.split("\n")
    report = proof_json("s", proofs, [found.ledger], equal=False)
    assert report["differences"] == [
        {"run_id": "00000000000000a1", "fact": "input", "expected": "1", "got": "2"}
    ]


def test_a_store_that_refuses(environ):
    """A demo that could not be recorded whole is an error with what to look at."""
    with pytest.raises(SourceError, match="could not be recorded whole"):
        record(Noted(Full()), streamed=False)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_in_this_process(itemtrace, environ, tmp_path, options):
    """The demo takes out what it put in, whatever the environment says."""
    os.environ["OTEL_SDK_DISABLED"] = "true"
    found = itemtrace("demo", "--store", str(tmp_path / "demo.db"), *options)
    assert (found.exit_code, "equal" in found.stdout) == (0, True)
    with SpanRecorder() as recorder:
        assert recorder.rows() == []
