"""A step, as the Chat Completions API says it."""

from openai.types.chat import ChatCompletion, ChatCompletionChunk

from itemtrace.testing import chat, items
from itemtrace.testing.wire import Step


BODY = {"model": "desk", "messages": [{"role": "user", "content": "Hello"}]}
STEP = Step(
    [
        items.message("I look it up."),
        items.function_call("find", "call_1", order="A-1042"),
        items.function_call("find", "call_2", order="A-1043"),
    ]
)


def test_body_is_a_completion():
    """Texts and calls of a step are one message of the API's `ChatCompletion`."""
    answer = chat.completion(STEP, BODY, "chatcmpl_1")
    parsed = ChatCompletion.model_validate(answer, strict=True)
    choice = parsed.model_dump(exclude_unset=True)["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "I look it up."
    calls = [call["id"] for call in choice["message"]["tool_calls"]]
    assert calls == ["call_1", "call_2"]


def test_chunks_join_to_the_message():
    """The chunks validate, and their pieces join to the message of the whole answer."""
    body = BODY | {"stream_options": {"include_usage": True}}
    chunks = [
        ChatCompletionChunk.model_validate(chunk, strict=True).model_dump()
        for chunk in chat.chunks(STEP, body, "chatcmpl_1")
    ]
    arguments = {0: "", 1: ""}
    content = ""
    for chunk in chunks[:-1]:
        delta = chunk["choices"][0]["delta"]
        content += delta["content"] or ""
        for call in delta["tool_calls"] or []:
            arguments[call["index"]] += call["function"]["arguments"]
    assert content == "I look it up."
    assert list(arguments.values()) == [item["arguments"] for item in STEP.output[1:]]
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    expected = chat.usage(STEP, body)["total_tokens"]
    assert chunks[-1]["usage"]["total_tokens"] == expected


def test_usage_is_streamed_on_request_only():
    """Without `include_usage` the finish reason is the last chunk."""
    last = list(chat.chunks(Step([items.message("Hi")]), BODY, "chatcmpl_1"))[-1]
    assert last["choices"][0]["finish_reason"] == "stop"


def test_cut_stream_has_no_finish_reason():
    """A cut stream ends after the last piece of text."""
    step = Step([items.message("Hi")], ends="cut")
    reasons = [
        chunk["choices"][0]["finish_reason"] for chunk in chat.chunks(step, BODY, "c")
    ]
    assert reasons == [None, None]


def test_refusal_and_length():
    """A refusal is its own field; an incomplete step ends for its length."""
    step = Step([items.refusal("No.")], ends="incomplete")
    choice = chat.completion(step, BODY, "chatcmpl_1")["choices"][0]
    assert choice == {
        "index": 0,
        "message": {"role": "assistant", "content": None, "refusal": "No."},
        "finish_reason": "length",
        "logprobs": None,
    }


def test_what_chat_cannot_say_is_named():
    """Item types without words in Chat Completions are listed."""
    step = Step([items.web_search_call("ws_1", "tides"), items.message("Hi")])
    assert chat.unsayable(step) == ["web_search_call"]
