"""Contents of items as text."""

import pytest

from itemtrace.cli.views.content import text_of
from itemtrace.codec.canonical import TAG


PNG = "data:image/png;base64," + "QUJD" * 100


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ({"a": 1}, '{"a": 1}'),
        ([], "[]"),
        (None, "null"),
        ([{"type": "input_text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ({"type": "output_text", "text": 5}, "5"),
        ({"type": "refusal", "refusal": "no"}, "(refused) no"),
        ({"type": "input_image", "image_url": PNG}, "[image image/png, 300 B]"),
        ({"type": "input_image", "file_id": "file_1"}, "[image file_1]"),
        ({"type": "input_image"}, "[image without content]"),
        ({"type": "input_image", "image_url": {"url": "u"}}, '[image {"url": "u"}]'),
        ({"type": "input_image", "image_url": {TAG: "withheld", "n": 9}}, "[image <withheld, 9 B>]"),
        ({"type": "input_file", "filename": "a.pdf", "file_data": "QUJD" * 100}, "[file a.pdf, 300 B]"),
        ({"type": "input_file", "file_url": "https://x.example/a"}, "[file https://x.example/a]"),
        ({"type": "input_audio", "input_audio": {"data": "ÄÖ" * 200}}, "[audio 400 B]"),
        ({"type": "output_audio", "data": "QUJD", "transcript": "hi"}, "[audio QUJD] hi"),
        ([{TAG: "withheld", "n": 9}], "<withheld, 9 B>"),
        ([{"type": "input_text", "text": "a"}, 5], '[{"type": "input_text", "text": "a"}, 5]'),
    ],
)  # fmt: skip
def test_contents(value, text):
    """Every kind of content reads as text; what is binary as type and size."""
    assert text_of(value) == text


def test_citations_follow_the_text():
    """What a message cites stands under it."""
    notes = [
        {"type": "url_citation", "title": "T", "url": "https://x.example"},
        {"type": "file_citation", "filename": "a.txt"},
        {"type": "odd"},
        7,
    ]
    part = {"type": "output_text", "text": "says", "annotations": notes}
    assert text_of([part]) == "says\n\n[T, https://x.example]\n[a.txt]"
