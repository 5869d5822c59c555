"""The tables of docs/backends.md: what each backend leaves of the demo.

`tools/docs.py` puts them between the marks in the page. The runs and the rules are those of
tests/properties/test_degraded.py.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agents import set_trace_processors

import itemtrace
from itemtrace.limits import PROFILES
from itemtrace.testing.degrade import DEGRADERS
from itemtrace.testing.degrade.outcome import outcome
from itemtrace.testing.demo import run_demo
from itemtrace.testing.recorder import SpanRecorder


if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemtrace.codec.spans import SpanRow

BEGIN = "<!-- Generated from here by tools/docs.py; change the degraders and run `make docs`. -->"
END = "<!-- Generated to here. -->"


def page(text: str) -> str:
    """Returns the page with fresh tables between its marks."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    lines = [BEGIN, "", *backends(), "", *profiles(), "", *sources(), "", END]
    return head + "\n".join(lines) + tail


def backends() -> Iterator[str]:
    """Yields the table of what is left of the demo."""
    recorded = {name: record(name) for name in PROFILES}
    yield "| backend | with `portable` | exact with | limits | to configure |"
    yield "|---|---|---|---|---|"
    for name, backend in DEGRADERS.items():
        plain = outcome(name, recorded["portable"])
        best = "nothing"
        if backend.profile:
            found = outcome(name, recorded[backend.profile])
            best = f"`{backend.profile}`" if found.exact else f"{found}"
        note = " *" if backend.unconfirmed else ""
        yield f"| {backend.label}{note} | {plain} | {best} | {backend.limits} | {backend.configure} |"


def profiles() -> Iterator[str]:
    """Yields the table of profiles."""
    yield "| profile | bytes a value | ledger attributes a span | ledger bytes a span | what else |"
    yield "|---|---|---|---|---|"
    for name, profile in PROFILES.items():
        more = ["pure ASCII"] if profile.ascii else []
        more += (
            ["one string array instead of numbered strings"] if profile.array else []
        )
        if profile.all_attributes is not None:
            more.append(
                f"at most {profile.all_attributes} attributes of all kinds on a span"
            )
        if profile.key != "itemtrace.r.":
            more.append(f"keys begin with `{profile.key}`")
        yield (
            f"| `{name}` | {profile.value_bytes:,} | {profile.attributes} | {profile.span_bytes:,} "
            f"| {'; '.join(more)} |"
        )


def sources() -> Iterator[str]:
    """Yields where the rules of each backend stand."""
    for backend in DEGRADERS.values():
        yield f"- **{backend.label}**: {'; '.join(backend.sources)}"


def record(profile: str) -> list[SpanRow]:
    """Returns the spans of the demo, recorded with a profile."""
    set_trace_processors([])
    messages = "off" if profile == "xray" else "delta"
    with SpanRecorder() as recorder:
        itemtrace.install(
            tracer_provider=recorder.provider, profile=profile, messages=messages
        )
        asyncio.run(run_demo())
        itemtrace.uninstall()
    return recorder.rows()
