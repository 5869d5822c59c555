"""Gaps: what a ledger lacks, and why.

A gap is never raised; it is held by the run it belongs to, or by the ledger where the run is not
known, and `itemtrace verify` prints it. What a gap says is lost is a `Placeholder` in the views.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from collections.abc import Mapping


class GapCause(StrEnum):
    """Why something is missing."""

    NOT_CAPTURED = "not captured"
    WITHHELD = "withheld"
    REDACTED = "redacted"
    MISSING = "missing"
    CUT = "cut"
    ALTERED = "altered"
    CONFLICTING_COPIES = "conflicting copies"
    UNSEALED = "unsealed"
    UNSUPPORTED_VERSION = "unsupported version"


@dataclass(frozen=True, slots=True)
class Gap:
    """One named loss.

    Attributes:
        cause: Why.
        message: What is lost, for people.
        run_id: The run that lacks it; empty where that is not known.
        seq: The record that lacks it, or the first of several.
        count: How many records in a row, where `seq` is the first of several.
    """

    cause: GapCause
    message: str
    run_id: str = ""
    seq: int | None = None
    count: int = 1

    def to_json(self) -> dict[str, Any]:
        """Returns the gap as a JSON object."""
        return {**asdict(self), "cause": self.cause.value}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Gap:
        """Returns the gap of `to_json`."""
        fields: dict[str, Any] = {**value, "cause": GapCause(value["cause"])}
        return cls(**fields)

    def __str__(self) -> str:
        where = f"run {self.run_id}: " if self.run_id else ""
        return f"{where}{self.cause}: {self.message}"
