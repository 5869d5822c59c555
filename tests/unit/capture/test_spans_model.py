"""Model spans: response and generation."""

import asyncio
from typing import Any

import pytest
from agents import ModelSettings
from agents.tracing.span_data import GenerationSpanData, ResponseSpanData
from openai.types.responses import Response
from openai.types.shared import Reasoning
from opentelemetry.trace import SpanKind

from itemtrace.capture.spans import (
    Bare,
    CallInfo,
    End,
    SpanContextInfo,
    Start,
    on_end,
    on_start,
)


USAGE = {
    "requests": 1,
    "input_tokens": 100,
    "output_tokens": 20,
    "total_tokens": 120,
    "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 5},
    "output_tokens_details": {"reasoning_tokens": 8},
}
TEXT = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Sunny.", "annotations": []}],
}
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "weather",
    "arguments": '{"city":"Paris"}',
}


def response(*output, **more):
    """A response as the SDK's model class puts it into span data."""
    return Response.model_validate(
        {
            "id": "resp_1",
            "created_at": 1.0,
            "object": "response",
            "model": "gpt-5-2026-01-01",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "status": "completed",
            "output": list(output),
            **more,
        }
    )


def span_data(**fields) -> Any:
    """The SDK's span data; fields may be plain mappings, as they are when a run sends them."""
    return ResponseSpanData(**fields)


def finish_reasons(data, info=None):
    """The finish reasons of a span."""
    attributes = on_end(data, info or SpanContextInfo()).attributes
    return attributes.get("gen_ai.response.finish_reasons")


def test_response_by_callbacks_alone():
    """The processor alone knows the response's model only, so the span is named `chat`."""
    data = span_data()
    info = SpanContextInfo(group_id="g1", agent_name="Clerk")
    assert on_start(data, info) == Start(
        "chat",
        SpanKind.CLIENT,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": "g1",
            "gen_ai.provider.name": "openai",
            "openai.api.type": "responses",
        },
    )
    data.input = [{"role": "user", "content": "Weather?"}]
    data.response = response(
        CALL,
        temperature=1.0,
        top_p=0.9,
        max_output_tokens=500,
        service_tier="default",
        previous_response_id="resp_0",
        instructions="Be brief.",
        reasoning={"effort": "low"},
        text={"format": {"type": "json_object"}},
        prompt={
            "id": "pmpt_1",
            "version": "3",
            "variables": {
                "city": "Paris",
                "file": {"type": "input_file", "file_id": "f"},
            },
        },
        tools=[
            {"type": "function", "name": "weather", "strict": True, "parameters": {}}
        ],
    )
    data.usage = USAGE
    assert on_end(data, info) == End(
        "chat",
        {
            "gen_ai.request.temperature": 1.0,
            "gen_ai.request.top_p": 0.9,
            "gen_ai.request.max_tokens": 500,
            "gen_ai.request.reasoning.level": "low",
            "gen_ai.response.id": "resp_1",
            "gen_ai.response.model": "gpt-5-2026-01-01",
            "gen_ai.response.finish_reasons": ["tool_calls"],
            "gen_ai.request.previous_response.id": "resp_0",
            "gen_ai.output.type": "json",
            "gen_ai.prompt.name": "pmpt_1",
            "gen_ai.prompt.version": "3",
            "gen_ai.prompt.variable.city": "Paris",
            "openai.response.service_tier": "default",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.usage.cache_read.input_tokens": 30,
            "gen_ai.usage.cache_write.input_tokens": 5,
            "gen_ai.usage.reasoning.output_tokens": 8,
            "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Weather?"}]}]',
            "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"tool_call","id":"call_1",'
            '"name":"weather","arguments":{"city":"Paris"}}],"finish_reason":"tool_call"}]',
            "gen_ai.system_instructions": '[{"type":"text","content":"Be brief."}]',
            "gen_ai.tool.definitions": '[{"type":"function","name":"weather"}]',
        },
        None,
        None,
    )


