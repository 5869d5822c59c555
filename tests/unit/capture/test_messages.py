"""Readable copies: one golden part list per item type, and what happens at the limit."""

import json

import pytest
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseFunctionWebSearch,
    ResponseReasoningItem,
)

from itemtrace.capture import messages
from itemtrace.capture.messages import (
    MARK,
    PARTS,
    after_answer,
    definitions_json,
    fit_json,
    fit_text,
    fit_value,
    input_json,
    input_messages,
    is_client_call,
    item_type,
    new_items,
    output_json,
    output_message,
    register,
    system_json,
)
from itemtrace.capture.messages.content import content_parts
from itemtrace.capture.messages.fields import field, plain, to_json
from itemtrace.capture.messages.fit import fit_messages, fit_parts
from itemtrace.capture.messages.parts import item_parts


ITEMS = {
    "message": (
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "Hi", "annotations": []},
                {"type": "refusal", "refusal": "No."},
                {"type": "unheard_of", "x": 1},
                {"type": "output_text", "text": ""},
            ],
        },
        [{"type": "text", "content": "Hi"}, {"type": "text", "content": "No."}],
    ),
    "reasoning": (
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "short"}],
            "content": [{"type": "reasoning_text", "text": "long"}],
        },
        [
            {"type": "reasoning", "content": "short"},
            {"type": "reasoning", "content": "long"},
        ],
    ),
    "reasoning without text": (
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        [],
    ),
    "function_call": (
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "pay",
            "arguments": '{"a":1}',
        },
        [{"type": "tool_call", "id": "c1", "name": "pay", "arguments": {"a": 1}}],
    ),
    "function_call with broken arguments": (
        {"type": "function_call", "call_id": "c1", "name": "pay", "arguments": "{"},
        [{"type": "tool_call", "id": "c1", "name": "pay", "arguments": "{"}],
    ),
    "function_call without arguments": (
        {"type": "function_call", "call_id": "c1", "name": "pay", "arguments": ""},
        [{"type": "tool_call", "id": "c1", "name": "pay", "arguments": ""}],
    ),
    "custom_tool_call": (
        {"type": "custom_tool_call", "call_id": "c1", "name": "sh", "input": "ls"},
        [{"type": "tool_call", "id": "c1", "name": "sh", "arguments": "ls"}],
    ),
    "computer_call": (
        {
            "type": "computer_call",
            "call_id": "c1",
            "action": {"type": "click", "x": 1, "y": 2, "button": "left"},
        },
        [
            {
                "type": "tool_call",
                "id": "c1",
                "name": "computer",
                "arguments": {"type": "click", "x": 1, "y": 2, "button": "left"},
            }
        ],
    ),
    "computer_call with actions": (
        {"type": "computer_call", "call_id": "c1", "actions": [{"type": "wait"}]},
        [
            {
                "type": "tool_call",
                "id": "c1",
                "name": "computer",
                "arguments": [{"type": "wait"}],
            }
        ],
    ),
    "local_shell_call": (
        {
            "type": "local_shell_call",
            "id": "l1",
            "call_id": "c1",
            "action": {"type": "exec", "command": ["ls"]},
        },
        [
            {
                "type": "tool_call",
                "id": "c1",
                "name": "local_shell",
                "arguments": {"type": "exec", "command": ["ls"]},
            }
        ],
    ),
    "shell_call": (
        {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}},
        [
            {
                "type": "tool_call",
                "id": "c1",
                "name": "shell",
                "arguments": {"commands": ["ls"]},
            }
        ],
    ),
    "shell_call in a container": (
        {
            "type": "shell_call",
            "call_id": "c1",
            "action": {"commands": ["ls"]},
            "environment": {"type": "container_reference", "container_id": "k"},
        },
        [
            {
                "type": "server_tool_call",
                "name": "shell",
                "id": "c1",
                "server_tool_call": {"type": "shell", "action": {"commands": ["ls"]}},
            }
        ],
    ),
    "apply_patch_call": (
        {
            "type": "apply_patch_call",
            "call_id": "c1",
            "operation": {"type": "delete_file", "path": "a"},
        },
        [
            {
                "type": "tool_call",
                "id": "c1",
                "name": "apply_patch",
                "arguments": {"type": "delete_file", "path": "a"},
            }
        ],
    ),
    "function_call_output": (
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        [{"type": "tool_call_response", "id": "c1", "response": "ok"}],
    ),
    "local_shell_call_output": (
        {"type": "local_shell_call_output", "id": "c1", "output": "ok"},
        [{"type": "tool_call_response", "id": "c1", "response": "ok"}],
    ),
    "output without a call id": (
        {"type": "function_call_output", "output": None},
        [{"type": "tool_call_response", "response": None}],
    ),
    "web_search_call": (
        {
            "type": "web_search_call",
            "id": "w1",
            "action": {"type": "search", "query": "x"},
        },
        [
            {
                "type": "server_tool_call",
                "name": "web_search",
                "id": "w1",
                "server_tool_call": {
                    "type": "web_search",
                    "action": {"type": "search", "query": "x"},
                },
            }
        ],
    ),
    "file_search_call": (
        {
            "type": "file_search_call",
            "id": "f1",
            "queries": ["x"],
            "results": [{"text": "y"}],
        },
        [
            {
                "type": "server_tool_call",
                "name": "file_search",
                "id": "f1",
                "server_tool_call": {"type": "file_search", "queries": ["x"]},
            },
            {
                "type": "server_tool_call_response",
                "id": "f1",
                "server_tool_call_response": {
                    "type": "file_search",
                    "results": [{"text": "y"}],
                },
            },
        ],
    ),
    "code_interpreter_call": (
        {
            "type": "code_interpreter_call",
            "id": "i1",
            "code": "1",
            "container_id": "k",
            "outputs": None,
        },
        [
            {
                "type": "server_tool_call",
                "name": "code_interpreter",
                "id": "i1",
                "server_tool_call": {
                    "type": "code_interpreter",
                    "code": "1",
                    "container_id": "k",
                },
            }
        ],
    ),
    "image_generation_call": (
        {"type": "image_generation_call", "id": "g1", "result": "base64"},
        [
            {
                "type": "server_tool_call",
                "name": "image_generation",
                "id": "g1",
                "server_tool_call": {"type": "image_generation"},
            }
        ],
    ),
    "mcp_call": (
        {
            "type": "mcp_call",
            "id": "m1",
            "name": "pay",
            "server_label": "bank",
            "arguments": '{"a":1}',
            "output": "ok",
        },
        [
            {
                "type": "server_tool_call",
                "name": "pay",
                "id": "m1",
                "server_tool_call": {
                    "type": "mcp",
                    "server_label": "bank",
                    "arguments": {"a": 1},
                },
            },
            {
                "type": "server_tool_call_response",
                "id": "m1",
                "server_tool_call_response": {"type": "mcp", "output": "ok"},
            },
        ],
    ),
    "mcp_list_tools": (
        {"type": "mcp_list_tools", "id": "m1", "server_label": "bank", "tools": [{}]},
        [
            {
                "type": "server_tool_call",
                "name": "mcp_list_tools",
                "id": "m1",
                "server_tool_call": {"type": "mcp_list_tools"},
            }
        ],
    ),
    "program": (
        {"type": "program", "id": "p1", "call_id": "c1", "code": "f()"},
        [
            {
                "type": "server_tool_call",
                "name": "program",
                "id": "c1",
                "server_tool_call": {"type": "program", "code": "f()"},
            }
        ],
    ),
    "program_output": (
        {"type": "program_output", "id": "p2", "call_id": "c1", "result": "1"},
        [
            {
                "type": "server_tool_call_response",
                "id": "c1",
                "server_tool_call_response": {"type": "program", "result": "1"},
            }
        ],
    ),
    "tool_search_call by the provider": (
        {
            "type": "tool_search_call",
            "execution": "server",
            "arguments": {"query": "x"},
        },
        [
            {
                "type": "server_tool_call",
                "name": "tool_search",
                "server_tool_call": {
                    "type": "tool_search",
                    "arguments": {"query": "x"},
                },
            }
        ],
    ),
    "tool_search_call by the client": (
        {
            "type": "tool_search_call",
            "call_id": "c1",
            "execution": "client",
            "arguments": {"query": "x"},
        },
        [
            {
                "type": "tool_call",
                "id": "c1",
                "name": "tool_search",
                "arguments": {"query": "x"},
            }
        ],
    ),
    "tool_search_output of the provider": (
        {"type": "tool_search_output", "execution": "server", "tools": []},
        [
            {
                "type": "server_tool_call_response",
                "server_tool_call_response": {"type": "tool_search", "tools": []},
            }
        ],
    ),
    "tool_search_output of the client": (
        {
            "type": "tool_search_output",
            "call_id": "c1",
            "execution": "client",
            "tools": [],
        },
        [{"type": "tool_call_response", "id": "c1", "response": []}],
    ),
    "compaction": (
        {"type": "compaction", "id": "k1", "encrypted_content": "x"},
        [{"type": "compaction", "id": "k1"}],
    ),
    "compaction without id": ({"type": "compaction"}, [{"type": "compaction"}]),
    "mcp_approval_request": ({"type": "mcp_approval_request", "id": "a"}, []),
    "mcp_approval_response": (
        {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
        [],
    ),
    "unknown": ({"type": "hologram", "id": "h"}, []),
    "chat answer": (
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        [{"type": "tool_call_response", "id": "c1", "response": "ok"}],
    ),
    "chat message with calls": (
        {
            "role": "assistant",
            "content": None,
            "refusal": "No.",
            "tool_calls": [
                {"id": "c1", "function": {"name": "pay", "arguments": "{}"}},
                {"id": "c2", "custom": {"name": "sh", "input": "ls"}},
                {"function": {"name": "pay"}},
            ],
        },
        [
            {"type": "text", "content": "No."},
            {"type": "tool_call", "id": "c1", "name": "pay", "arguments": {}},
            {"type": "tool_call", "id": "c2", "name": "sh", "arguments": "ls"},
            {"type": "tool_call", "name": "pay"},
        ],
    ),
}


