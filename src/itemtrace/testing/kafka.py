"""Kafka brokers in this process (librdkafka's mock cluster), filled as the Collector does. For tests."""

from __future__ import annotations

import functools
from itertools import groupby
from typing import TYPE_CHECKING, Any

from itemtrace.stores.otlp import write_json, write_proto


if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemtrace.codec.spans import SpanRow


@functools.cache
def cluster() -> Any:
    """Returns a producer whose brokers run while it lives; they speak the real protocol."""
    from confluent_kafka import Producer  # noqa: PLC0415 - heavy

    return Producer(
        {
            "bootstrap.servers": "unused",
            "test.mock.num.brokers": 2,
            "message.max.bytes": 10_000_000,
            "log_level": 0,
        }
    )


def brokers() -> str:
    """Returns the addresses of the brokers."""
    known = cluster().list_topics(timeout=10).brokers.values()
    return ",".join(f"{broker.host}:{broker.port}" for broker in known)


def send(topic: str, *payloads: bytes, key: str | None = None) -> None:
    """Sends messages and waits until they have arrived."""
    for payload in payloads:
        cluster().produce(topic, value=payload, key=key)
    assert cluster().flush(30) == 0


def export(topic: str, rows: Iterable[SpanRow], *, json: bool) -> None:
    """Sends rows in messages of one trace each, as with `partition_traces_by_id`."""
    for trace_id, of_trace in groupby(rows, key=lambda row: row.trace_id):
        members = list(of_trace)
        payload = write_json(members).encode() if json else write_proto(members)
        send(topic, payload, key=trace_id)
