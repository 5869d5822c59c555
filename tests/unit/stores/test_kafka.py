"""Kafka: what is read of a topic, what is not, and what a broker may do."""

import builtins
import itertools
from io import BytesIO
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from itemtrace.errors import ConfigError, MissingExtra, SourceError
from itemtrace.stores import Query, open_store
from itemtrace.stores.kafka import KafkaStore, configuration
from itemtrace.stores.otlp import write_json, write_proto
from itemtrace.testing.kafka import brokers, cluster, send
from itemtrace.testing.store_contract import by_span, row, run_rows, run_summary


numbers = itertools.count()


@pytest.fixture
def topic():
    """Gives the name of a new topic."""
    return f"unit-{next(numbers)}"


def opened(topic, more="", **options):
    """Opens the store of a topic."""
    return KafkaStore(f"kafka://{brokers()}/{topic}{more}", **options)


def test_only_what_is_new_is_fetched(topic):
    """A store that stays open goes on where it was, and finds the same ledgers again."""
    send(topic, write_proto(run_rows(1)))
    with opened(topic) as store:
        assert list(store.runs()) == [run_summary(1)]
        before = dict(store.next)
        assert list(store.runs()) == [run_summary(1)]
        assert store.next == before
        send(topic, write_json(run_rows(2)).encode())
        assert list(store.runs()) == [run_summary(2), run_summary(1)]
        assert sum(store.next.values()) == 2
        store.close()
        assert store.next == {}
        assert list(store.runs(Query(limit=1))) == [run_summary(2)]


def test_an_empty_topic(topic):
    """A topic without messages holds nothing."""
    send(topic)
    cluster().list_topics(topic)
    cluster().produce(topic, value=None)
    cluster().flush(10)
    with opened(topic) as store:
        assert list(store.traces()) == []
        assert list(store.runs()) == []
        assert store.problems == []


def test_json_over_several_lines(topic):
    """A message of JSON may be laid out for the eye."""
    send(topic, write_json(run_rows(1)).replace("{", "{\r\n ").encode())
    with opened(topic) as store:
        assert list(store.runs()) == [run_summary(1)]


def test_messages_that_are_no_spans(topic):
    """Logs are passed over; what is no OTLP is named with its place."""
    send(
        topic,
        b"\xff\xffgarbage",
        b'{"resourceLogs": []}',
        b'{"hello": 1}',
        b'{"half',
        b'{"resourceSpans": []}',
        write_proto([row(1, 1)]),
        key="same partition",
    )
    with opened(topic) as store:
        assert [by_span(rows) for _, rows in store.traces()] == [[row(1, 1)]]
        places = [
            text.split(" is no OTLP")[0].partition("message ")[2]
            for text in store.problems
        ]
    assert [(place[0], place[-10:]) for place in places] == [
        ("0", " (9 bytes)"),
        ("2", "(12 bytes)"),
        ("3", " (6 bytes)"),
    ]


def test_last():
    """`last=` is counted back from now, in milliseconds as Kafka has them."""
    store = KafkaStore("kafka://host/t?last=1h", clock=lambda: 8_000_000 * 10**6)
    assert store.since_ms == 8_000_000 - 3_600_000


class Consumer:
    """A consumer that answers as written: one partition, offsets by time, then what is given."""

    def __init__(self, given, watermarks=(0, 2), by_time=1, known=(0,)):
        self.given = list(given)
        self.watermarks = watermarks
        self.by_time = by_time
        self.known = known
        self.assigned = []

    def list_topics(self, topic, timeout):
        """Returns one topic."""
        found = SimpleNamespace(error=None, partitions=dict.fromkeys(self.known))
        return SimpleNamespace(topics={topic: found})

    def offsets_for_times(self, partitions, timeout):
        """Returns the same offset for each partition."""
        for one in partitions:
            one.offset = self.by_time
        return partitions

    def get_watermark_offsets(self, partition, timeout):
        """Returns lowest and next offset."""
        return self.watermarks

    def assign(self, partitions):
        """Keeps what is to be read."""
        self.assigned = [(one.partition, one.offset) for one in partitions]


