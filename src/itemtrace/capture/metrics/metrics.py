"""One object for all metrics of an installation: spans and runs are told to it as they end."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from opentelemetry.metrics import CallbackOptions, Observation

from itemtrace import semconv_metrics as names
from itemtrace.capture.guard import HEALTH, guarded
from itemtrace.capture.metrics import points, spans
from itemtrace.capture.metrics.instruments import Instruments
from itemtrace.capture.metrics.runs import RunMetrics


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from opentelemetry.trace import Span

    from itemtrace.capture.frame import Frame
    from itemtrace.capture.metrics.meters import Meters
    from itemtrace.capture.metrics.prices import Prices
    from itemtrace.capture.tree import OpenSpan

MOST_WAITING: Final = 10_000
"""How many approvals are remembered for their waiting time."""


@dataclass(frozen=True)
class MetricsSettings:
    """What is measured.

    Attributes:
        compat: Emit the older GenAI metrics too.
        prices: What tokens cost.
        metadata: Keys of a trace's metadata that may be attributes of `itemtrace.runs`.
    """

    compat: bool = False
    prices: Prices | None = None
    metadata: tuple[str, ...] = ()


class Metrics:
    """Measures runs and their spans.

    Args:
        meters: Gives the meter, and is closed with this.
        version: Of itemtrace, for the scope.
        settings: What is measured.
        clock: Nanoseconds, for how long an approval was waited for.
    """

    def __init__(
        self,
        meters: Meters,
        version: str,
        settings: MetricsSettings,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.meters = meters
        self.settings = settings
        self._clock = clock
        self._waiting: OrderedDict[tuple[str, str], int] = OrderedDict()
        self.instruments = Instruments(
            meters.provider.get_meter("itemtrace", version),
            compat=settings.compat,
            observe={names.FAILURES.name: _failures},
        )

    @guarded("metrics", ledger=False)
    def span(self, span: OpenSpan) -> None:
        """Measures an SDK span that has ended, also one that was not sampled."""
        self._measure(span.data.type, spans.span_point(span))

    @guarded("metrics", ledger=False)
    def trace(self, span: Span) -> None:
        """Measures the root span of a trace."""
        self._measure("trace", spans.trace_point(span))

    def _measure(self, kind: str, point: points.Point | None) -> None:
        if point is not None:
            for handler in points.HANDLERS[kind]:
                handler(self.instruments, point, self.settings.prices)

    def run(self, frame: Frame, agent: str | None, *, nested: bool) -> RunMetrics:
        """Returns what measures one run."""
        return RunMetrics(self, frame, agent, nested=nested)

    # --- approvals ------------------------------------------------------------------

    def asked(self, trace: str, call: str) -> None:
        """An approval is waited for from now on."""
        self._waiting[trace, call] = self._clock()
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popitem(last=False)

    def waited(self, trace: str, call: str) -> float | None:
        """Returns how many seconds an approval was waited for; None when another process asked."""
        since = self._waiting.pop((trace, call), None)
        return None if since is None else (self._clock() - since) / 1e9


def _failures(_: CallbackOptions) -> Iterable[Observation]:
    for place, count in HEALTH.counts().items():
        yield Observation(count, {names.FAILURE_PLACE: place})
