"""Records onto spans: within the live limits, the rest on continuation spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Tracer

from itemtrace.codec import chunks
from itemtrace.limits import Profile, fit


if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemtrace.codec.record import Record


SDK_ATTRIBUTE_LIMIT = 128
"""The SDK's default `OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT`; past it the oldest attribute is dropped."""


class Writer:
    """Puts records on spans, last, so that nothing of ours evicts anything of ours.

    Attributes:
        tracer: Makes the continuation spans.
        profile: How records are cut.
    """

    def __init__(self, tracer: Tracer, profile: Profile) -> None:
        self.tracer = tracer
        self.profile = profile
        self._fitted: tuple[int | None, Profile] | None = None

    def put(self, span: Span, records: Iterable[Record], keep: dict[str, Any]) -> None:
        """Sets the records as attributes of a span that is about to end.

        Args:
            span: A recording span.
            records: In order.
            keep: Attributes that continuation spans carry too.

        Raises:
            CodecError: The live limits leave no room for a record.
        """
        attributes, length = _live_limits(span)
        profile = self._profile(length)
        if profile.all_attributes is not None:
            attributes = min(attributes, profile.all_attributes)
        values = [
            value for record in records for value in chunks.split(record, profile)
        ]
        room = min(
            profile.attributes,
            attributes - len(getattr(span, "attributes", None) or ()),
        )
        placed = self._set(span, values, room, profile)
        if placed == len(values):
            return
        context = trace.set_span_in_context(span)
        room = min(profile.attributes, attributes - len(keep))
        while placed < len(values):
            more = self.tracer.start_span(
                "continuation", context=context, kind=SpanKind.INTERNAL, attributes=keep
            )
            try:
                done = self._set(more, values[placed:], max(room, 1), profile)
            finally:
                more.end()
            placed += max(done, 1)

    def room(self, span: Span, records: Iterable[Record]) -> int:
        """Returns how many attributes a span can take beside its records.

        Args:
            span: A recording span.
            records: What `put` will be given.
        """
        most, length = _live_limits(span)
        profile = self._profile(length)
        if profile.all_attributes is not None:
            most = min(most, profile.all_attributes)
        share = sum(len(chunks.split(record, profile)) for record in records)
        share = 1 if profile.array and share else min(share, profile.attributes)
        return max(most - len(getattr(span, "attributes", None) or ()) - share, 0)

    def _set(self, span: Span, values: list[str], room: int, profile: Profile) -> int:
        """Sets as many values as fit; returns how many."""
        taken: list[str] = []
        size = 0
        most = len(values) if profile.array and room > 0 else max(room, 0)
        for value in values[:most]:
            size += len(value)
            if taken and size > profile.span_bytes:
                break
            taken.append(value)
        if not taken:
            return 0
        if profile.array:
            span.set_attribute(f"{profile.key}0", taken)
        else:
            span.set_attributes(
                {f"{profile.key}{number}": value for number, value in enumerate(taken)}
            )
        return len(taken)

    def _profile(self, length: int | None) -> Profile:
        if self._fitted is None or self._fitted[0] != length:
            self._fitted = (length, fit(self.profile, length))
        return self._fitted[1]


def _live_limits(span: Span) -> tuple[int, int | None]:
    """Returns how many attributes a span may have, and how many characters a value.

    `_limits` is private in the SDK (opentelemetry/sdk/trace/__init__.py, `Span.__init__`); without
    it the documented defaults hold.
    """
    limits = getattr(span, "_limits", None)
    count = getattr(limits, "max_span_attributes", SDK_ATTRIBUTE_LIMIT)
    length = getattr(limits, "max_span_attribute_length", None)
    return (1_000_000 if count is None else count), length
