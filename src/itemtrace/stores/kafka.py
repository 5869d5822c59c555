"""Kafka: the topic that the Collector's exporter writes, OTLP as protobuf or JSON.

    kafka://broker:9092,broker-2:9092/otlp_spans?last=6h
    kafka://user:password@broker:9093/otlp_spans?security.protocol=SASL_SSL&sasl.mechanism=PLAIN

The topic is read from its beginning, or from `last=` ago, to where it ends now; no consumer group is
joined and nothing is committed. Options with a dot are librdkafka's. User and password may also come
from `ITEMTRACE_KAFKA_USER` and `ITEMTRACE_KAFKA_PASSWORD`. Spans are written by a Collector or an
application.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from itemtrace.errors import ConfigError, MissingExtra, NotATrace, SourceError
from itemtrace.stores.base import Capabilities, SpooledStore, redact, register
from itemtrace.stores.otlp import is_json, skim


if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from pathlib import Path


TOPIC: Final = "otlp_spans"
PORT: Final = 9092
TIMEOUT: Final = 30.0
"""Seconds without any message after which a broker is taken for lost."""

PREFIX: Final = 4
UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
LINE_ENDS: Final = re.compile(rb"[\r\n]+")


@register("kafka")
class KafkaStore(SpooledStore):
    """A topic; see the module."""

    capabilities = Capabilities(exact=True)

    def __init__(
        self,
        source: str,
        *,
        write: bool = False,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Opens the store; it connects when it is read.

        Args:
            source: The URL.
            write: Refused.
            clock: Nanoseconds since the epoch.

        Raises:
            ConfigError: The URL names no broker, or has an option that cannot be used.
            MissingExtra: confluent-kafka is not installed.
            SourceError: It was to be opened for writing.
        """
        super().__init__(redact(source))
        if write:
            msg = (
                f"{self.url} can only be read; send spans to a Collector with a Kafka exporter: "
                "OTEL_EXPORTER_OTLP_ENDPOINT=http://host:4318"
            )
            raise SourceError(msg, source=self.url)
        kafka()
        parts = urlsplit(source)
        options = dict(parse_qsl(parts.query))
        self.topic = unquote(parts.path.strip("/")) or TOPIC
        self.timeout = seconds(
            options.get("timeout", f"{TIMEOUT:g}s"), "timeout", self.url
        )
        last = options.get("last")
        back = None if last is None else seconds(last, "last", self.url)
        self.since_ms = (
            None if back is None else clock() // 1_000_000 - int(back * 1000)
        )
        self.config = configuration(source, self.url, options)
        self.config["error_cb"] = self.heard
        self.trouble = ""
        self.next: dict[int, int] = {}

    def heard(self, error: Any) -> None:
        """Keeps what librdkafka says of the brokers."""
        self.trouble = error.str()

    def fetch(self, directory: Path) -> None:
        """Reads the messages that came since the last time."""
        with self.errors(), self.consumer() as consumer:
            waiting = self.assign(consumer)
            with (
                (directory / "spans.jsonl").open("ab") as lines,
                (directory / "spans.pb").open("ab") as messages,
            ):
                while waiting:
                    first = consumer.poll(self.timeout)
                    if first is None:
                        why = f"no message within {self.timeout:g} seconds"
                        raise self.lost(why)
                    for message in (first, *consumer.consume(500, timeout=0)):
                        self.take(message, waiting, lines, messages)
        for path in directory.iterdir():
            if not path.stat().st_size:
                path.unlink()

    @contextmanager
    def consumer(self) -> Generator[Any]:
        """Gives a consumer."""
        made = kafka().Consumer(self.config)
        try:
            yield made
        finally:
            made.close()

    @contextmanager
    def errors(self) -> Generator[None]:
        """Turns the errors of the driver into ours."""
        try:
            yield
        except kafka().KafkaException as error:
            raise self.lost(error.args[0].str()) from error

    def lost(self, why: str) -> SourceError:
        """Returns the error about a topic that cannot be read."""
        said = "; ".join(dict.fromkeys(filter(None, (why, self.trouble))))
        msg = (
            f"{self.url} cannot be read: {said}; expected kafka://broker:9092/topic, with "
            "user:password@ or ITEMTRACE_KAFKA_USER and ITEMTRACE_KAFKA_PASSWORD where it asks "
            "for credentials"
        )
        return SourceError(msg, source=self.url)

    def assign(self, consumer: Any) -> set[int]:
        """Begins to read each partition where it was left, and returns those with something new."""
        module = kafka()
        found = consumer.list_topics(self.topic, timeout=self.timeout).topics[
            self.topic
        ]
        if found.error is not None:
            raise module.KafkaException(found.error)
        starts = self.starts(consumer, sorted(found.partitions))
        waiting: set[int] = set()
        for number, start in starts.items():
            partition = module.TopicPartition(self.topic, number)
            low, high = consumer.get_watermark_offsets(partition, timeout=self.timeout)
            at = self.next.get(number, max(low, start))
            if at < low:
                text = f"messages {at} to {low - 1} of partition {number} were deleted meanwhile"
                self.complaints.append(f"{self.url}: {text}")
            self.next[number] = max(at, low)
            if self.next[number] < high:
                waiting.add(number)
        consumer.assign(
            [
                module.TopicPartition(self.topic, number, self.next[number])
                for number in waiting
            ]
        )
        return waiting

    def starts(self, consumer: Any, numbers: list[int]) -> dict[int, int]:
        """Returns the offset at which each partition is to be begun."""
        if self.since_ms is None:
            return dict.fromkeys(numbers, 0)
        partition = kafka().TopicPartition
        asked = [partition(self.topic, number, self.since_ms) for number in numbers]
        found = consumer.offsets_for_times(asked, timeout=self.timeout)
        return {  # an offset below zero: nothing is as new
            one.partition: one.offset
            if one.offset >= 0
            else consumer.get_watermark_offsets(
                partition(self.topic, one.partition), timeout=self.timeout
            )[1]
            for one in found
        }

    def take(
        self, message: Any, waiting: set[int], lines: BinaryIO, messages: BinaryIO
    ) -> None:
        """Puts a message into the files; a partition whose end was reached waits no longer."""
        error = message.error()
        number = message.partition()
        if error is not None:
            if error.code() != kafka().KafkaError._PARTITION_EOF:
                raise kafka().KafkaException(error)
            self.next[number] = message.offset()
            waiting.discard(number)
            return
        self.next[number] = message.offset() + 1
        payload = message.value()
        if not payload:
            return
        try:
            known = skim(payload)
            if known is None or not any(True for _ in known):
                return  # logs, metrics, or nothing
        except (ValueError, RecursionError, NotATrace) as wrong:
            self.complaints.append(
                f"{self.url}: message {message.offset()} of partition {number} "
                f"({len(payload)} bytes) is no OTLP: {wrong}; expected encoding otlp_proto "
                "or otlp_json"
            )
            return
        if is_json(payload):
            lines.write(LINE_ENDS.sub(b" ", payload) + b"\n")
        else:
            messages.write(len(payload).to_bytes(PREFIX) + payload)

    def forget(self) -> None:
        """Begins at the beginning again."""
        self.next.clear()


