"""OTLP payloads in the dialects that backends write, and values at their edges."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from itemtrace.codec.spans import SpanRow
from itemtrace.errors import NotATrace
from itemtrace.stores import open_store
from itemtrace.stores.otlp import (
    decode,
    is_payload,
    read_json,
    read_proto,
    skim,
    write_json,
    write_proto,
)
from itemtrace.stores.otlp.repair import repair


TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
BASE64_TRACE, BASE64_SPAN = "CvdlGRbNQ92ESOshHIAxnA==", "t61rcWkgMzE="

EXPECTED = SpanRow(
    trace_id=TRACE,
    span_id=SPAN,
    name="chat gpt-5",
    kind="CLIENT",
    start_ns=1_790_000_000_000_000_001,
    end_ns=1_790_000_001_000_000_002,
    attributes={"text": "value", "n": 7},
    status="ERROR",
    status_message="broke",
    events=({"name": "e", "time_ns": 5, "attributes": {"k": True}},),
    links=({"trace_id": TRACE, "span_id": SPAN, "attributes": {}},),
    resource={"service.name": "desk"},
    scope="itemtrace",
    scope_version="1",
    dropped_attributes=2,
)


def camel(
    trace=TRACE,
    span=SPAN,
    number: Callable[[int], object] = str,
    scopes="scopeSpans",
    scope="scope",
) -> dict[str, Any]:
    """A resource group as the Collector writes it, or with one thing otherwise."""
    text = {"key": "text", "value": {"stringValue": "value"}}
    return {
        "resource": {
            "attributes": [{"key": "service.name", "value": {"stringValue": "desk"}}]
        },
        scopes: [
            {
                scope: {"name": "itemtrace", "version": "1"},
                "spans": [
                    {
                        "traceId": trace,
                        "spanId": span,
                        "parentSpanId": "",
                        "name": "chat gpt-5",
                        "kind": 3,
                        "startTimeUnixNano": number(EXPECTED.start_ns),
                        "endTimeUnixNano": number(EXPECTED.end_ns),
                        "attributes": [
                            text,
                            {"key": "n", "value": {"intValue": number(7)}},
                        ],
                        "droppedAttributesCount": 2,
                        "events": [
                            {
                                "timeUnixNano": number(5),
                                "name": "e",
                                "attributes": [
                                    {"key": "k", "value": {"boolValue": True}}
                                ],
                            }
                        ],
                        "links": [{"traceId": trace, "spanId": span}],
                        "status": {"message": "broke", "code": 2},
                    }
                ],
            }
        ],
    }


def snake(value: Any) -> Any:
    """The same with its field names in snake case."""
    if isinstance(value, list):
        return [snake(child) for child in value]
    if not isinstance(value, dict):
        return value
    return {
        "".join(f"_{c.lower()}" if c.isupper() else c for c in key): snake(child)
        for key, child in value.items()
    }


def named():
    """A resource group with the names of enum values, as Tempo writes it."""
    group = camel(BASE64_TRACE, BASE64_SPAN)
    (span,) = group["scopeSpans"][0]["spans"]
    span["kind"] = "SPAN_KIND_CLIENT"
    span["status"]["code"] = "STATUS_CODE_ERROR"
    return group


def with_nulls():
    """A resource group with every alternative of a value present, as Phoenix writes it."""
    alternatives = ("array_value", "bool_value", "bytes_value", "double_value")
    nulls = dict.fromkeys(alternatives)
    group = snake(camel(number=int))
    (span,) = group["scope_spans"][0]["spans"]
    span["attributes"] = [
        {"key": "text", "value": {**nulls, "string_value": "value", "int_value": None}},
        {"key": "n", "value": {**nulls, "string_value": None, "int_value": 7}},
    ]
    return group


DIALECTS = {
    "collector": {"resourceSpans": [camel()]},
    "numbers": {"resourceSpans": [camel(number=int)]},
    "upper case ids": {"resourceSpans": [camel(TRACE.upper(), SPAN.upper())]},
    "snake case": snake({"resourceSpans": [camel()]}),
    "nulls": {"resource_spans": [with_nulls()]},
    "tempo": {"batches": [named()]},
    "tempo v2": {"trace": {"resourceSpans": [named()]}, "status": "COMPLETE"},
    "url-safe base64": {"batches": [camel("CvdlGRbNQ92ESOshHIAxnA", "t61rcWkgMzE")]},
    "jaeger v3": {"result": {"resourceSpans": [camel()]}},
    "result list": {"result": [{"resourceSpans": [camel()]}]},
    "a list": [{"resourceSpans": [camel()]}],
    "old library": {
        "resourceSpans": [
            camel(scopes="instrumentationLibrarySpans", scope="instrumentationLibrary")
        ]
    },
}


@pytest.mark.parametrize("payload", DIALECTS.values(), ids=DIALECTS)
def test_every_dialect_reads_the_same(payload):
    """Case, numbers, ids, enums and wrappers make no difference."""
    assert is_payload(payload)
    text = json.dumps(payload, indent=1).encode()
    assert list(decode(text)) == [EXPECTED]
    assert list(decode(b"\xef\xbb\xbf" + text)) == [EXPECTED]
    assert list(skim(text) or ()) == [(TRACE, EXPECTED.start_ns)]


def test_protobuf_reads_the_same():
    """The binary form of the payload gives the same row."""
    payload = write_proto([EXPECTED])
    assert list(read_proto(payload)) == [EXPECTED]
    assert list(skim(payload) or ()) == [(TRACE, EXPECTED.start_ns)]


def test_written_as_the_specification_says():
    """Hex ids, int64 as strings, enums as numbers, no field that has its default."""
    group = camel()
    del group["scopeSpans"][0]["spans"][0]["parentSpanId"]
    assert json.loads(write_json([EXPECTED])) == {"resourceSpans": [group]}


def value_of(any_value):
    """What a value of OTLP JSON reads as."""
    span = {
        "traceId": TRACE,
        "spanId": SPAN,
        "attributes": [{"key": "k", "value": any_value}],
    }
    (row,) = read_json({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    return row.attributes["k"]


@pytest.mark.parametrize(
    ("any_value", "value"),
    [
        ({}, None),
        (None, None),
        ({"stringValue": ""}, ""),
        ({"boolValue": False}, False),
        ({"boolValue": "true"}, True),
        ({"boolValue": "false"}, False),
        ({"intValue": "9223372036854775807"}, 2**63 - 1),
        ({"intValue": "9223372036854775808"}, 2**63),
        ({"intValue": 1.0}, 1.0),
        ({"intValue": "x"}, "x"),
        ({"doubleValue": 1}, 1.0),
        ({"doubleValue": "1.5"}, 1.5),
        ({"doubleValue": "NaN"}, float("nan")),
        ({"doubleValue": "-Infinity"}, float("-inf")),
        ({"doubleValue": "x"}, "x"),
        ({"doubleValue": [1]}, [1]),
        ({"doubleValue": 10**400}, 10**400),
        ({"bytesValue": "AP8="}, b"\x00\xff"),
        ({"bytesValue": "AP8"}, b"\x00\xff"),
        ({"bytesValue": "_-8"}, b"\xff\xef"),
        ({"bytesValue": "A"}, "A"),
        ({"arrayValue": {}}, []),
        ({"arrayValue": {"values": [{}, {"intValue": "1"}]}}, [None, 1]),
        ({"kvlistValue": {}}, {}),
        ({"kvlistValue": {"values": [{"key": "a"}]}}, {"a": None}),
        ({"newValue": 1}, None),
    ],
)
def test_values(any_value, value):
    """Each alternative reads as its type; what cannot be one stays as it is."""
    assert repr(value_of(any_value)) == repr(value)


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        (0, 0, ("", "UNSET")),
        (None, None, ("", "UNSET")),
        (5, 1, ("CONSUMER", "OK")),
        ("2", "2", ("SERVER", "ERROR")),
        ("Internal", "Ok", ("INTERNAL", "OK")),
        (99, -1, ("", "UNSET")),
        ("SPAN_KIND_NEW", "x", ("", "UNSET")),
        ([], {}, ("", "UNSET")),
    ],
)
def test_enums(kind, status, expected):
    """Kinds and statuses as number, numeral or name; unknown ones as nothing."""
    span = {"traceId": TRACE, "kind": kind, "status": {"code": status}}
    (row,) = read_json({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert (row.kind, row.status) == expected


@pytest.mark.parametrize(
    ("trace", "span", "expected"),
    [
        ("0" * 32, "0" * 16, ("", "")),
        (None, None, ("", "")),
        ("", "", ("", "")),
        (SPAN, SPAN, (SPAN, SPAN)),
        ("no id", "no id", ("no id", "no id")),
        ("AAAA", "AAAA", ("aaaa", "aaaa")),
    ],
)
def test_odd_ids(trace, span, expected):
    """Zeros are no id; a 64-bit trace id stays one; what is no id stays text."""
    payload = [{"traceId": trace, "spanId": span}]
    (row,) = read_json({"resourceSpans": [{"scopeSpans": [{"spans": payload}]}]})
    assert (row.trace_id, row.span_id) == expected


@pytest.mark.parametrize("time", [None, "", "x", 1e400, [], "0"])
def test_odd_times(time):
    """A time that is none is 0."""
    span = {"traceId": TRACE, "startTimeUnixNano": time}
    (row,) = read_json({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert row.start_ns == 0


def test_plain_attributes():
    """Attributes that an export gives as a plain object are taken as they are."""
    span = {"traceId": TRACE, "attributes": {"a": 1}}
    (row,) = read_json({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert row.attributes == {"a": 1}


@pytest.mark.parametrize(
    "payload",
    [{}, [], 1, None, {"resourceLogs": []}, {"trace": 1}, {"spans": [{}]}, [[1]]],
)
def test_what_is_no_payload(payload):
    """Other JSON is no trace payload and has no spans."""
    assert not is_payload(payload)
    assert list(read_json(payload)) == []


def test_other_signals_are_told_apart():
    """Logs and metrics are OTLP without spans; other JSON is refused."""
    assert skim(b'{"resourceLogs": []}') is None
    with pytest.raises(ValueError, match="without resourceSpans"):
        skim(b'{"hello": 1}')
    with pytest.raises(ValueError, match="without resourceSpans"):
        skim(b"[1]")


def test_values_beyond_otlp():
    """What OTLP has no word for is written as text, in JSON and protobuf alike."""
    row = SpanRow(
        TRACE,
        SPAN,
        kind="ODD",
        status="ODD",
        attributes={"big": 2**63, "object": {1, 2}, "bytes": bytearray(b"x")},
    )
    expected = {
        "big": "9223372036854775808",
        "object": '{"$it":"set","v":[1,2]}',
        "bytes": b"x",
    }
    for payload in (write_json([row]).encode(), write_proto([row])):
        (found,) = decode(payload)
        assert found == SpanRow(TRACE, SPAN, kind="", attributes=expected)


def test_json_with_surrogates():
    """A lone surrogate survives; two that make a character are written as it."""
    row = SpanRow(TRACE, SPAN, name="\ud83d", attributes={"\ude00": "\ud83d\ude00"})
    (found,) = decode(write_json([row]).encode())
    assert (found.name, found.attributes) == ("\ud83d", {"\ude00": "\U0001f600"})


def test_protobuf_without_surrogates():
    """A lone surrogate is written as its escape, an odd id as its text, a time beyond as none."""
    row = SpanRow("x\ud800", "s", name="\udfff", start_ns=-1, attributes={"\ud800": ""})
    (found,) = read_proto(write_proto([row]))
    assert found == SpanRow(
        b"x\\ud800".hex(),
        b"s".hex(),
        name="\\udfff",
        attributes={"\\ud800": ""},
    )


@pytest.mark.parametrize("size", [0x7B, 0x5B])
def test_protobuf_that_begins_like_json(tmp_path, size):
    """A message whose first two bytes are a newline and a bracket is still protobuf."""
    row = SpanRow(TRACE, SPAN)
    missing = size - (len(write_proto([row])) - 2)
    row = SpanRow(TRACE, SPAN, name="n" * (missing - 2))
    payload = write_proto([row])
    assert payload[:2] == bytes([0x0A, size])
    path = tmp_path / "traces.pb"
    path.write_bytes(payload)
    with open_store(path) as store:
        assert [list(rows) for _, rows in store.traces()] == [list(decode(payload))]
    assert list(decode(payload)) == [row]


def test_unknown_enums_in_protobuf():
    """A kind or status of a newer protocol is read as nothing."""
    data = TracesData.FromString(write_proto([EXPECTED]))
    span: Any = data.resource_spans[0].scope_spans[0].spans[0]
    span.kind, span.status.code = 77, 78
    (row,) = read_proto(data.SerializeToString())
    assert (row.kind, row.status) == ("", "UNSET")


def test_groups_keep_the_order():
    """Rows stay in order, whatever resources and scopes alternate; alike values stay apart."""
    rows = [
        SpanRow(TRACE, f"{n:016x}", resource={"n": value}, scope=scope)
        for n, (value, scope) in enumerate(
            [(1, "a"), (1, "a"), (1, "b"), (True, "b"), (1.0, "a"), (1, "a")], 1
        )
    ]
    for payload in (write_json(rows).encode(), write_proto(rows)):
        assert repr(list(decode(payload))) == repr(rows)
    assert [
        [len(scope["spans"]) for scope in group["scopeSpans"]]
        for group in json.loads(write_json(rows))["resourceSpans"]
    ] == [[2, 1], [1], [1], [1]]


class TestRepair:
    """Text that a backend cut through a character does not cost the message."""

    def test_a_cut_character(self):
        """The value ends before the character that was cut; the rest is as it was."""
        text = "日本語" * 60
        row = SpanRow(
            TRACE,
            SPAN,
            start_ns=5,
            attributes={"cut": text + "xx", "d": 1.5, "n": -1, "b": b"\xff"},
            dropped_attributes=3,
        )
        whole = write_proto([row])
        # the same length, but the last character is not whole any more
        broken = whole.replace("語xx".encode(), b"xx\xe8\xaa\x9e"[:2] + b"a\xe8\xaa")
        assert broken != whole
        (found,) = decode(broken)
        assert found.attributes == {
            "cut": text[:-1] + "xxa",
            "d": 1.5,
            "n": -1,
            "b": b"\xff",
        }
        assert (found.start_ns, found.dropped_attributes) == (5, 3)

    def test_bad_bytes_inside(self):
        """Bytes that are no text inside of a value become replacement characters."""
        whole = write_proto([SpanRow(TRACE, SPAN, name="a good name")])
        (found,) = decode(whole.replace(b"good", b"\xff\xfeod"))
        assert found.name == "a \ufffd\ufffdod name"

    def test_unknown_fields_stay(self):
        """Fields of a newer protocol pass through, whatever their type."""
        unknown = b"\xfa\x07\x02hi" + b"\xf8\x07\x96\x01" + b"\xf9\x07" + b"8" * 8
        unknown += b"\xfd\x07" + b"4444"
        assert repair(unknown, TracesData.DESCRIPTOR) == unknown

    @pytest.mark.parametrize(
        "payload",
        [b"\n\x05abc", b"\x80", b"\xf9\x07123", b"\x0b", b"\n" + b"\xff" * 11],
    )
    def test_no_message(self, payload):
        """What is no message is refused."""
        with pytest.raises(ValueError, match="message"):
            repair(payload, TracesData.DESCRIPTOR)
        with pytest.raises(NotATrace, match="no OTLP protobuf"):
            list(decode(payload))
