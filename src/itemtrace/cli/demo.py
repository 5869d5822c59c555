"""`itemtrace demo`: a run of several agents is recorded, read back, shown, and proved equal.

Everything is on this machine: the models are a script behind a loopback address.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Protocol

import typer
from rich.console import RenderableType

from itemtrace.cli import output, sources
from itemtrace.cli.guard import FINDINGS
from itemtrace.codec.spans import SpanRow
from itemtrace.engines import local
from itemtrace.errors import SourceError
from itemtrace.ledger import Ledger, Run
from itemtrace.replay import Tape, replay
from itemtrace.stores import open_store


if TYPE_CHECKING:
    from itemtrace.cli.views.proof import Proofs


FOREIGN: Final = (
    "OTEL_", "OPENAI_AGENTS_", "ITEMTRACE_MESSAGES", "ITEMTRACE_PROFILE", "HTTP_PROXY",
    "HTTPS_PROXY", "ALL_PROXY",
)  # fmt: skip
"""Beginnings of variables that would send the demo elsewhere, or withhold what it shows."""


def demo(
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="PATH",
            help="Where to record; the local store by default.",
            show_default=False,
        ),
    ] = None,
    *,
    streamed: Annotated[
        bool, typer.Option("--streamed", help="Run it with Runner.run_streamed.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show every fact that is compared.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The proof as JSON, and nothing else.")
    ] = False,
) -> None:
    """Record a multi-agent run, read it back and prove that nothing was lost. Offline, without a key.

    A bit of everything: a handoff, tools in parallel of which one fails, an agent as a tool, an approval
    that is given and one that is refused, guardrails, encrypted reasoning, a picture, Japanese. Exit
    code 1 if any fact differs from the SDK's own result.
    """
    clear_environment()
    with open_store(store, write=True) as opened:
        noted = Noted(opened)
        results = record(noted, streamed=streamed)
        ledgers = [
            local.load(opened, trace_id=trace_id) for trace_id in noted.trace_ids
        ]
        url = opened.url
    roots = sorted(
        (run for of in ledgers for run in of.runs), key=lambda r: r.started_ns
    )
    proofs = proof(roots, results)
    equal = len(roots) == len(results) and all(
        f.equal for _, found in proofs for f in found
    )
    equal = equal and all(ledger.exact for ledger in ledgers)
    from itemtrace.cli.views import proof as views  # noqa: PLC0415 - rich's parts load when needed

    tape, again = play_again(roots)
    same = tape.report.clean and all(f.equal for _, found in again for f in found)
    if as_json:
        of_replay = replay_json(tape, again, equal=same)
        proven = proof_json(url, proofs, ledgers, equal=equal)
        output.write_json({**proven, "replay": of_replay})
    else:
        output.show(parts(url, ledgers, roots))
        output.show(views.proof_parts(proofs, ledgers, equal=equal, verbose=verbose))
        output.show(views.replay_parts(tape, again, equal=same, verbose=verbose))
        output.show(next_steps(roots, store))
    if not (equal and same):
        raise typer.Exit(FINDINGS)


def clear_environment() -> None:
    """Takes out of this process's environment what would change the demo."""
    for name in list(os.environ):
        if name.upper().startswith(FOREIGN):
            del os.environ[name]


class Recipient(Protocol):
    """What takes rows and has a name: a store."""

    url: str

    def write(self, rows: Iterable[SpanRow]) -> int:
        """Writes rows."""
        ...


class Noted:
    """Writes into a store and notes which traces are written.

    Attributes:
        store: The store.
        trace_ids: Ids of the traces, in order of appearance.
    """

    def __init__(self, store: Recipient) -> None:
        self.store = store
        self.trace_ids: dict[str, None] = {}

    def write(self, rows: Iterable[SpanRow]) -> int:
        """Writes rows and notes their traces."""
        batch = list(rows)
        self.trace_ids.update(dict.fromkeys(row.trace_id for row in batch))
        return self.store.write(batch)

    def close(self) -> None:
        """Leaves the store open: its owner reads it next."""