def kafka() -> Any:
    """Returns the module `confluent_kafka`.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import confluent_kafka as module
    except ImportError as error:
        package = "confluent-kafka"
        raise MissingExtra(package, "kafka") from error
    return module


def configuration(source: str, url: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Returns the settings of librdkafka for a URL.

    Raises:
        ConfigError: The URL names no broker.
    """
    parts = urlsplit(source)
    login, _, hosts = parts.netloc.rpartition("@")
    brokers = [host for host in hosts.split(",") if host]
    if not brokers:
        msg = f"{url} names no broker; expected kafka://broker:9092/topic"
        raise ConfigError(msg)
    user, _, password = login.partition(":")
    config: dict[str, Any] = {
        "bootstrap.servers": ",".join(
            host if re.search(r":\d+$", host) else f"{host}:{PORT}" for host in brokers
        ),
        "fetch.wait.max.ms": 50,  # where a partition ends is told after this
        "group.id": "itemtrace",  # has to be named; it is never joined
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",  # what was deleted is no reason to begin elsewhere
        "log_level": 0,  # `heard` says it
        "sasl.username": unquote(user) or os.environ.get("ITEMTRACE_KAFKA_USER"),
        "sasl.password": unquote(password)
        or os.environ.get("ITEMTRACE_KAFKA_PASSWORD"),
        **{name: value for name, value in options.items() if "." in name},
    }
    return {name: value for name, value in config.items() if value is not None}


def seconds(text: str, name: str, url: str) -> float:
    """Returns the seconds of `90`, `30s`, `15m`, `6h` or `7d`.

    Raises:
        ConfigError: It is nothing of the kind.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    if match is None or not float(match[1]):
        msg = f"{url} has {name}={text}; expected a time such as 30s, 15m, 6h or 7d"
        raise ConfigError(msg)
    return float(match[1]) * UNITS.get(match[2], 1)