@pytest.mark.parametrize(("item", "expected"), ITEMS.values(), ids=ITEMS)
def test_parts_of_an_item(item, expected):
    """Each item type has its parts, and what cannot be said has none."""
    assert item_parts(item) == expected


CONTENT = {
    "text": ("Hi", [{"type": "text", "content": "Hi"}]),
    "empty": ("", []),
    "nothing": (None, []),
    "text that is none": ([{"type": "input_text", "text": 3}], []),
    "image by url": (
        [{"type": "input_image", "image_url": "https://x/a.png"}],
        [{"type": "uri", "modality": "image", "uri": "https://x/a.png"}],
    ),
    "image by data": (
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAA"}}],
        [
            {
                "type": "blob",
                "modality": "image",
                "content": "AAA",
                "mime_type": "image/png",
            }
        ],
    ),
    "image by id": (
        [{"type": "input_image", "file_id": "f1"}],
        [{"type": "file", "modality": "image", "file_id": "f1"}],
    ),
    "image without source": ([{"type": "input_image"}], []),
    "file by data": (
        [{"type": "input_file", "file_data": "AAA"}],
        [{"type": "blob", "modality": "document", "content": "AAA"}],
    ),
    "file by data url": (
        [{"type": "input_file", "file_data": "data:text/plain;base64,AAA"}],
        [
            {
                "type": "blob",
                "modality": "document",
                "content": "AAA",
                "mime_type": "text/plain",
            }
        ],
    ),
    "file by url": (
        [{"type": "input_file", "file_url": "https://x/a.pdf"}],
        [{"type": "uri", "modality": "document", "uri": "https://x/a.pdf"}],
    ),
    "chat file": (
        [{"type": "file", "file": {"file_id": "f1"}}],
        [{"type": "file", "modality": "document", "file_id": "f1"}],
    ),
    "audio": (
        [{"type": "input_audio", "input_audio": {"data": "AAA", "format": "wav"}}],
        [
            {
                "type": "blob",
                "modality": "audio",
                "content": "AAA",
                "mime_type": "audio/wav",
            }
        ],
    ),
    "audio of no format": (
        [{"type": "audio", "data": "AAA"}],
        [{"type": "blob", "modality": "audio", "content": "AAA"}],
    ),
    "audio without data": ([{"type": "audio"}], []),
}


