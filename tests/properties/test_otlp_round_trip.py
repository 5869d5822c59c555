"""OTLP payloads and store rows lose nothing, for any legal row."""

import json
import re

from google.protobuf.json_format import MessageToJson
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from itemtrace.codec.spans import SpanRow
from itemtrace.errors import NotATrace
from itemtrace.stores.base import plain_row
from itemtrace.stores.otlp import decode, read_json, read_proto, write_json, write_proto
from itemtrace.stores.otlp.values import KINDS, STATUSES
from itemtrace.stores.sqlite import rows as texts
from itemtrace.testing.strategies import hex_ids
from itemtrace.testing.strategies import texts as any_text


PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

leaves = st.one_of(
    any_text(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.binary(max_size=9),
    st.none(),
)
values = st.one_of(
    leaves,
    st.lists(leaves, max_size=2),
    st.dictionaries(any_text(), leaves | st.lists(leaves, max_size=1), max_size=2),
)
attributes = st.dictionaries(any_text(), values, max_size=2)
times = st.integers(0, 2**63 - 1)
events = st.builds(
    lambda name, at, found: {"name": name, "time_ns": at, "attributes": found},
    any_text(),
    times,
    attributes,
)
links = st.builds(
    lambda trace, span, found: {
        "trace_id": trace,
        "span_id": span,
        "attributes": found,
    },
    hex_ids(32),
    hex_ids(16),
    attributes,
)
rows_of_any_kind = st.builds(
    SpanRow,
    trace_id=hex_ids(32),
    span_id=hex_ids(16),
    parent_id=st.just("") | hex_ids(16),
    name=any_text(),
    kind=st.sampled_from(KINDS),
    start_ns=times,
    end_ns=times,
    attributes=attributes,
    status=st.sampled_from(STATUSES),
    status_message=any_text(),
    events=st.lists(events, max_size=1).map(tuple),
    links=st.lists(links, max_size=1).map(tuple),
    resource=st.sampled_from([{}, {"service.name": "desk"}, {"n": 1}, {"n": 1.0}]),
    scope=st.sampled_from(["", "itemtrace"]),
    scope_version=st.sampled_from(["", "1"]),
    dropped_attributes=st.integers(0, 2**32 - 1),
)
batches = st.lists(rows_of_any_kind, max_size=2)


def respelled(value, spell):
    """The value with all its text respelled."""
    if isinstance(value, str):
        return spell(value)
    if isinstance(value, dict):
        return {spell(key): respelled(child, spell) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(respelled(child, spell) for child in value)
    return value


def row_with(row, spell):
    """The row as a store gives it, all its text respelled."""
    row = plain_row(row)
    fields = {name: getattr(row, name) for name in SpanRow.__slots__}
    return SpanRow(**respelled(fields, spell))


def joined(text):
    """What JSON can tell of a text: a surrogate pair is one character."""
    return PAIR.sub(
        lambda m: m.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le"),
        text,
    )


def whole(text):
    """A text without surrogates: what protobuf takes."""
    return re.sub("[\ud800-\udfff]", "?", text)


@given(batches)
def test_json_gives_back_what_was_written(rows):
    """Writing and reading JSON is the identity, up to surrogate pairs."""
    expected = [row_with(row, joined) for row in rows]
    text = write_json(rows)
    assert "\n" not in text
    assert repr(list(read_json(json.loads(text)))) == repr(expected)


@given(batches)
def test_protobuf_gives_back_what_was_written(rows):
    """Writing and reading protobuf is the identity for text that UTF-8 can hold."""
    expected = [row_with(row, whole) for row in rows]
    assert repr(list(read_proto(write_proto(expected)))) == repr(expected)


@given(batches)
def test_json_and_protobuf_read_alike(rows):
    """The two encodings of one payload give the same rows."""
    legal = [row_with(row, whole) for row in rows]
    as_json, as_proto = write_json(legal).encode(), write_proto(legal)
    assert repr(list(decode(as_json))) == repr(list(decode(as_proto)))


@given(batches)
def test_official_json_reads_as_ours(rows):
    """What the protobuf library writes as JSON (names of enums, base64 ids) reads the same."""
    legal = [row_with(row, whole) for row in rows]
    data = TracesData.FromString(write_proto(legal))
    for keep_names in (False, True):
        text = MessageToJson(data, preserving_proto_field_name=keep_names)
        assert repr(list(read_json(json.loads(text)))) == repr(legal)


@given(batches, st.integers(1, 40))
def test_any_bytes_are_rows_or_refused(rows, cut):
    """A cut protobuf message gives rows or a refusal, never another error."""
    payload = write_proto([row_with(row, whole) for row in rows])[:-cut]
    try:
        found = list(read_proto(payload))
    except NotATrace:
        return
    assert all(isinstance(row, SpanRow) for row in found)


@given(rows_of_any_kind)
def test_local_store_text_gives_back_the_row(row):
    """The local store's text of a row is the row, surrogate pairs included."""
    row = plain_row(row)
    text, origin = texts.dump(row), texts.dump_origin(row)
    text.encode()
    assert repr(texts.load(row.trace_id, text, texts.load_value(origin))) == repr(row)
