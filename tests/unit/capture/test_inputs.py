"""The input of calls, each entry once: what is new, and ranges over what is known."""

from hypothesis import given
from hypothesis import strategies as st

from itemtrace.capture.inputs import InputTable, item_key


def message(text, role="user"):
    """Returns a message."""
    return {"role": role, "content": text}


def test_a_growing_history():
    """Only what is new is given; one range covers all of it."""
    table = InputTable()
    first = [message("a")]
    assert table.add(first, dict) == ([message("a")], [[0, 1]])
    assert table.add([*first, message("b"), message("c")], dict) == (
        [message("b"), message("c")],
        [[0, 3]],
    )
    assert table.add([*first, message("b"), message("c")], dict) == ([], [[0, 3]])
    assert len(table) == 3


def test_a_history_that_was_rewritten():
    """Known entries are found again wherever they stand; equal ones are told apart by number."""
    table = InputTable()
    table.add([message("a"), message("b"), message("a"), message("c")], dict)
    rewritten = [message("c"), message("a"), message("x"), message("a"), message("a")]
    new, ranges = table.add(rewritten, dict)
    assert new == [message("x"), message("a")]
    assert ranges == [[3, 1], [0, 1], [4, 1], [2, 1], [5, 1]]
    assert table.add([*rewritten, message("z")], dict)[1] == [*ranges[:-1], [5, 2]]


ITEMS = st.one_of(
    st.builds(message, st.sampled_from("abc"), st.sampled_from(["user", "assistant"])),
    st.builds(
        lambda n: {"type": "function_call", "call_id": f"c{n}"}, st.integers(0, 2)
    ),
    st.builds(
        lambda n: {"type": "reasoning", "id": f"r{n}", "x": n}, st.integers(0, 2)
    ),
    st.just({"role": "user", "content": [{"type": "input_text", "text": "t"}]}),
    st.just({"role": "user", "content": 3}),
    st.just("no mapping"),
)


@given(st.lists(st.lists(ITEMS, max_size=6), max_size=6))
def test_every_list_can_be_made_again(lists):
    """The table and the ranges of a call give exactly the list that it saw."""
    table = InputTable()
    entries = []
    for items in lists:
        new, ranges = table.add(items, lambda item: item)
        entries += new
        assert [
            entries[n] for first, count in ranges for n in range(first, first + count)
        ] == items


def test_keys_bring_equal_items_together():
    """By id, by text, by length of content, by type."""
    assert item_key({"type": "t", "call_id": "c"}) == ("t", "c")
    assert item_key({"type": "t", "id": "i"}) == ("t", "i")
    assert item_key(message("a")) == ("user", "a")
    assert item_key({"role": "user", "content": [1, 2]}) == ("user", 2)
    assert item_key("x") is str