def test_begins_where_last_says():
    """The offset for a time is where a partition is begun; none means nothing is that new."""
    store = KafkaStore("kafka://host/t?last=1h")
    assert store.assign(newest := Consumer([], by_time=1)) == {0}
    assert newest.assigned == [(0, 1)]
    store = KafkaStore("kafka://host/t?last=1h")
    assert store.assign(none := Consumer([], by_time=-1)) == set()
    assert none.assigned == []
    assert store.next == {0: 2}


def test_what_was_deleted_meanwhile():
    """Messages that retention took between two reads are named; those before the first are not."""
    store = KafkaStore("kafka://host/t")
    store.assign(Consumer([], watermarks=(3, 4)))
    assert store.complaints == []
    store.assign(Consumer([], watermarks=(5, 6)))
    assert store.complaints == [
        "kafka://host/t: messages 3 to 4 of partition 0 were deleted meanwhile"
    ]


def test_an_error_in_place_of_a_message():
    """What the broker says of a partition ends the reading."""
    message = SimpleNamespace(
        error=lambda: KafkaError(KafkaError._AUTO_OFFSET_RESET), partition=lambda: 0
    )
    with pytest.raises(KafkaException):
        KafkaStore("kafka://host/t").take(message, {0}, BytesIO(), BytesIO())


def test_a_topic_that_is_not_there():
    """It is named, with what the URL should look like."""
    with (
        opened("never-made") as store,
        pytest.raises(
            SourceError,
            match=r"never-made cannot be read: .*Unknown topic.*expected kafka://broker",
        ),
    ):
        list(store.traces())


def test_no_broker():
    """A broker that is not there is one error that says so, without the password."""
    url = "kafka://me:hunter2@127.0.0.1:1/t?timeout=0.5"
    with open_store(url) as store, pytest.raises(SourceError) as caught:
        list(store.runs())
    assert "Connect" in str(caught.value) or "Transport" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_broker_that_falls_silent(topic, monkeypatch):
    """No message within the timeout is an error, not an end."""
    send(topic, write_proto(run_rows(1)))
    store = opened(topic, "?timeout=20")
    monkeypatch.setattr(store, "timeout", 10)
    silent = SimpleNamespace(poll=lambda timeout: None, close=lambda: None)
    monkeypatch.setattr(store, "assign", lambda consumer: {0})
    monkeypatch.setattr("confluent_kafka.Consumer", lambda config: silent)
    with store, pytest.raises(SourceError, match="no message within 10 seconds"):
        list(store.runs())


def test_settings_of_librdkafka(monkeypatch):
    """Brokers get their port, credentials come from the URL or the environment, dots pass through."""
    url = "kafka://me:p%40ss@a,b:9093/t"
    given = configuration(url, url, {"sasl.mechanism": "PLAIN", "last": "1h"})
    assert {
        k: given.get(k) for k in ("bootstrap.servers", "sasl.username", "sasl.password")
    } == {
        "bootstrap.servers": "a:9092,b:9093",
        "sasl.username": "me",
        "sasl.password": "p@ss",
    }
    assert given["sasl.mechanism"] == "PLAIN"
    assert "last" not in given
    monkeypatch.setenv("ITEMTRACE_KAFKA_USER", "env")
    monkeypatch.setenv("ITEMTRACE_KAFKA_PASSWORD", "secret")
    given = configuration("kafka://a/t", "", {})
    assert (given["sasl.username"], given["sasl.password"]) == ("env", "secret")


def test_what_a_url_needs():
    """A broker is needed, times have units, and only a Collector writes."""
    with pytest.raises(ConfigError, match="names no broker"):
        open_store("kafka:///t")
    with pytest.raises(ConfigError, match="last=soon; expected a time such as"):
        open_store("kafka://host/t?last=soon")
    with pytest.raises(
        SourceError, match="can only be read; send spans to a Collector"
    ):
        open_store("kafka://host/t", write=True)
    assert KafkaStore("kafka://host").topic == "otlp_spans"


def test_without_the_driver(monkeypatch):
    """The error names the extra to install."""
    real = builtins.__import__

    def without(name, *rest):
        if name == "confluent_kafka":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"itemtrace\[kafka\]"):
        open_store("kafka://host/t")
