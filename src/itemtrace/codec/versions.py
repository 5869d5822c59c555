"""The formats that were ever written, one line each; a reader for every one, for ever."""

from __future__ import annotations

from typing import Final


VERSIONS: Final[dict[str, str]] = {
    "it1": "2026-11: first format",
}
"""Prefix of a chunk -> what changed. Frozen examples stand in tests/golden/<version>/."""

CURRENT: Final = "it1"
"""The format that is written."""

PREFIX_LENGTH: Final = 4
"""`it` and a version number below 10, then `;`."""
