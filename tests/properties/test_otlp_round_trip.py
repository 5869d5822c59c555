"""OTLP payloads and store rows lose nothing, for any legal row."""

import json
import re
from dataclasses import replace

from google.protobuf.json_format import MessageToJson
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from itemtrace.codec.spans import SpanRow
from itemtrace.errors import NotATrace
from itemtrace.stores.base import plain_row
from itemtrace.stores.otlp import decode, read_json, read_proto, write_json, write_proto
from itemtrace.stores.sqlite import rows as texts
from itemtrace.testing.strategies import attribute_values, hex_ids, span_rows
from itemtrace.testing.strategies import texts as any_text


PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

nested = st.recursive(
    attribute_values() | st.none() | st.binary(max_size=9) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(any_text(), inner, max_size=3)
    ),
    max_leaves=4,
)


@st.composite
def full_rows(draw):
    """Rows with values of every kind, events and links."""
    attributes = st.dictionaries(any_text(), nested, max_size=3)
    event = st.builds(
        lambda name, at, values: {"name": name, "time_ns": at, "attributes": values},
        any_text(),
        st.integers(0, 2**63 - 1),
        attributes,
    )
    link = st.builds(
        lambda trace, span, values: {
            "trace_id": trace,
            "span_id": span,
            "attributes": values,
        },
        hex_ids(32),
        hex_ids(16),
        attributes,
    )
    return replace(
        draw(span_rows()),
        attributes=draw(attributes),
        events=tuple(draw(st.lists(event, max_size=2))),
        links=tuple(draw(st.lists(link, max_size=2))),
        scope_version=draw(any_text()),
        dropped_attributes=draw(st.integers(0, 2**32 - 1)),
    )


batches = st.lists(full_rows(), max_size=2)


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


@given(full_rows())
def test_local_store_text_gives_back_the_row(row):
    """The local store's text of a row is the row, surrogate pairs included."""
    row = plain_row(row)
    text, origin = texts.dump(row), texts.dump_origin(row)
    text.encode()
    assert repr(texts.load(row.trace_id, text, texts.load_value(origin))) == repr(row)
