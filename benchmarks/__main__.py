"""The command: `python -m benchmarks [--quick] [--only SECTION ...] [--peers NAME ...] [--report]`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from benchmarks import drive, envs, report
from benchmarks.peers import OFF, PEERS
from benchmarks.sections import SECTIONS


if TYPE_CHECKING:
    from benchmarks.sections.base import Job, Row


RESULTS = envs.ROOT / "benchmarks" / "results.md"


def main() -> None:
    """Measures, shows, and writes `benchmarks/results.md`."""
    options = _parser().parse_args()
    console = Console()
    if not options.report:
        envs.freeze_sources()
        wanted = None if not options.peers else {OFF, *options.peers}
        for name in options.only or SECTIONS:
            _measure(name, wanted, quick=options.quick, console=console)
    kept = drive.load()
    report.show(kept, console)
    hasty = [name for name, section in kept.items() if section["quick"]]
    if hasty and not options.report:
        quick = f"{', '.join(hasty)} measured in quick mode"
        console.print(f"no page written: {quick}; --report writes it all the same")
    elif not options.peers:
        RESULTS.write_text(report.page(kept))
        console.print(f"written: {RESULTS.relative_to(envs.ROOT)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a few minutes: fewer repetitions, shorter runs",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SECTIONS,
        metavar="SECTION",
        help=f"of {', '.join(SECTIONS)}",
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=PEERS,
        metavar="NAME",
        help=f"of {', '.join(PEERS)}",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="measure nothing; show what was measured last and write the page, which says what was quick",
    )
    return parser


def _measure(
    name: str, wanted: set[str] | None, *, quick: bool, console: Console
) -> None:
    jobs = [
        job
        for job in SECTIONS[name].jobs(quick=quick)
        if wanted is None or job["peer"] in wanted
    ]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(name, total=len(jobs))

        def said(job: Job, message: Row) -> None:
            words = " ".join(f"{key} {value}" for key, value in message.items())
            progress.update(task, description=f"{name}: {_label(job)} {words}")

        rows: list[dict[str, Any]] = []
        for job in jobs:
            progress.update(task, description=f"{name}: {_label(job)}")
            row = drive.run(job, lambda message, job=job: said(job, message))
            if "failed" in row:
                console.print(
                    f"{_label(job)}: {row['failed']}", style="red", markup=False
                )
            rows.append(row)
            progress.advance(task)
        progress.update(task, description=name)
    drive.keep(name, rows, quick=quick)


def _label(job: Job) -> str:
    return " ".join(str(value) for key, value in job.items() if key != "measure")


if __name__ == "__main__":
    main()