def test_response_with_the_runner_seam():
    """With the seam the request is known: its model, endpoint, settings and what is new in it."""
    call = CallInfo(
        model="gpt-5",
        stream=True,
        base_url="https://api.openai.com/v1/",
        settings=ModelSettings(
            temperature=0,
            top_p=0.5,
            frequency_penalty=0.1,
            presence_penalty=0.2,
            max_tokens=100,
            reasoning=Reasoning(effort="high"),
            extra_args={
                "seed": 7,
                "n": 2,
                "stop": "END",
                "top_k": 4,
                "service_tier": "flex",
            },
        ),
        system="Be kind.",
        tools=[{"type": "function", "name": "weather"}],
        new_input=[
            {**CALL, "call_id": "call_0"},
            {"type": "function_call_output", "call_id": "call_0", "output": "ok"},
        ],
        time_to_first_chunk=0.25,
    )
    data = span_data()
    info = SpanContextInfo(call=call)
    assert on_start(data, info) == Start(
        "chat gpt-5",
        SpanKind.CLIENT,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-5",
            "server.address": "api.openai.com",
            "server.port": 443,
            "gen_ai.request.stream": True,
            "openai.api.type": "responses",
        },
    )
    data.input = [{"role": "user", "content": "Old."}]
    data.response = response(TEXT, temperature=1.0, instructions="Be kind.")
    assert on_end(data, info) == End(
        "chat gpt-5",
        {
            "gen_ai.request.temperature": 0.0,
            "gen_ai.request.top_p": 0.5,
            "gen_ai.request.frequency_penalty": 0.1,
            "gen_ai.request.presence_penalty": 0.2,
            "gen_ai.request.max_tokens": 100,
            "gen_ai.request.reasoning.level": "high",
            "gen_ai.request.seed": 7,
            "gen_ai.request.top_k": 4,
            "gen_ai.request.choice.count": 2,
            "gen_ai.request.stop_sequences": ["END"],
            "gen_ai.response.id": "resp_1",
            "gen_ai.response.model": "gpt-5-2026-01-01",
            "gen_ai.response.finish_reasons": ["stop"],
            "openai.request.service_tier": "flex",
            "gen_ai.response.time_to_first_chunk": 0.25,
            "gen_ai.input.messages": '[{"role":"tool","parts":[{"type":"tool_call_response",'
            '"id":"call_0","response":"ok"}]}]',
            "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text",'
            '"content":"Sunny."}],"finish_reason":"stop"}]',
            "gen_ai.system_instructions": '[{"type":"text","content":"Be kind."}]',
            "gen_ai.tool.definitions": '[{"type":"function","name":"weather"}]',
        },
        None,
        None,
    )


def test_unstreamed_generation():
    """A chat completions call that says no reason for its end gets none."""
    data = GenerationSpanData(
        model="llama-3",
        model_config={"base_url": "http://localhost:8000/v1", "temperature": 0.5},
        input=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
    )
    assert on_start(data, SpanContextInfo()) == Start(
        "chat llama-3",
        SpanKind.CLIENT,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "localhost",
            "gen_ai.request.model": "llama-3",
            "server.address": "localhost",
            "server.port": 8000,
        },
    )
    data.output = [{"role": "assistant", "content": "Hello", "refusal": None}]
    data.usage = {"requests": 1, "input_tokens": 0, "output_tokens": 0}
    assert on_end(data, SpanContextInfo()) == End(
        "chat llama-3",
        {
            "gen_ai.request.temperature": 0.5,
            "gen_ai.input.messages": '[{"role":"system","parts":[{"type":"text","content":"Be brief."}]},'
            '{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
            "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"Hello"}],'
            '"finish_reason":"unknown"}]',
        },
        None,
        None,
    )


def test_streamed_generation_is_a_dumped_response():
    """A streamed chat completions call leaves a whole response in its output."""
    data = GenerationSpanData(model="gpt-4o", output=[response(TEXT).model_dump()])
    attributes = on_end(data, SpanContextInfo(messages="off")).attributes
    assert attributes == {
        "gen_ai.response.id": "resp_1",
        "gen_ai.response.model": "gpt-5-2026-01-01",
        "gen_ai.response.finish_reasons": ["stop"],
    }


