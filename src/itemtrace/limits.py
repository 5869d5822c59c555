"""What fits into a span, as named profiles.

The numbers come from what backends do past their limits (docs/backends.md): Tempo cuts string
values at 2,048 bytes, Elastic APM at 1,024 characters, the OpenTelemetry SDK drops the oldest
attribute past 128, gRPC refuses more than 4 MiB.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Profile:
    """How a record is cut and named.

    Attributes:
        name: What the user writes in `install(profile=...)`.
        value_bytes: Most UTF-8 bytes of one string attribute, chunk header included.
        attributes: Most ledger attributes on one span.
        span_bytes: Most bytes of ledger attributes on one span.
        key: Prefix of the attribute keys; a number follows.
        ascii: Escape everything outside ASCII.
        array: Put all chunks of a span into one string array instead of numbered strings.
        all_attributes: Most attributes on one span, those of others included; None for no limit
            but the SDK's own.
    """

    name: str
    value_bytes: int = 2_000
    attributes: int = 100
    span_bytes: int = 200_000
    key: str = "itemtrace.r."
    ascii: bool = False
    array: bool = False
    all_attributes: int | None = None


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("portable"),
        Profile("ascii", ascii=True),
        Profile("elastic", value_bytes=1_000, ascii=True),
        Profile("dash0", attributes=16, all_attributes=32),
        Profile("xray", span_bytes=40_000),
        Profile("tempo-array", array=True, attributes=1),
        Profile("langfuse", key="langfuse.observation.metadata.itemtrace.r."),
        Profile(
            "unlimited",
            value_bytes=1_000_000_000,
            attributes=100,
            span_bytes=1_000_000_000,
        ),
    )
}
"""The named profiles; `portable` is the default and survives every backend that docs/backends.md lists."""


def fit(profile: Profile, value_length: int | None) -> Profile:
    """Returns the profile within a live `OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT` (characters)."""
    if value_length is None or value_length >= profile.value_bytes:
        return profile
    return replace(profile, value_bytes=value_length)
