"""Token usage, with the fields of the SDK's `Usage`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from itemtrace.ledger.parts import mapping


Details = Mapping[str, Any]
"""Token details as the provider names them: `cached_tokens`, `reasoning_tokens`, …"""


@dataclass(frozen=True, slots=True)
class RequestUsage:
    """Usage of one request to a model."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    input_tokens_details: Details = field(default_factory=dict[str, Any])
    output_tokens_details: Details = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of some requests.

    Attributes:
        requests: How many, failed attempts included.
        input_tokens: Tokens sent.
        output_tokens: Tokens received.
        total_tokens: As the provider counts them.
        input_tokens_details: `cached_tokens`, `cache_write_tokens`.
        output_tokens_details: `reasoning_tokens`.
        request_usage_entries: Usage of each request, where the SDK keeps it.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    input_tokens_details: Details = field(default_factory=dict[str, Any])
    output_tokens_details: Details = field(default_factory=dict[str, Any])
    request_usage_entries: tuple[RequestUsage, ...] = ()

    @property
    def cached_tokens(self) -> int:
        """Input tokens that came from a cache."""
        return number(self.input_tokens_details.get("cached_tokens"))

    @property
    def reasoning_tokens(self) -> int:
        """Output tokens that were reasoning."""
        return number(self.output_tokens_details.get("reasoning_tokens"))

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            input_tokens_details=_sum(
                self.input_tokens_details, other.input_tokens_details
            ),
            output_tokens_details=_sum(
                self.output_tokens_details, other.output_tokens_details
            ),
            request_usage_entries=self.request_usage_entries
            + other.request_usage_entries,
        )


def number(value: object) -> int:
    """Returns an integer as it is, and 0 for what is none."""
    return value if isinstance(value, int) else 0


def from_body(
    body: Sequence[Any] | None, entries: Sequence[Sequence[Any]] = ()
) -> Usage:
    """Returns the usage of a record (docs/format.md, "Usage").

    Args:
        body: `[requests, input, output, total, input details, output details]`.
        entries: Its requests, each without the first number.
    """
    if not body:
        return Usage()
    padded = _padded(body, 6)
    return Usage(
        requests=number(padded[0]),
        input_tokens=number(padded[1]),
        output_tokens=number(padded[2]),
        total_tokens=number(padded[3]),
        input_tokens_details=_details(padded[4]),
        output_tokens_details=_details(padded[5]),
        request_usage_entries=tuple(_entry(entry) for entry in entries),
    )


def _entry(body: Sequence[Any]) -> RequestUsage:
    padded = _padded(body, 5)
    return RequestUsage(
        input_tokens=number(padded[0]),
        output_tokens=number(padded[1]),
        total_tokens=number(padded[2]),
        input_tokens_details=_details(padded[3]),
        output_tokens_details=_details(padded[4]),
    )


def total(usages: Iterable[Usage]) -> Usage:
    """Returns the sum of usages."""
    return sum(usages, Usage())


def _padded(body: Sequence[Any], length: int) -> list[Any]:
    return [*body, *[None] * (length - len(body))]


def _details(value: Any) -> Details:
    return mapping(value)


def _sum(left: Details, right: Details) -> Details:
    return {
        key: number(left.get(key)) + number(right.get(key))
        for key in dict.fromkeys([*left, *right])
    }