@pytest.mark.parametrize(("content", "expected"), CONTENT.values(), ids=CONTENT)
def test_parts_of_content(content, expected):
    """Text, images, files and audio have parts by what they refer to."""
    assert content_parts(content) == expected


def test_typed_items_read_like_mappings():
    """Span data holds typed items; their parts are those of the dumped item."""
    typed = [
        ResponseReasoningItem.model_validate(ITEMS["reasoning"][0]),
        ResponseFunctionToolCall.model_validate(ITEMS["function_call"][0]),
        ResponseFunctionWebSearch.model_validate(
            ITEMS["web_search_call"][0] | {"status": "completed"}
        ),
    ]
    expected = [
        part
        for name in ("reasoning", "function_call", "web_search_call")
        for part in ITEMS[name][1]
    ]
    assert [part for item in typed for part in item_parts(item)] == expected


def test_input_messages_by_role():
    """What a model made in one response is one message; a tool's answer has its own role."""
    items = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Pay."},
        ITEMS["reasoning"][0],
        ITEMS["function_call"][0],
        ITEMS["function_call_output"][0],
        ITEMS["unknown"][0],
    ]
    assert input_messages(items) == [
        {"role": "developer", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Pay."}]},
        {
            "role": "assistant",
            "parts": ITEMS["reasoning"][1] + ITEMS["function_call"][1],
        },
        {"role": "tool", "parts": ITEMS["function_call_output"][1]},
    ]


def test_a_response_is_one_message():
    """All items of a response are parts of one message, in order, with its finish reason."""
    items = [ITEMS["reasoning"][0], ITEMS["message"][0]]
    assert output_message(items, "stop") == {
        "role": "assistant",
        "parts": ITEMS["reasoning"][1] + ITEMS["message"][1],
        "finish_reason": "stop",
    }


def test_shell_output_in_a_response_is_the_providers():
    """A shell output that comes with the response was made in the provider's container."""
    outputs = [
        {"type": "shell_call_output", "call_id": "c1", "output": []},
        {"type": "shell_call_output", "output": []},
    ]
    answer = {"type": "shell", "output": []}
    assert output_message(outputs, "stop")["parts"] == [
        {
            "type": "server_tool_call_response",
            "id": "c1",
            "server_tool_call_response": answer,
        },
        {"type": "server_tool_call_response", "server_tool_call_response": answer},
    ]


def test_new_items():
    """New is what follows the last item that a model made."""
    user, call = {"role": "user", "content": "Hi"}, ITEMS["function_call"][0]
    output, unknown = ITEMS["function_call_output"][0], ITEMS["unknown"][0]
    assert new_items("Hi") == "Hi"
    assert new_items([user, unknown]) == [user, unknown]
    assert new_items([user, call, output, unknown]) == [output, unknown]
    assert new_items([user, call]) == []


def test_after_an_answer():
    """What a model just said was shown as its output; what was said before a question was not."""
    user, call = {"role": "user", "content": "Hi"}, ITEMS["function_call"][0]
    output, empty = ITEMS["function_call_output"][0], ITEMS["reasoning without text"][0]
    assert after_answer("Hi") == "Hi"
    assert after_answer([empty, call, output, user]) == [output, user]
    assert after_answer([user, call, output]) == [user, call, output]
    assert after_answer([call]) == ()


def test_json_of_messages():
    """Messages are compact JSON strings; no message is no attribute."""
    assert input_json("Hi") == (
        '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
        False,
    )
    assert input_json([]) == (None, False)
    assert input_json([ITEMS["unknown"][0]]) == (None, False)
    assert output_json([], "error") == (
        '[{"role":"assistant","parts":[],"finish_reason":"error"}]',
        False,
    )
    assert system_json("Be brief.") == (
        '[{"type":"text","content":"Be brief."}]',
        False,
    )


def test_tool_definitions():
    """A definition is type and name; schemas are left out."""
    tools = [
        {"type": "function", "name": "pay", "parameters": {}},
        {"type": "function", "function": {"name": "refund"}},
        {"type": "mcp", "server_label": "bank"},
        {"type": "web_search"},
        {"name": "plain"},
    ]
    text, cut = definitions_json(tools)
    assert json.loads(str(text)) == [
        {"type": "function", "name": "pay"},
        {"type": "function", "name": "refund"},
        {"type": "mcp", "name": "bank"},
        {"type": "web_search", "name": "web_search"},
        {"type": "function", "name": "plain"},
    ]
    assert not cut
    assert definitions_json([]) == (None, False)


def test_long_strings_are_shortened_first():
    """A long part is cut and marked; the others stay as they are."""
    items = [{"role": "user", "content": "x" * 1000}, {"role": "user", "content": "y"}]
    text, cut = input_json(items, 400)
    assert json.loads(str(text)) == [
        {
            "role": "user",
            "parts": [{"type": "text", "content": "x" * 100 + "…", MARK: True}],
        },
        {"role": "user", "parts": [{"type": "text", "content": "y"}]},
    ]
    assert cut


def test_a_large_blob_goes_whole():
    """A cut blob is of no use, and it may hold no mark: its message says so."""
    image = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 1000}
    text, cut = input_json(
        [{"role": "user", "content": [image, {"type": "input_text", "text": "Hi"}]}],
        400,
    )
    assert json.loads(str(text)) == [
        {"role": "user", "parts": [{"type": "text", "content": "Hi"}], MARK: True}
    ]
    assert cut


