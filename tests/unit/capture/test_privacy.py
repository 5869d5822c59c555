"""What may leave the process: marks, redactions, and what neither may touch."""

import pytest

from itemtrace.capture.guard import HEALTH
from itemtrace.capture.privacy import Privacy, withheld
from itemtrace.codec import canonical


CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c",
    "name": "f",
    "arguments": '{"a":"secret"}',
}


@pytest.fixture(autouse=True)
def reset():
    """Starts and ends healthy."""
    HEALTH.reset()
    yield
    HEALTH.reset()


def mask(item):
    """Takes the secret out of every text of an item."""
    return canonical.loads(canonical.dumps(item).replace("secret", "***"))


def test_withheld_has_size_and_a_keyed_digest():
    """Equal content has equal marks under one key, other ones under another."""
    mark = withheld("äb", b"key")
    assert mark == {"$it": "withheld", "n": 5, "d": mark["d"]}
    assert withheld("äb", b"key") == mark != withheld("äb", b"other")
    assert len(mark["d"]) == 43


def test_all_is_kept_by_default():
    """The very same objects."""
    plain = Privacy(content=True)
    assert plain.whole
    assert plain.item(CALL) == (CALL, False)
    assert plain.item(CALL)[0] is CALL
    assert (plain.text("a"), plain.value(3)) == ("a", 3)


def test_without_content_structure_stays():
    """Ids, types and names; everything else is a mark."""
    off = Privacy(content=False)
    public, redacted = off.item(
        {**CALL, "status": "completed", "role": "x" * 300, "caller": {"type": "direct"}}
    )
    assert not redacted
    assert {
        key for key, value in public.items() if isinstance(value, canonical.Escaped)
    } == {"arguments", "role"}
    assert off.item("text")[0]["$it"] == "withheld"
    assert off.text("text")["$it"] == "withheld"
    assert off.value(None) is None


def test_redactors_apply_in_order_and_ids_come_back():
    """What they change is marked; ids and encrypted content are put back."""

    def rename(item):
        return {**item, "id": "other", "call_id": "other", "name": "g"}

    both = Privacy(content=True, redactors=[mask, rename, lambda item: None])
    public, redacted = both.item(CALL)
    assert redacted
    assert public == {**CALL, "name": "g", "arguments": '{"a":"***"}'}
    assert CALL["arguments"] == '{"a":"secret"}'


def test_what_a_redactor_leaves_is_the_same_object():
    """Unchanged content is not copied into the record."""
    redacting = Privacy(content=True, redactors=[mask])
    value = {"a": [1, "b"]}
    assert redacting.value(value) is value
    assert redacting.item({"type": "message"}) == ({"type": "message"}, False)


def test_values_that_are_no_items():
    """Texts anywhere in them are shown to the redactors; types survive."""
    redacting = Privacy(content=True, redactors=[mask])
    found = redacting.value({"a": ("secret", 1), "type": "secret"})
    assert canonical.loads(canonical.dumps(found)) == {
        "a": ("***", 1),
        "type": "secret",
    }
    assert canonical.loads(
        canonical.dumps(redacting.value(["secret", {"b": b"x"}]))
    ) == ["***", {"b": b"x"}]
    assert redacting.value("a secret") == "a ***"
    assert redacting.value(["secret", 1]) == ["***", 1]


@pytest.mark.parametrize("redactor", [lambda item: 1 / 0, lambda item: "gone"])
def test_a_redactor_that_fails_withholds(redactor):
    """What was not looked at is not recorded, and the item says that it was changed."""
    public, redacted = Privacy(content=True, redactors=[redactor]).item(CALL)
    assert redacted
    assert public["call_id"] == "c"
    assert public["arguments"]["$it"] == "withheld"
    assert HEALTH.counts() == {"a redaction": 1}
