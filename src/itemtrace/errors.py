"""What itemtrace raises, all under one base.

    ItemTraceError
    ├── SourceError             a source cannot be read (CLI exit code 2)
    │   ├── NotATrace           the bytes are no trace of a known format
    │   ├── StoreLocked         another process holds the store
    │   ├── StoreVersionError   the store was written by a newer itemtrace
    │   └── TraceNotFound       the id is not in the source
    ├── MissingExtra            an optional package is not installed
    ├── CodecError              bytes that are no valid record
    │   ├── ChunkMissing        a record lacks some of its chunks
    │   ├── DigestMismatch      a record is not what was written
    │   └── UnsupportedVersion  a record of a newer format
    ├── GapError                the ledger lacks what was asked for
    │   └── ReplayGap           a replay came to a place that the tape lacks
    ├── ReplayError             a replay cannot go on
    │   ├── ReplayGap           (also a GapError)
    │   ├── ReplayDivergence    the code did something else than was recorded
    │   │   └── NotOnTape       it did something that was not recorded at all
    │   ├── NetworkBlocked      the code reached for the network
    │   └── TapeUnused          the replay ended before the tape did
    └── ConfigError             arguments or environment that contradict each other

Each message says what was wrong, what was expected and what to do; the data is on the attributes.
"""

from __future__ import annotations


class ItemTraceError(Exception):
    """Base of everything that itemtrace raises on purpose."""


class SourceError(ItemTraceError):
    """A source cannot be read.

    Attributes:
        source: The source as the caller named it, without credentials.
    """

    def __init__(self, message: str, *, source: str = "") -> None:
        super().__init__(message)
        self.source = source


class NotATrace(SourceError):
    """The bytes are no trace of a format that itemtrace knows."""


class StoreLocked(SourceError):
    """Another process holds the store, or it is read-only."""


class StoreVersionError(SourceError):
    """The store was written by a newer itemtrace."""


class TraceNotFound(SourceError):
    """The asked trace or run is not in the source."""


class MissingExtra(ItemTraceError):
    """An optional package is needed and absent.

    Attributes:
        package: The package that could not be imported.
        extra: The extra of itemtrace that installs it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; it is needed here: "
            f"pip install 'itemtrace[{extra}]'"
        )
        self.package = package
        self.extra = extra


class CodecError(ItemTraceError):
    """Bytes that are no valid record."""


class ChunkMissing(CodecError):
    """A record lacks some of its chunks."""


class DigestMismatch(CodecError):
    """A record is not what was written."""


class UnsupportedVersion(CodecError):
    """A record of a format that this itemtrace does not know."""


class GapError(ItemTraceError):
    """The ledger lacks what was asked for; its gaps say why."""


class ReplayError(ItemTraceError):
    """A replay cannot go on."""


class ReplayGap(ReplayError, GapError):
    """A replay came to a place that the tape lacks: lost, withheld, redacted or never ended.

    Attributes:
        place: Where, such as `R0#2`.
    """

    def __init__(self, message: str, *, place: str = "") -> None:
        super().__init__(message)
        self.place = place


class ReplayDivergence(ReplayError):
    """The code did something else than was recorded.

    Attributes:
        place: Where: run path and model call (`R0/call_7#1`), or run path, turn and tool call.
        what: What differs: `input`, `instructions`, `agent`, `tool call`, …
        expected: What was recorded, as JSON values.
        got: What the code did.
        diff: The difference as lines for people.
        cause: What most likely made the difference.
    """

    def __init__(
        self,
        message: str,
        *,
        place: str = "",
        what: str = "",
        expected: object = None,
        got: object = None,
        diff: str = "",
        cause: str = "",
    ) -> None:
        super().__init__(message)
        self.place = place
        self.what = what
        self.expected = expected
        self.got = got
        self.diff = diff
        self.cause = cause


class NotOnTape(ReplayDivergence):
    """The code called something that was not recorded; it was stopped before it had an effect."""


class NetworkBlocked(ReplayError):
    """Code reached for the network while a tape was played.

    Attributes:
        address: Where to.
    """

    def __init__(self, message: str, *, address: str = "") -> None:
        super().__init__(message)
        self.address = address


class TapeUnused(ReplayError):
    """The replay ended before the tape did."""


class ConfigError(ItemTraceError):
    """Arguments or environment that contradict each other or cannot be used."""