def test_oldest_messages_go_last():
    """Where shortening is not enough, the newest messages stay."""
    items = [{"role": "user", "content": f"{n:060}"} for n in range(8)]
    text, cut = input_json(items, 400)
    kept = json.loads(str(text))
    assert [message["parts"][0]["content"] for message in kept] == [
        f"{n:060}" for n in (6, 7)
    ]
    assert kept[0][MARK] is True
    assert cut
    assert len(str(text)) <= 400


def test_items_that_cannot_fit_are_not_even_read():
    """Of a very long history only what may fit is looked at, and the copy says it is cut."""
    items = [{"role": "user"}] * 50 + [{"role": "user", "content": "z"}]
    text, cut = input_json(items, 400)
    assert text == '[{"role":"user","parts":[{"type":"text","content":"z"}]}]'
    assert cut


def test_one_message_of_many_parts():
    """Of a message that cannot fit the newest parts stay, at least the message itself."""
    blocks = [{"type": "input_text", "text": f"{n:060}"} for n in range(8)]
    text, cut = input_json([{"role": "user", "content": blocks}], 400)
    assert cut
    assert [part["content"] for part in json.loads(str(text))[0]["parts"]] == [
        f"{n:060}" for n in (6, 7)
    ]
    numbers = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "[]"}
    numbers["arguments"] = json.dumps([1] * 500)
    text, cut = output_json([numbers], "tool_call", 200)
    assert json.loads(str(text)) == [
        {"role": "assistant", "parts": [], "finish_reason": "tool_call", MARK: True}
    ]


