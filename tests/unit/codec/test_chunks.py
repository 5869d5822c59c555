"""Records, their chunks, and what is refused."""

from base64 import urlsafe_b64encode
from hashlib import sha256

import pytest

from itemtrace.codec import chunks, record
from itemtrace.errors import (
    ChunkMissing,
    CodecError,
    DigestMismatch,
    UnsupportedVersion,
)
from itemtrace.limits import PROFILES, Profile


RUN = "0123456789abcdef"
BODY = '{"raw":"' + "日本語" * 200 + '"}'
MADE = record.make("item", RUN, 7, BODY)
VALUES = chunks.split(MADE, Profile("small", value_bytes=200))


def test_a_short_record_is_one_value():
    """The header says all, the text follows, the digest covers both."""
    body = '{"records":2}'
    made = record.make("seal", RUN, 2, body)
    hashed = sha256(f"it1;seal;{RUN};2;13;{body}".encode()).digest()
    digest = urlsafe_b64encode(hashed).rstrip(b"=").decode()
    assert chunks.split(made, PROFILES["portable"]) == [
        f"it1;seal;{RUN};2;13;1/1;{digest};{body}"
    ]


def test_cut_at_characters():
    """No value is longer than asked, none ends inside a character, together they are the body."""
    assert all(len(value.encode()) <= 200 for value in VALUES)
    parsed = [record.parse(value) for value in VALUES]
    assert "".join(chunk.text for chunk in parsed) == BODY
    assert {(c.kind, c.run, c.seq, c.size, c.of) for c in parsed} == {
        ("item", RUN, 7, len(BODY.encode()), len(VALUES))
    }


def test_ascii_is_cut_by_length():
    """A body of one byte a character is cut without looking at its bytes."""
    made = record.make("blob", RUN, 1, '"' + "a" * 1_000 + '"')
    values = chunks.split(made, Profile("small", value_bytes=200))
    assert chunks.join(map(record.parse, values)) == made


def test_doubles_are_one():
    """Equal copies of chunks, in any order, join to the one record."""
    assert chunks.join(map(record.parse, [*VALUES[::-1], *VALUES])) == MADE
    assert MADE.value == {"raw": "日本語" * 200}


def test_a_missing_chunk_is_named():
    """The message says how many are there and which is the first that is not."""
    with pytest.raises(
        ChunkMissing,
        match=rf"record 7 has {len(VALUES) - 1} of {len(VALUES)} chunks; 2 is",
    ):
        chunks.join(map(record.parse, [VALUES[0], *VALUES[2:]]))


def test_nothing_is_no_record():
    """Without any chunk there is nothing to join."""
    with pytest.raises(ChunkMissing, match="no chunk"):
        chunks.join([])


def test_two_copies_that_differ():
    """Two texts for one chunk are a conflict; none is picked."""
    other = VALUES[0][:-1] + "x"
    with pytest.raises(CodecError, match="two different copies of chunk 1"):
        chunks.join(map(record.parse, [*VALUES, other]))


@pytest.mark.parametrize(
    "damage",
    [
        lambda value: value.replace("日", "月", 1),
        lambda value: value.replace(";item;", ";call;"),
        lambda value: value.replace(f";{RUN};", ";0023456789abcdef;"),
    ],
)
def test_what_was_altered_is_found(damage):
    """A changed character, kind or run makes another digest."""
    with pytest.raises(DigestMismatch, match="record 7 was altered"):
        chunks.join(record.parse(damage(value)) for value in VALUES)


def test_no_room():
    """Values too short for the header are refused with what to do."""
    with pytest.raises(
        CodecError, match="raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT to 256"
    ):
        chunks.split(MADE, Profile("tiny", value_bytes=90))


@pytest.mark.parametrize(
    "value", ["", "item", "iterator", "it", "itx;", "Hello it1;item"]
)
def test_foreign_text_is_no_chunk(value):
    """What does not start like a chunk is none of ours."""
    assert record.parse(value) is None


def test_a_newer_format_is_refused():
    """A later version is named, with the one that is known."""
    with pytest.raises(
        UnsupportedVersion, match=r"format it2; this itemtrace reads it1"
    ):
        record.parse("it2;item;what;ever")


@pytest.mark.parametrize(
    "value", ["it1;", "it1;item;short;1;1;1/1;digest;", VALUES[0][:60]]
)
def test_a_damaged_header_is_refused(value):
    """What starts like a chunk and is none is damage, not text."""
    with pytest.raises(CodecError, match="a chunk with a damaged header"):
        record.parse(value)