def test_model_without_span_content():
    """A model that fills no span data is known through the seam alone."""
    call = CallInfo(
        output=[CALL],
        response_id="r1",
        response_model="m-2",
        usage={"input_tokens": 3, "output_tokens": 2},
        new_input="Hi",
    )
    info = SpanContextInfo(call=call)
    assert on_start(Bare("generation"), info).attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "unknown",
    }
    assert on_end(Bare("generation"), info).attributes == {
        "gen_ai.response.id": "r1",
        "gen_ai.response.model": "m-2",
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
        "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"tool_call","id":"call_1",'
        '"name":"weather","arguments":{"city":"Paris"}}],"finish_reason":"tool_call"}]',
    }


def test_withheld_content_keeps_facts():
    """Without content there are ids, usage and reasons, but no messages, variables or error text."""
    data = span_data(
        response=response(TEXT, prompt={"id": "p", "variables": {"secret": "x"}}),
        input="secret",
        usage=USAGE,
    )
    info = SpanContextInfo(content=False, compat=True)
    end = on_end(data, info, {"message": "secret", "data": {"error": "secret"}})
    assert end == End(
        "chat",
        {
            "gen_ai.response.id": "resp_1",
            "gen_ai.response.model": "gpt-5-2026-01-01",
            "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.prompt.name": "p",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.usage.cache_read.input_tokens": 30,
            "gen_ai.usage.cache_write.input_tokens": 5,
            "gen_ai.usage.cache_creation.input_tokens": 5,
            "gen_ai.usage.reasoning.output_tokens": 8,
            "error.type": "_OTHER",
        },
        "_OTHER",
        None,
    )


def test_redacted_response_keeps_its_id():
    """With sensitive data off the SDK leaves only the id and the usage."""
    data = span_data()
    data._response_id = "resp_9"
    assert on_end(data, SpanContextInfo()).attributes == {
        "gen_ai.response.id": "resp_9"
    }


def test_tokens_by_modality():
    """What a provider splits by modality is kept apart."""
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {
            "cached_tokens": 0,
            "text_tokens": 4,
            "audio_tokens": 5,
            "cached_tokens_details": {"audio_tokens": 2},
        },
        "output_tokens_details": {"reasoning_tokens": 0, "image_tokens": 7},
    }
    data = span_data(usage=usage)
    assert on_end(data, SpanContextInfo()).attributes == {
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.text.input_tokens": 4,
        "gen_ai.usage.audio.input_tokens": 5,
        "gen_ai.usage.audio.cache_read.input_tokens": 2,
        "gen_ai.usage.image.output_tokens": 7,
    }


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"status": "completed"}, ["stop"]),
        ({"status": "failed"}, ["error"]),
        ({"status": "cancelled"}, ["error"]),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
            },
            ["length"],
        ),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "content_filter"},
            },
            ["content_filter"],
        ),
        ({"status": "incomplete"}, None),
        ({"status": "in_progress"}, None),
    ],
)
def test_finish_reason_of_a_status(more, expected):
    """A response's status says why it ended; what is not said stays unknown."""
    assert finish_reasons(span_data(response=response(TEXT, **more))) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ([{"role": "assistant", "tool_calls": [{"id": "c"}]}], ["tool_calls"]),
        ([{"role": "assistant", "content": "x"}], None),
        ([], None),
    ],
)
def test_finish_reason_of_a_chat_message(output, expected):
    """A chat message with tool calls ended for them; of another the reason is not known."""
    assert finish_reasons(GenerationSpanData(output=output)) == expected


def test_hosted_calls_are_no_tool_calls():
    """A tool that the provider ran does not make the client act."""
    hosted = {
        "id": "sh_1",
        "type": "shell_call",
        "call_id": "c",
        "status": "completed",
        "action": {"commands": ["ls"]},
        "environment": {"type": "container_reference", "container_id": "k"},
    }
    local = {**hosted, "environment": {"type": "local"}}
    assert finish_reasons(span_data(response=response(hosted))) == ["stop"]
    assert finish_reasons(span_data(response=response(local))) == ["tool_calls"]


