"""The proofs of the demo: facts of each run, as the SDK had them and as they came back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from itemtrace.cli.safe import counted, one_line
from itemtrace.cli.views.frame import label
from itemtrace.cli.views.scene import gap_line
from itemtrace.ledger import Ledger, Run


if TYPE_CHECKING:
    from rich.console import RenderableType

    from itemtrace.replay import Tape
    from itemtrace.testing.truth import Comparison


Proofs = list[tuple[Run, "list[Comparison]"]]
"""Each run, and its facts."""


def proof_parts(
    proofs: Proofs, ledgers: list[Ledger], *, equal: bool, verbose: bool
) -> Iterator[RenderableType]:
    """Yields the proof: each run's facts, as the SDK had them and as they came back."""
    yield label(
        ("Proof ", "bold"), ("each run read back, against the SDK's own result", "dim")
    )
    yield from run_lines(proofs, verbose=verbose)
    for ledger in ledgers:
        yield from map(gap_line, ledger.gaps)
    whole = sum(len(found) for _, found in proofs)
    if equal:
        yield label(
            ("  Nothing was lost: ", "bold green"),
            f"{whole} facts compared, all equal; every ledger is exact.",
        )
    else:
        yield label(("  Something differs; please report it.", "bold red"))


def replay_parts(
    tape: Tape, proofs: Proofs, *, equal: bool, verbose: bool
) -> Iterator[RenderableType]:
    """Yields the proof of the replay: the same agents, on the recording alone."""
    yield label(
        ("\nReplay ", "bold"),
        ("the same agents again, models and tools served from the recording", "dim"),
    )
    yield from run_lines(proofs, verbose=verbose)
    whole = sum(len(found) for _, found in proofs)
    calls = (
        f"{len(tape.report.network)} network calls, {len(tape.report.live)} tools run"
    )
    if equal:
        yield label(
            ("  The same run again: ", "bold green"),
            f"{whole} facts compared, all equal; {calls}.",
        )
    else:
        yield label(
            ("  The replay differs: ", "bold red"), f"{calls}; please report it."
        )


def run_lines(proofs: Proofs, *, verbose: bool) -> Iterator[RenderableType]:
    """Yields a line for each run, and one for each fact that differs."""
    for run, found in proofs:
        same = sum(fact.equal for fact in found)
        style = "green" if same == len(found) else "bold red"
        sign = "✓" if same == len(found) else "✗"
        yield label(
            (f"  {sign} ", style),
            f"run {run.run_id}  {run.status}  ",
            (f"{same} of {counted(len(found), 'fact')} equal", style),
        )
        for fact in found:
            if not fact.equal:
                yield label(("      ✗ ", "red"), one_line(str(fact), 1_000))
            elif verbose:
                yield label(("      ✓ ", "green"), (fact.name, "dim"))
