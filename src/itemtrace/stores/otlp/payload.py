"""A payload as it stands in files, queues and buckets: bytes of OTLP JSON or protobuf.

Jaeger's own JSON, which its UI saves, and Zipkin's are taken too.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from itemtrace.stores.otlp.jaeger_json import is_jaeger, read_jaeger, skim_jaeger
from itemtrace.stores.otlp.json_reader import is_payload, read_json, skim_json
from itemtrace.stores.otlp.proto import read_proto, skim_proto
from itemtrace.stores.otlp.zipkin_json import is_zipkin, read_zipkin, skim_zipkin


if TYPE_CHECKING:
    from collections.abc import Iterator

    from itemtrace.codec.spans import SpanRow


BOM: Final = b"\xef\xbb\xbf"
CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1f]")
"""What no JSON text has, and every message of protobuf that holds a span."""

OTHER_SIGNALS: Final = ("resourceLogs", "resourceMetrics", "resourceProfiles")


def is_json(payload: bytes) -> bool:
    """Whether a payload is JSON rather than protobuf."""
    if payload[:1] == b"\n" and CONTROL.search(payload[:4096]):
        return False  # the tag of protobuf's first field is a newline, and `{` may be its length
    return payload.removeprefix(BOM).lstrip()[:1] in (b"{", b"[")


def parse(payload: bytes) -> Any:
    """Returns the JSON value of a payload.

    Raises:
        ValueError: It is no JSON.
    """
    return json.loads(payload.removeprefix(BOM))


def skim(payload: bytes) -> Iterator[tuple[str, int]] | None:
    """Gives trace id and start of each span; None for OTLP logs and metrics.

    Raises:
        ValueError: The payload is no OTLP.
        NotATrace: The same, of protobuf.
    """
    if not is_json(payload):
        return skim_proto(payload)
    value = parse(payload)
    if is_payload(value):
        return skim_json(value)
    if is_jaeger(value):
        return skim_jaeger(value)
    if is_zipkin(value):
        return skim_zipkin(value)
    if isinstance(value, dict) and any(name in value for name in OTHER_SIGNALS):
        return None
    msg = "it is JSON without resourceSpans"
    raise ValueError(msg)


def decode(payload: bytes) -> Iterator[SpanRow]:
    """Gives the rows of a payload.

    Raises:
        ValueError: The payload is no JSON.
        NotATrace: The payload is no OTLP protobuf.
    """
    if not is_json(payload):
        return read_proto(payload)
    value = parse(payload)
    if is_jaeger(value):
        return read_jaeger(value)
    return read_zipkin(value) if is_zipkin(value) else read_json(value)