def test_broken_stream():
    """A stream that broke off has the finish reason `error` and the exception's type."""
    call = CallInfo(stream=True, error=asyncio.CancelledError())
    end = on_end(span_data(), SpanContextInfo(call=call))
    assert end == End(
        "chat",
        {
            "gen_ai.response.finish_reasons": ["error"],
            "error.type": "asyncio.exceptions.CancelledError",
        },
        "asyncio.exceptions.CancelledError",
        None,
    )


def test_known_finish_reason_wins():
    """The reason that the seam saw is taken as it is."""
    call = CallInfo(finish_reason="length")
    data = GenerationSpanData(output=[{"role": "assistant", "content": "x"}])
    assert finish_reasons(data, SpanContextInfo(call=call)) == ["length"]


def test_delta_by_callbacks_is_what_follows_the_last_answer():
    """Without the seam, delta shows the items after the last model output and no setup again."""
    data = span_data(
        input=[
            {"role": "user", "content": "Weather?"},
            CALL,
            {"type": "function_call_output", "call_id": "call_1", "output": "sun"},
        ],
        response=response(TEXT, instructions="Be brief."),
    )
    attributes = on_end(data, SpanContextInfo()).attributes
    assert attributes["gen_ai.input.messages"] == (
        '[{"role":"tool","parts":[{"type":"tool_call_response","id":"call_1",'
        '"response":"sun"}]}]'
    )
    assert "gen_ai.system_instructions" not in attributes
    full = on_end(data, SpanContextInfo(messages="full")).attributes
    assert full["gen_ai.input.messages"] == (
        '[{"role":"user","parts":[{"type":"text","content":"Weather?"}]},'
        '{"role":"assistant","parts":[{"type":"tool_call","id":"call_1","name":"weather",'
        '"arguments":{"city":"Paris"}}]},'
        '{"role":"tool","parts":[{"type":"tool_call_response","id":"call_1",'
        '"response":"sun"}]}]'
    )
    assert (
        full["gen_ai.system_instructions"] == '[{"type":"text","content":"Be brief."}]'
    )


def test_full_messages_from_the_seam():
    """With `full` the seam's whole input is shown."""
    call = CallInfo(full_input="All", new_input="New")
    info = SpanContextInfo(messages="full", call=call)
    assert on_end(span_data(), info).attributes == {
        "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"All"}]}]'
    }


def test_compaction_in_input_and_output():
    """A compaction item on either side marks the call as compacted."""
    item = {"id": "cmp_1", "type": "compaction", "encrypted_content": "x"}
    after = on_end(span_data(input=[item]), SpanContextInfo()).attributes
    assert after["gen_ai.conversation.compacted"] is True
    info = SpanContextInfo(call=CallInfo(new_input=[item]), content=False)
    new = on_end(span_data(input="Hi"), info).attributes
    assert new == {"gen_ai.conversation.compacted": True}
    data = span_data(response=response(item))
    made = on_end(data, SpanContextInfo(messages="off")).attributes
    assert made["gen_ai.conversation.compacted"] is True


def test_shortened_copies_are_named():
    """The span says which readable copies are not whole."""
    data = span_data(input="x" * 500, response=response(TEXT))
    attributes = on_end(data, SpanContextInfo(limit=200)).attributes
    assert attributes["itemtrace.readable.truncated"] == ["gen_ai.input.messages"]
    assert len(attributes["gen_ai.input.messages"].encode()) <= 200


def test_no_service_tier_elsewhere():
    """Attributes of a provider go with its name."""
    call = CallInfo(
        provider="groq", settings=ModelSettings(extra_args={"service_tier": "flex"})
    )
    data = span_data(response=response(TEXT, service_tier="default"))
    info = SpanContextInfo(call=call, messages="off")
    assert "openai.api.type" not in on_start(data, info).attributes
    keys = on_end(data, info).attributes
    assert [key for key in keys if key.startswith("openai.")] == []


def test_automatic_service_tier_is_not_shown():
    """A request that leaves the tier to the provider asks for none."""
    call = CallInfo(settings=ModelSettings(extra_args={"service_tier": "auto"}))
    assert on_end(span_data(), SpanContextInfo(call=call)).attributes == {}
