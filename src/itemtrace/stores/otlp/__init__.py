"""OTLP payloads to span rows and back, without the OpenTelemetry SDK.

JSON is read in every dialect that backends and older Collectors write (`dialects`), and written as
the specification says. Protobuf needs only the message classes of `opentelemetry-proto`.
"""

from itemtrace.stores.otlp.json import (
    is_payload,
    read_json,
    skim_json,
    spans_of,
    write_json,
)
from itemtrace.stores.otlp.proto import read_proto, skim_proto, write_proto


__all__ = [
    "is_payload",
    "read_json",
    "read_proto",
    "skim_json",
    "skim_proto",
    "spans_of",
    "write_json",
    "write_proto",
]
