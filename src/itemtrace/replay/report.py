"""What became of each recorded call in a replay."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal


if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itemtrace.errors import ReplayDivergence


Status = Literal["exact", "diverged", "live", "unused"]

STATUSES: Final[tuple[Status, ...]] = ("exact", "diverged", "live", "unused")


@dataclass(frozen=True, slots=True)
class Entry:
    """One run, model call or tool call.

    Attributes:
        kind: `run`, `model call` or `tool call`.
        place: Where: `R0`, `R0#2`, `R0 turn 1 call_7`, `R0/call_7#0`.
        name: The agent, or the tool.
        status: `exact`: as recorded; `diverged`: served though something differed; `live`: not
            served but really called; `unused`: recorded and never asked for.
        note: What differed, or why.
    """

    kind: str
    place: str
    name: str
    status: Status
    note: str = ""

    def __str__(self) -> str:
        note = f": {self.note}" if self.note else ""
        return f"{self.kind} {self.place} ({self.name}) {self.status}{note}"


@dataclass
class Report:
    """What a tape gave and what it did not; complete when the replay has ended.

    Attributes:
        entries: In the order in which they were asked for.
        divergences: All that differed, also where `verify` let it pass.
        drift: Instructions or agents that changed and were let through, one line each.
        network: Addresses that were asked for and blocked.
        rest: Yields what was recorded and not asked for yet.
    """

    entries: list[Entry] = field(default_factory=list[Entry])
    divergences: list[ReplayDivergence] = field(
        default_factory=list["ReplayDivergence"]
    )
    drift: list[str] = field(default_factory=list[str])
    network: list[str] = field(default_factory=list[str])
    rest: Callable[[], Iterator[Entry]] = field(default=lambda: iter(()), repr=False)

    @property
    def exact(self) -> tuple[Entry, ...]:
        """What was served as recorded."""
        return self._with("exact")

    @property
    def diverged(self) -> tuple[Entry, ...]:
        """What differed from the recording."""
        return self._with("diverged")

    @property
    def live(self) -> tuple[Entry, ...]:
        """What was really called."""
        return self._with("live")

    @property
    def unused(self) -> tuple[Entry, ...]:
        """What was recorded and never asked for."""
        return tuple(self.rest())

    @property
    def clean(self) -> bool:
        """Whether everything was served as recorded and nothing is left."""
        return not (
            self.diverged
            or self.live
            or self.unused
            or self.divergences
            or self.network
        )

    def counts(self) -> dict[str, dict[str, int]]:
        """Returns how many calls of each kind have each status."""
        found: dict[str, Counter[str]] = {}
        for entry in (*self.entries, *self.unused):
            found.setdefault(entry.kind, Counter())[entry.status] += 1
        return {kind: dict(counted) for kind, counted in found.items()}

    def __str__(self) -> str:
        parts = [
            f"{sum(counted.values())} {kind}s ("
            + ", ".join(f"{counted[s]} {s}" for s in STATUSES if s in counted)
            + ")"
            for kind, counted in self.counts().items()
        ]
        blocked = f"; {len(self.network)} network calls blocked" if self.network else ""
        return ("; ".join(parts) or "nothing was replayed") + blocked

    def _with(self, status: Status) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.status == status)
