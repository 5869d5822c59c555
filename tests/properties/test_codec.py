"""Decode undoes encode: every value, every item, at every limit."""

from hypothesis import given
from hypothesis import strategies as st

from itemtrace.codec import canonical, chunks, record
from itemtrace.codec.items import as_input_item
from itemtrace.limits import PROFILES, Profile, fit
from itemtrace.testing.strategies import (
    hard_values,
    input_items,
    json_values,
    output_items,
    texts,
    unknown_items,
)


ITEMS = st.one_of(output_items(), input_items(), unknown_items())

SIZES = st.one_of(
    st.sampled_from(sorted(PROFILES.values(), key=lambda profile: profile.name)),
    st.builds(
        Profile, st.just("odd"), value_bytes=st.integers(140, 400), ascii=st.booleans()
    ),
)
"""Named profiles, and values so small that a text is cut at every place."""


def joined(made, profile, order=None):
    """Cuts a record, parses what came out in some order, and joins it."""
    values = chunks.split(made, profile)
    assert all(len(value.encode()) <= profile.value_bytes for value in values)
    if order is not None:
        order.shuffle(values)
    return chunks.join(record.parse(value) for value in values)


@given(json_values(max_leaves=30), st.booleans())
def test_json_comes_back_as_it_went_in(value, ascii_only):
    """Key order, number types, nulls and all text survive; ASCII means ASCII."""
    text = canonical.dumps(value, ascii=ascii_only)
    assert not ascii_only or text.isascii()
    assert repr(canonical.loads(text)) == repr(value)


@given(hard_values(max_leaves=30), st.booleans())
def test_what_json_cannot_say_comes_back(value, ascii_only):
    """NaN, bytes, dates, tuples and odd keys survive with their types."""
    text = canonical.dumps(value, ascii=ascii_only)
    assert repr(canonical.loads(text)) == repr(value)
    text.encode("utf-8")


@given(hard_values())
def test_text_is_canonical(value):
    """What was read back is written the same again."""
    text = canonical.dumps(value)
    assert canonical.dumps(canonical.loads(text)) == text


@given(texts())
def test_any_text_is_safe_everywhere(text):
    """No control character, lone surrogate or line separator is left outside an escape."""
    written = canonical.dumps(text)
    unsafe = {*map(chr, range(32)), "\x7f", "\x85", "\u2028", "\u2029", "\ufeff"}
    assert not unsafe & set(written)
    assert canonical.loads(written) == text


@given(ITEMS, SIZES, st.randoms(use_true_random=False))
def test_decode_undoes_encode(item, profile, order):
    """Every item comes back whole at every limit, whatever the order of its chunks."""
    body = canonical.dumps({"raw": item}, ascii=profile.ascii)
    made = record.make("item", "0123456789abcdef", 12, body)
    found = joined(made, profile, order)
    assert found == made
    assert repr(canonical.decode(found.value)) == repr({"raw": item})


@given(texts().filter(bool), st.integers(130, 260), st.randoms(use_true_random=False))
def test_a_changed_chunk_is_found(text, size, order):
    """One character changed in a body is an altered record, never another body."""
    made = record.make("blob", "0123456789abcdef", 3, canonical.dumps({"v": text}))
    values = chunks.split(made, Profile("odd", value_bytes=size))
    place = order.randrange(len(values))
    damaged = record.parse(values[place])
    changed = ("x" if damaged.text[:1] != "x" else "y") + damaged.text[1:]
    pieces = [record.parse(value) for value in values]
    pieces[place] = record.Chunk(*[*_fields(damaged)[:-1], changed])
    try:
        found = chunks.join(pieces)
    except chunks.DigestMismatch:
        found = None
    assert found is None


def _fields(chunk):
    return [getattr(chunk, name) for name in record.Chunk.__dataclass_fields__]


@given(ITEMS)
def test_an_input_item_is_made_once(item):
    """The SDK's rule for sent items changes nothing in what was sent already."""
    for local in (False, True):
        sent = as_input_item(item, local_output=local)
        assert as_input_item(sent, local_output=local) == sent
        assert "created_by" not in sent


@given(st.one_of(st.none(), st.integers(1, 5_000)))
def test_a_live_limit_is_kept(length):
    """A profile never asks for longer values than the provider lets through."""
    for profile in PROFILES.values():
        fitted = fit(profile, length)
        assert fitted.value_bytes <= profile.value_bytes
        assert length is None or fitted.value_bytes <= length