def record(store: Noted, *, streamed: bool) -> list[Any]:
    """Runs the demo with everything recorded, and returns the SDK's results."""
    from itemtrace.capture.sinks import StoreExporter  # noqa: PLC0415 - loads both SDKs
    from itemtrace.install import flush, health, install, uninstall  # noqa: PLC0415
    from itemtrace.testing.demo import run_demo  # noqa: PLC0415

    with output.progress("recording the demo run"):
        install(exporter=StoreExporter(store), store=False, keep_openai_exporter=False)
        try:
            with ThreadPoolExecutor(1) as own:  # here a loop may be running already
                results = own.submit(asyncio.run, run_demo(streamed=streamed)).result()
            taken = flush()
        finally:
            uninstall()
    failures = health()
    if failures or not taken:
        places = ", ".join(f"{count} x {place}" for place, count in failures.items())
        msg = f"the demo could not be recorded whole: {places or 'the store was too slow'}"
        raise SourceError(msg, source=store.store.url)
    return list(results)


def proof(roots: list[Run], results: list[Any]) -> Proofs:
    """Compares each run with the SDK's own result."""
    from itemtrace.testing.truth import compare  # noqa: PLC0415 - loads the SDK

    return [
        (run, compare(run, result)) for run, result in zip(roots, results, strict=False)
    ]


def play_again(roots: list[Run]) -> tuple[Tape, Proofs]:
    """Runs the demo's agents again on what was recorded; its provider has stopped serving."""
    from itemtrace.testing.demo import front_desk  # noqa: PLC0415 - loads the SDK

    tape = replay(roots)
    with output.progress("replaying the demo run"):
        results = asyncio.run(tape.again(front_desk, tracing=False))
    return tape, proof(roots, results)


def replay_json(tape: Tape, proofs: Proofs, *, equal: bool) -> dict[str, Any]:
    """Returns the proof of the replay for machines."""
    return {
        "equal": equal,
        "facts": sum(len(found) for _, found in proofs),
        "network_calls": len(tape.report.network),
        "calls": tape.report.counts(),
    }


def proof_json(
    url: str, proofs: Proofs, ledgers: list[Ledger], *, equal: bool
) -> dict[str, Any]:
    """Returns the proof for machines."""
    return {
        "store": url,
        "traces": [trace_id for ledger in ledgers for trace_id in ledger.trace_ids],
        "equal": equal,
        "facts": sum(len(found) for _, found in proofs),
        "gaps": [gap.to_json() for ledger in ledgers for gap in ledger.gaps],
        "differences": [
            {"run_id": run.run_id, "fact": f.name, "expected": f.expected, "got": f.got}
            for run, found in proofs
            for f in found
            if not f.equal
        ],
    }


def parts(
    url: str, ledgers: list[Ledger], roots: list[Run]
) -> Iterator[RenderableType]:
    """Yields what was recorded: where, the transcript, the tokens."""
    from rich.text import Text  # noqa: PLC0415

    from itemtrace.cli.views.frame import label  # noqa: PLC0415
    from itemtrace.cli.views.header import header, usage_table  # noqa: PLC0415
    from itemtrace.cli.views.scene import Scene  # noqa: PLC0415
    from itemtrace.cli.views.transcript import transcript  # noqa: PLC0415

    yield label(
        ("recorded to ", "dim"), (url, "bold"), (", and read back from there:\n", "dim")
    )
    scene = Scene(markdown=sys.stdout.isatty())
    for ledger in sorted(
        ledgers, key=lambda of: of.runs[0].started_ns if of.runs else 0
    ):
        trace_id = ledger.trace_ids[0] if ledger.trace_ids else ""
        yield from header(sources.Found(ledger, ledger.runs, url, trace_id))
        yield from transcript(ledger.runs, scene)
        yield Text()
    yield from filter(None, [usage_table(roots)])
    yield Text()


def next_steps(roots: list[Run], store: str | None) -> Iterator[RenderableType]:
    """Yields commands to try next."""
    from itemtrace.cli.views.frame import label  # noqa: PLC0415

    place = f"{Path(store)} " if store else ""
    first = roots[0].run_id[:8] if roots else ""
    yield label(("\nTry next", "bold"))
    for command, what in (
        (f"itemtrace runs {place}", "what is recorded"),
        (f"itemtrace show {place}{first} --tree", "the spans, and when each ran"),
        (
            f"itemtrace show {place}{first} --model-view 2",
            "what the model saw at call 2",
        ),
        (f"itemtrace verify {place}", "whether anything is missing"),
    ):
        yield label(f"  {command.rstrip():<52} ", (what, "dim"))
