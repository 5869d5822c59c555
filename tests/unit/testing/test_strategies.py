"""The strategies, and the types of the installed `openai` package behind them."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai._models import construct_type
from openai.types.responses import ResponseOutputItem

from itemtrace.codec import canonical
from itemtrace.testing import strategies


OUTPUT_TYPES = {
    "AdditionalTools", "ImageGenerationCall", "LocalShellCall", "LocalShellCallOutput",
    "McpApprovalRequest", "McpApprovalResponse", "McpCall", "McpListTools", "Program",
    "ProgramOutput", "ResponseApplyPatchToolCall", "ResponseApplyPatchToolCallOutput",
    "ResponseCodeInterpreterToolCall", "ResponseCompactionItem", "ResponseComputerToolCall",
    "ResponseComputerToolCallOutputItem", "ResponseCustomToolCall",
    "ResponseCustomToolCallOutputItem", "ResponseFileSearchToolCall",
    "ResponseFunctionShellToolCall", "ResponseFunctionShellToolCallOutput",
    "ResponseFunctionToolCall", "ResponseFunctionToolCallOutputItem",
    "ResponseFunctionWebSearch", "ResponseOutputMessage", "ResponseReasoningItem",
    "ResponseToolSearchCall", "ResponseToolSearchOutputItem",
}  # fmt: skip
INPUT_TYPES = {
    "AdditionalTools", "ApplyPatchCall", "ApplyPatchCallOutput", "CompactionTrigger",
    "ComputerCallOutput", "EasyInputMessageParam", "FunctionCallOutput",
    "ImageGenerationCall", "ItemReference", "LocalShellCall", "LocalShellCallOutput",
    "McpApprovalRequest", "McpApprovalResponse", "McpCall", "McpListTools", "Message",
    "Program", "ProgramOutput", "ResponseCodeInterpreterToolCallParam",
    "ResponseCompactionItemParamParam", "ResponseComputerToolCallParam",
    "ResponseConfigurationUpdateItemParamParam", "ResponseCustomToolCallOutputParam",
    "ResponseCustomToolCallParam", "ResponseFileSearchToolCallParam",
    "ResponseFunctionToolCallParam", "ResponseFunctionWebSearchParam",
    "ResponseOutputMessageParam", "ResponseReasoningItemParam",
    "ResponseToolSearchOutputItemParamParam", "ShellCall", "ShellCallOutput",
    "ToolSearchCall",
}  # fmt: skip

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
few = settings(max_examples=10, deadline=None, suppress_health_check=SLOW)


def test_new_item_types_are_noticed():
    """A type that a release of `openai` adds fails here: see what it means, then add its name."""
    assert set(strategies.OUTPUT_TYPES) - OUTPUT_TYPES == set()
    assert set(strategies.INPUT_TYPES) - INPUT_TYPES == set()


@pytest.mark.parametrize("name", sorted(strategies.OUTPUT_TYPES))
@few
@given(data=st.data())
def test_output_items_come_back(name, data):
    """Each output item type comes back from canonical JSON, and is what the client builds."""
    item = data.draw(strategies.output_items(name))
    assert canonical.loads(canonical.dumps(item)) == item
    built: Any = construct_type(type_=ResponseOutputItem, value=item)
    if "async" not in canonical.dumps(item):  # the client renames this key to `async_`
        assert built.model_dump(exclude_unset=True, warnings=False) == item


@pytest.mark.parametrize("name", sorted(strategies.INPUT_TYPES))
@few
@given(data=st.data())
def test_input_items_come_back(name, data):
    """Each input item type comes back from canonical JSON in both writings."""
    item = data.draw(strategies.input_items(name))
    assert canonical.loads(canonical.dumps(item)) == item
    assert canonical.loads(canonical.dumps(item, ascii=True)) == item


@given(
    strategies.output_items() | strategies.input_items() | strategies.unknown_items()
)
@few
def test_items_are_objects(item):
    """Whatever is drawn is a JSON object; its key order survives."""
    assert list(canonical.loads(canonical.dumps(item))) == list(item)


@given(strategies.hard_values())
@settings(max_examples=200, deadline=None)
def test_hard_values_come_back(value):
    """What JSON cannot say comes back as it was, its types included."""
    assert repr(canonical.loads(canonical.dumps(value))) == repr(value)


@given(strategies.json_values())
@settings(max_examples=100, deadline=None)
def test_json_values_need_no_escape(value):
    """A JSON value is the same in canonical JSON, whatever its texts hold."""
    assert repr(canonical.loads(canonical.dumps(value))) == repr(value)


@given(strategies.span_rows())
@few
def test_span_rows_have_ids(row):
    """Span rows have ids that OpenTelemetry calls valid."""
    assert (len(row.trace_id), len(row.span_id)) == (32, 16)
    assert int(row.trace_id, 16) * int(row.span_id, 16) > 0


def test_unknown_kind_of_type_is_named():
    """A type that no strategy covers is an error that says where to add it."""
    with pytest.raises(TypeError, match=r"no strategy for .*complex"):
        strategies.from_annotation(complex)


def test_members_with_one_name():
    """Two classes of one name are both found."""
    first, second = type("Call", (), {}), type("Call", (), {})
    assert strategies.members(first | second) == {"Call": first, "Call_": second}
