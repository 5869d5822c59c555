"""Readable copies of any item are legal by the conventions and within their limit."""

import pytest


pytest.importorskip("hypothesis")

from hypothesis import given
from hypothesis import strategies as st

from itemtrace.capture.messages import input_json, output_json
from itemtrace.testing.message_schema import problems
from itemtrace.testing.strategies import input_items, output_items, unknown_items


LIMITS = st.sampled_from([200, 1_000, 16_000])


@given(st.lists(input_items() | unknown_items(), max_size=6), LIMITS)
def test_input_messages_are_legal(items, limit):
    """Any input gives messages of the conventions' schema, never larger than asked."""
    text, _ = input_json(items, limit)
    if text is not None:
        assert list(problems("gen_ai.input.messages", text)) == []
        assert len(text.encode()) <= limit


@given(st.lists(output_items() | unknown_items(), max_size=6), LIMITS)
def test_output_messages_are_legal(items, limit):
    """Any response gives one message of the conventions' schema, never larger than asked."""
    text, _ = output_json(items, "stop", limit)
    assert list(problems("gen_ai.output.messages", text)) == []
    assert len(text.encode()) <= limit
