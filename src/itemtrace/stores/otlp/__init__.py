"""OTLP payloads to span rows and back, without the OpenTelemetry SDK.

JSON is read in every dialect that backends and older Collectors write, and written as the
specification says; Jaeger's own JSON and Zipkin's are read too. Protobuf needs only the message classes of `opentelemetry-proto`.
"""

from itemtrace.stores.otlp.jaeger_json import (
    WARNINGS,
    is_jaeger,
    is_loss,
    losses_of,
    read_jaeger,
)
from itemtrace.stores.otlp.json_reader import is_payload, read_json
from itemtrace.stores.otlp.json_writer import write_json
from itemtrace.stores.otlp.payload import decode, is_json, skim
from itemtrace.stores.otlp.proto import read_proto, write_proto
from itemtrace.stores.otlp.zipkin_json import is_zipkin, read_zipkin


__all__ = [
    "WARNINGS",
    "decode",
    "is_jaeger",
    "is_json",
    "is_loss",
    "is_payload",
    "is_zipkin",
    "losses_of",
    "read_jaeger",
    "read_json",
    "read_proto",
    "read_zipkin",
    "skim",
    "write_json",
    "write_proto",
]