def test_a_limit_below_any_message():
    """Where not even an empty message fits, the list is empty."""
    assert output_json([], "stop", 10) == ("[]", True)


def test_fit_parts_keeps_the_first():
    """Of too many tool definitions the first stay."""
    tools = [{"type": "function", "name": f"tool_{n:03}"} for n in range(40)]
    text, cut = definitions_json(tools, 600)
    assert json.loads(str(text)) == tools[:10]
    assert cut
    assert fit_parts([{str(n): n for n in range(99)}], 100) == ("[]", True)


def test_fit_value():
    """A result is a string as it is, else JSON, shortened within its structure."""
    assert fit_value("plain") == ("plain", False)
    assert fit_value({"a": (1, 2)}) == ('{"a":[1,2]}', False)
    assert fit_value((1, 2)) == ("[1,2]", False)
    assert fit_value({"a": "x" * 500, "b": 1}, 200) == (
        '{"a":"' + "x" * 80 + '…","b":1}',
        True,
    )
    assert fit_value(["a"] * 300, 200)[1] is True
    assert fit_value(list(range(300)), 500)[0].startswith("[0,1,2,")
    wrapped = json.loads(fit_value({str(n): n for n in range(300)}, 200)[0])
    assert wrapped[MARK] is True
    assert wrapped["text"].startswith('{"0":0,"1":1')


