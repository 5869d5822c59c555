"""A span recorder for tests: what a run exported, in memory, with the same ids every time.

with SpanRecorder() as recorded:
    itemtrace.install(tracer_provider=recorded.provider)
    await Runner.run(agent, "Hello")
    itemtrace.uninstall()
assert recorded.ledger().exact
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Self

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator

from itemtrace.capture.sinks import row_of
from itemtrace.rebuild import rebuild


if TYPE_CHECKING:
    from collections.abc import Mapping

    from itemtrace.codec.spans import SpanRow
    from itemtrace.ledger import Ledger


START_NS = 1_700_000_000_000_000_000
"""Where a fixed clock begins: 2023-11-14T22:13:20Z."""


class FixedIds(IdGenerator):
    """Trace and span ids that count up from a start, the same in every process.

    Args:
        start: The first id of both kinds; give each recorder of a test another one if their
            spans meet.
    """

    def __init__(self, start: int = 1) -> None:
        self._traces = count(start)
        self._spans = count(start)

    def generate_span_id(self) -> int:
        """Returns the next span id."""
        return next(self._spans)

    def generate_trace_id(self) -> int:
        """Returns the next trace id."""
        return next(self._traces)


class FixedClock:
    """A clock for whatever takes one: each reading is one step after the last.

    Args:
        start_ns: The first reading, nanoseconds since the epoch.
        step_ns: What is added for each later one; 0 stops the clock.
    """

    def __init__(self, start_ns: int = START_NS, step_ns: int = 1_000_000) -> None:
        self._readings = count(start_ns, step_ns)

    def __call__(self) -> int:
        """Returns the next reading."""
        return next(self._readings)


fixed_clock = FixedClock
"""A new fixed clock: `fixed_clock()`."""


class SpanRecorder:
    """Keeps every span that ends on its tracer provider.

    Attributes:
        provider: Give it to `itemtrace.install(tracer_provider=...)`.
        exporter: OpenTelemetry's own in-memory exporter behind it.
    """

    def __init__(
        self,
        *,
        resource: Mapping[str, Any] | None = None,
        limits: SpanLimits | None = None,
        ids: IdGenerator | None = None,
    ) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(
            resource=Resource(
                {"service.name": "test"} if resource is None else resource
            ),
            id_generator=ids or FixedIds(),
            span_limits=limits,
            shutdown_on_exit=False,
        )
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def spans(self, name: str = "") -> tuple[ReadableSpan, ...]:
        """Returns the spans in the order in which they ended; those with a name if one is given."""
        ended = self.exporter.get_finished_spans()
        return tuple(span for span in ended if name in ("", span.name))

    def rows(self) -> list[SpanRow]:
        """Returns the spans as a store would give them back."""
        return [row_of(span) for span in self.spans()]

    def ledger(self) -> Ledger:
        """Returns the ledger that the recorded spans give."""
        return rebuild(self.rows())

    def clear(self) -> None:
        """Forgets the spans."""
        self.exporter.clear()

    def close(self) -> None:
        """Shuts the provider down; the spans stay readable."""
        self.provider.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
