"""The span row: what every store produces and the rebuild reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One span as it was read back.

    Attributes:
        trace_id: 32 lowercase hex digits.
        span_id: 16 lowercase hex digits.
        parent_id: As `span_id`; empty for a root.
        name: The span's name.
        kind: `INTERNAL`, `CLIENT`, `SERVER`, `PRODUCER`, `CONSUMER` or empty.
        start_ns: Nanoseconds since the epoch; 0 when unknown.
        end_ns: As `start_ns`.
        attributes: Attribute values as the store gave them.
        status: `UNSET`, `OK`, `ERROR`.
        status_message: The status description.
        events: `{"name", "time_ns", "attributes"}` mappings.
        links: `{"trace_id", "span_id", "attributes"}` mappings.
        resource: Resource attributes.
        scope: Name of the instrumentation scope.
        scope_version: Its version.
        dropped_attributes: How many attributes the SDK or a backend says it dropped.
    """

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    kind: str = "INTERNAL"
    start_ns: int = 0
    end_ns: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: str = "UNSET"
    status_message: str = ""
    events: tuple[Mapping[str, Any], ...] = ()
    links: tuple[Mapping[str, Any], ...] = ()
    resource: Mapping[str, Any] = field(default_factory=dict[str, Any])
    scope: str = ""
    scope_version: str = ""
    dropped_attributes: int = 0