def test_limits_are_bytes():
    """Text of several bytes a character is measured in bytes, not in characters."""
    cut = "日" * 80 + "…"
    assert fit_value({"a": "日" * 270}, 280) == (f'{{"a":"{cut}"}}', True)
    both, _ = fit_value({"a": "日" * 190, "b": "日" * 190}, 400)
    assert json.loads(both)[MARK] is True
    blocks = [{"type": "input_text", "text": letter * 130} for letter in "日月"]
    text, _ = input_json([{"role": "user", "content": blocks}], 400)
    assert json.loads(str(text))[0]["parts"] == [
        {"type": "text", "content": "月" * 80 + "…", MARK: True}
    ]


def test_fit_text_at_a_character():
    """A text is cut between characters, never over the limit; a lone surrogate does not stop it."""
    assert fit_text("日本語", 9) == ("日本語", False)
    assert fit_text("日本語", 8) == ("日…", True)
    assert fit_text("\ud800" * 9, 8) == ("?????…", True)


def test_fit_json_wraps_what_it_cannot_keep():
    """JSON over the limit is put into an object that says so, so that it stays JSON."""
    assert fit_json('{"a":1}', 7) == ('{"a":1}', False)
    text, cut = fit_json('"' + "\x00" * 100 + '"', 100)
    assert cut
    assert json.loads(str(text))[MARK] is True
    assert len(text.encode()) <= 100
    assert json.loads(fit_json("x" * 100, 1)[0]) == {MARK: True, "text": "…"}


def test_limits_hold_for_deep_messages():
    """Deep structures shorten like flat ones."""
    deep = {"type": "text", "content": {"a": [{"b": "x" * 400}]}}
    text, cut = fit_messages([{"role": "user", "parts": [deep]}], 400)
    assert cut
    assert json.loads(str(text))[0]["parts"][0]["content"] == {
        "a": [{"b": "x" * 100 + "…"}]
    }


def test_item_type():
    """An item's type is what it says; a role alone makes a message."""
    assert item_type({"type": "x"}) == "x"
    assert item_type({"role": "user"}) == "message"
    assert item_type({}) == ""


def test_client_calls():
    """A call is the client's unless the provider ran it."""
    assert is_client_call(ITEMS["function_call"][0])
    assert is_client_call(ITEMS["shell_call"][0])
    assert not is_client_call(ITEMS["shell_call in a container"][0])
    assert not is_client_call(ITEMS["tool_search_call by the provider"][0])
    assert not is_client_call(ITEMS["message"][0])


def test_registering_an_item_type():
    """A new item type is one registration."""
    try:
        register("hologram")(lambda item: [{"type": "text", "content": item["id"]}])
        assert item_parts(ITEMS["unknown"][0]) == [{"type": "text", "content": "h"}]
    finally:
        del PARTS["hologram"]


def test_plain_values():
    """Typed objects read as their fields, without the marks of the ledger."""
    call = ResponseFunctionWebSearch.model_validate(
        ITEMS["web_search_call"][0] | {"status": "completed"}
    )
    assert plain([call]) == [call]
    assert plain(call) == ITEMS["web_search_call"][0] | {"status": "completed"}
    assert plain((call.action, 1)) == [{"type": "search", "query": "x"}, 1]


def test_marks_of_the_ledger_are_not_shown():
    """What canonical JSON must mark reads as what it stands for."""
    assert to_json({"$it": 1}) == '[["$it",1]]'
    assert to_json('say "$it"') == '"say \\"$it\\""'
    assert to_json("\ud83d\ude00 \ud800") == '"😀 �"'
    assert to_json("\ud800") == '"\\ud800"'


class Row(dict):
    """A mapping that is no plain dict."""


def test_field_of_anything():
    """A field is read from mappings and objects alike; what is absent is None."""
    assert field(Row(a=1), "a") == 1
    assert field({"a": 1}, "b") is None
    assert field(None, "a") is None
    assert field(3, "real") == 3


def test_everything_public_is_there():
    """The package's names exist and are sorted."""
    assert messages.__all__ == sorted(
        messages.__all__, key=lambda n: (not n.isupper(), not n[0].isupper(), n)
    )
    assert all(hasattr(messages, name) for name in messages.__all__)
