"""Instruments, made from the registry; names are bounded, so that no series grow without end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemtrace.semconv_metrics import METRICS, Metric


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from opentelemetry.context import Context
    from opentelemetry.metrics import CallbackOptions, Meter, Observation

MOST_VALUES: Final = 200
"""How many values one attribute may have in a process; what comes later is `OTHER`."""

LONGEST: Final = 120
"""Characters of a value."""

OTHER: Final = "(other)"


class Instruments:
    """All instruments of one meter.

    Args:
        meter: Makes them.
        compat: Whether the older GenAI metrics are emitted too.
        observe: Gives the observations of observable instruments, by name of the metric.
    """

    def __init__(
        self,
        meter: Meter,
        *,
        compat: bool,
        observe: Mapping[str, Callable[[CallbackOptions], Iterable[Observation]]],
    ) -> None:
        self._values: dict[str, set[str]] = {}
        self._add: dict[str, Callable[..., None]] = {}
        for metric in METRICS.values():
            if metric.compat and not compat:
                continue
            if metric.instrument == "observable_counter":
                meter.create_observable_counter(
                    metric.name, [observe[metric.name]], metric.unit, metric.brief
                )
            else:
                self._add[metric.name] = _MAKE[metric.instrument](meter, metric)

    def add(
        self,
        metric: Metric,
        amount: float,
        attributes: Mapping[str, Any],
        context: Context | None = None,
    ) -> None:
        """Adds to a counter, or records a value of a histogram; nothing where it is not emitted.

        Args:
            metric: Which.
            amount: How much.
            attributes: Those that are None are left out.
            context: Of the span that an exemplar links to.
        """
        add = self._add.get(metric.name)
        if add is not None:
            add(amount, self._bounded(attributes), context)

    def _bounded(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        return {
            str(key): self._value(key, value) if isinstance(value, str) else value
            for key, value in attributes.items()
            if value is not None
        }

    def _value(self, key: str, value: str) -> str:
        known = self._values.setdefault(key, set())
        value = value[:LONGEST]
        if value not in known:
            if len(known) >= MOST_VALUES:
                return OTHER
            known.add(value)
        return value


def _counter(meter: Meter, metric: Metric) -> Callable[..., None]:
    return meter.create_counter(metric.name, metric.unit, metric.brief).add


def _updown(meter: Meter, metric: Metric) -> Callable[..., None]:
    return meter.create_up_down_counter(metric.name, metric.unit, metric.brief).add


def _histogram(meter: Meter, metric: Metric) -> Callable[..., None]:
    return meter.create_histogram(
        metric.name,
        metric.unit,
        metric.brief,
        explicit_bucket_boundaries_advisory=list(metric.buckets),
    ).record


_MAKE: Final[dict[str, Callable[[Meter, Metric], Callable[..., None]]]] = {
    "counter": _counter,
    "histogram": _histogram,
    "updowncounter": _updown,
}
