# pyright: basic
# A codec of JSON values: Any in, Any out
"""Raw items as the SDK sends them back to a model.

One rule, used when a record is written (is this input entry the item that was recorded?) and when
it is read. It is the SDK's own: `agents/items.py`, `_output_item_to_input_item` and
`ToolCallOutputItem.to_input_item`; `agents/run_internal/items.py`, `run_item_to_input_item`, which
leaves a null status out (openai-agents 0.20 to 0.24).
"""

from __future__ import annotations

from typing import Any, Final


OUTPUT_ONLY: Final = "created_by"
"""Set by the server on output items and refused by it on input items."""

_SHELL_BOOKKEEPING: Final = ("status", "shell_output", "provider_data")


def as_input_item(raw: dict[str, Any], *, local_output: bool = False) -> dict[str, Any]:
    """Returns the raw item as an input item; the same object where nothing changes.

    Args:
        raw: The raw item, unset fields left out.
        local_output: The item is a `tool_call_output_item` whose raw item is a mapping, made by
            the SDK and not by the model.
    """
    shell = raw.get("type") == "shell_call_output"
    no_status = raw.get("status", "") is None
    if OUTPUT_ONLY not in raw and not shell and not no_status:
        return raw
    item = {key: value for key, value in raw.items() if key != OUTPUT_ONLY}
    if no_status:
        del item["status"]
    if not shell:
        return item
    if local_output:
        for key in _SHELL_BOOKKEEPING:
            item.pop(key, None)
    chunks = item.get("output")
    if isinstance(chunks, list):
        item["output"] = [_without_output_only(chunk) for chunk in chunks]
    return item


def _without_output_only(chunk: Any) -> Any:
    if not isinstance(chunk, dict):
        return chunk
    return {key: value for key, value in chunk.items() if key != OUTPUT_ONLY}
