"""The builders give items that the `openai` package accepts as they are."""

import pytest
from openai.types.responses import ResponseOutputItem
from pydantic import TypeAdapter

from itemtrace.testing import items


BUILT = [
    items.message("Hallo"),
    items.message(
        "Siehe da",
        annotations=[
            {
                "type": "url_citation",
                "start_index": 0,
                "end_index": 5,
                "url": "https://lamps.example",
                "title": "Lampen",
            }
        ],
    ),
    items.refusal("No."),
    items.function_call("find_order", "call_1", order="A-1042", copies=2),
    items.custom_tool_call("shout", "call_1", "ahoy"),
    items.reasoning("rs_1"),
    items.reasoning("rs_1", "gAAAA", "first", "second"),
    items.web_search_call("ws_1", "tides"),
    items.file_search_call("fs_1", "tides", "harbour"),
    items.code_interpreter_call("ci_1", "1 + 1", "2"),
    items.image_generation_call("ig_1", "aGVsbG8="),
    items.mcp_list_tools("mcpl_1", "harbour", "tide", "open_lock"),
    items.mcp_call("mcp_1", "harbour", "tide", "high", day="today"),
    items.mcp_approval_request("mcpr_1", "harbour", "open_lock", gate=2),
    items.shell_call("call_1", "ls", "pwd"),
    items.apply_patch_call("call_1", "a.txt", "+b"),
    items.compaction("cmp_1", "gAAAA"),
]


@pytest.mark.parametrize("item", BUILT, ids=lambda item: item["type"])
def test_items_are_valid(item):
    """Each item validates against the union of output items and keeps every field."""
    model = TypeAdapter(ResponseOutputItem).validate_python(item)
    assert model.model_dump(exclude_unset=True) == item


def test_arguments_are_canonical_json():
    """Arguments are written as the model would: compact, in order, unicode as it is."""
    call = items.function_call("f", "call_7", name="Jürgen", many=[1, 2.0, None])
    assert (call["id"], call["call_id"], call["arguments"]) == (
        "fc_7",
        "call_7",
        '{"name":"Jürgen","many":[1,2.0,null]}',
    )


def test_arguments_may_have_any_name():
    """An argument that is called like a parameter of the builder is an argument."""
    call = items.function_call("f", "call_1", name=1, call_id=2)
    assert call["arguments"] == '{"name":1,"call_id":2}'
