"""Kafka: what the Collector's exporter sends to a real broker comes back exact."""

import itertools

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

import itemtrace
from itemtrace.rebuild import rebuild
from itemtrace.testing.kafka import brokers, export, send


numbers = itertools.count()


@pytest.fixture
def topic():
    """Gives the name of a new topic."""
    return f"otlp_spans_{next(numbers)}"


@pytest.mark.parametrize("json", [False, True], ids=["proto", "json"])
def test_the_demo_comes_back(recorded_demo, topic, json):
    """The ledger of the demo is exact out of several partitions."""
    export(topic, recorded_demo.rows, json=json)
    assert itemtrace.load(f"kafka://{brokers()}/{topic}") == recorded_demo.ledger


def test_batches_that_interleave_traces(recorded_demo, topic):
    """Without `partition_traces_by_id` a trace may be in any partition, in any order, twice."""
    spans = recorded_demo.spans
    batches = [
        encode_spans(spans[at : at + 7]).SerializeToString()
        for at in range(0, len(spans), 7)
    ]
    send(topic, *reversed(batches), *batches[:2])
    assert itemtrace.load(f"kafka://{brokers()}/{topic}") == recorded_demo.ledger


@pytest.mark.parametrize("json", [False, True], ids=["proto", "json"])
def test_hard_values_come_back(hard_rows, topic, json):
    """No value that is hard to store changes a ledger."""
    export(topic, hard_rows, json=json)
    found = itemtrace.load(f"kafka://{brokers()}/{topic}")
    assert found == rebuild(hard_rows)
    assert found.exact
