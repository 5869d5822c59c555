"""OpenInference beside the GenAI attributes: values, messages, and never at the ledger's cost."""

import json

import pytest
from agents import Agent, Runner, function_tool
from agents.tracing.span_data import FunctionSpanData, HandoffSpanData
from opentelemetry.sdk.trace import SpanLimits

import itemtrace
from itemtrace import semconv
from itemtrace.capture.openinference import end, more, start
from itemtrace.capture.spans import SpanContextInfo, on_end, own_start
from itemtrace.config import settings
from itemtrace.errors import ConfigError
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder


INFO = SpanContextInfo(group_id="g", vocabularies=("openinference",))


def said(**messages):
    """GenAI attributes of a model span, their lists as JSON."""
    keys = {
        "given": semconv.GEN_AI_INPUT_MESSAGES,
        "got": semconv.GEN_AI_OUTPUT_MESSAGES,
        "system": semconv.GEN_AI_SYSTEM_INSTRUCTIONS,
        "tools": semconv.GEN_AI_TOOL_DEFINITIONS,
    }
    return {keys[name]: json.dumps(value) for name, value in messages.items()}


def text(role, content):
    """A message of one text."""
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def test_text_messages_are_flat():
    """Instructions are message 0 of the input; a message of one text has its content as it is."""
    found = more(
        said(
            system=[{"type": "text", "content": "S"}],
            given=[text("user", "U")],
            got=[text("assistant", "A")],
        ),
        99,
    )
    assert found == {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "A",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "S",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": "U",
    }  # fmt: skip


def test_calls_and_contents_are_numbered():
    """Calls, reasoning, pictures and what has no name of its own stand in lists of the message."""
    parts = [
        {"type": "reasoning", "content": "hm"},
        {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}},
        {"type": "server_tool_call", "name": "web", "server_tool_call": {"q": 1}},
        {"type": "tool_call", "name": "bare"},
        {"type": "uri", "modality": "image", "uri": "https://x/y.png"},
        {"type": "uri", "modality": "audio", "uri": "https://x/y.wav"},
        {"type": "compaction"},
    ]
    head = "llm.output_messages.0.message."
    assert more(said(got=[{"role": "assistant", "parts": parts}]), 99) == {
        head + "role": "assistant",
        head + "contents.0.message_content.type": "reasoning",
        head + "contents.0.message_content.text": "hm",
        head + "tool_calls.0.tool_call.function.name": "look",
        head + "tool_calls.0.tool_call.id": "c1",
        head + "tool_calls.0.tool_call.function.arguments": '{"a":1}',
        head + "tool_calls.1.tool_call.function.name": "web",
        head + "tool_calls.1.tool_call.function.arguments": '{"q":1}',
        head + "tool_calls.2.tool_call.function.name": "bare",
        head + "contents.1.message_content.type": "image",
        head + "contents.1.message_content.image.image.url": "https://x/y.png",
        head + "contents.2.message_content.type": "text",
        head
        + "contents.2.message_content.text": '{"type":"uri","modality":"audio","uri":"https://x/y.wav"}',
        head + "contents.3.message_content.type": "text",
        head + "contents.3.message_content.text": '{"type":"compaction"}',
    }


def test_answers_of_tools_are_messages_of_their_own():
    """Several answers in one message become one message each."""
    parts = [
        {"type": "tool_call_response", "id": "a", "response": "7"},
        {"type": "tool_call_response", "response": None},
    ]
    assert more(said(given=[{"role": "tool", "parts": parts}]), 99) == {
        "llm.input_messages.0.message.role": "tool",
        "llm.input_messages.0.message.content": "7",
        "llm.input_messages.0.message.tool_call_id": "a",
        "llm.input_messages.1.message.role": "tool",
        "llm.input_messages.1.message.content": "",
    }


def test_tools_have_the_nested_form():
    """A tool is shown as the chat API has it."""
    found = more(said(tools=[{"type": "function", "name": "pay"}]), 1)
    assert found == {
        "llm.tools.0.tool.json_schema": '{"type":"function","function":{"name":"pay"}}'
    }


def test_the_newest_messages_are_kept_whole():
    """With little room the oldest input goes first, and no message is halved."""
    given = [text("user", "1"), text("assistant", "2"), text("user", "3")]
    assert more(said(given=given), 5) == {
        "llm.input_messages.0.message.role": "assistant",
        "llm.input_messages.0.message.content": "2",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": "3",
    }
    assert more(said(given=given, got=[text("assistant", "4")]), 1) == {}


@pytest.mark.parametrize(
    "broken", ["[1]", "[", "7", '[{"parts": 1}]', '[{"parts": ["…"]}]']
)
def test_shortened_copies_do_no_harm(broken):
    """Where a readable copy was cut, what can still be read of it is shown."""
    found = more({semconv.GEN_AI_INPUT_MESSAGES: broken}, 99)
    assert found in ({}, {"llm.input_messages.0.message.role": "user"})


@pytest.mark.parametrize(
    ("ours", "provider", "system"),
    [
        ("openai", "openai", "openai"),
        ("azure.ai.openai", "azure", "openai"),
        ("gcp.vertex_ai", "google", "google"),
        ("x_ai", "xai", "xai"),
    ],
)
def test_providers(ours, provider, system):
    """Providers go by OpenInference's names, and the system is whose API it is."""
    found = start("response", INFO, {semconv.GEN_AI_PROVIDER_NAME: ours})
    assert (found["llm.provider"], found["llm.system"]) == (provider, system)


def test_settings_are_one_text():
    """What was asked for stands in one JSON string, the finish reason alone."""
    found = end(
        "response",
        INFO,
        {"gen_ai.request.temperature": 0.5, "gen_ai.response.finish_reasons": ["stop"]},
    )
    assert found == {
        "llm.invocation_parameters": '{"temperature":0.5}',
        "llm.finish_reason": "stop",
    }


def test_tools_and_handoffs_have_input_and_output():
    """A tool has arguments and result, a handoff the agents."""
    tool = on_end(FunctionSpanData("pay", '{"a":1}', "ok"), INFO)
    assert tool.attributes["input.value"] == '{"a":1}'
    assert tool.attributes["input.mime_type"] == "application/json"
    assert (tool.attributes["output.value"], tool.attributes["output.mime_type"]) == (
        "ok",
        "text/plain",
    )
    assert on_end(HandoffSpanData("A", "B"), INFO).attributes["output.value"] == "B"


def test_spans_of_ours_are_chains():
    """What no SDK span stands behind is a CHAIN of the session."""
    assert own_start(INFO) == {
        "gen_ai.conversation.id": "g",
        "openinference.span.kind": "CHAIN",
        "session.id": "g",
    }


def test_withheld_content_is_withheld_here_too():
    """Nothing of arguments and results comes through the second vocabulary."""
    info = SpanContextInfo(content=False, vocabularies=("openinference",))
    found = on_end(FunctionSpanData("pay", '{"a":1}', "ok"), info)
    assert "input.value" not in found.attributes
    assert [add(99) for add in found.more] == [{}]


@pytest.mark.parametrize(
    ("limit", "profile"),
    [
        (None, "portable"),
        (40, "portable"),
        (128, "portable"),
        (128, "dash0"),
        (128, "tempo-array"),
    ],
)
async def test_the_ledger_comes_first(limit, profile, sdk_processors):
    """However long the conversation and however low the limit, no attribute is dropped and all is exact."""

    @function_tool
    def look(n: int) -> str:
        """Looks."""
        return f"{n}" * 900

    calls = [
        [function_call("look", f"call_{turn}_{n}", n=n) for n in range(9)]
        for turn in range(3)
    ]
    given = [{"role": role, "content": "x" * 30} for role in ("user", "assistant") * 40]
    async with FakeProvider({"m": [*calls, [message("Done.")]]}) as fake:
        agent = Agent(name="Clerk", model=fake.responses_model("m"), tools=[look])
        with SpanRecorder(limits=SpanLimits(max_span_attributes=limit)) as recorder:
            itemtrace.install(
                tracer_provider=recorder.provider, messages="full", profile=profile, conventions=("genai", "openinference")
            )  # fmt: skip
            result = await Runner.run(agent, given)
            itemtrace.uninstall()
    ledger = recorder.ledger()
    assert ledger.exact
    assert ledger.runs[0].to_input_list() == result.to_input_list()
    assert {row.dropped_attributes for row in recorder.rows()} == {0}
    assert all("openinference.span.kind" in row.attributes for row in recorder.rows())


def test_the_default_is_genai_alone(monkeypatch):
    """Nothing of a second vocabulary is written unless it is asked for, by argument or environment."""
    assert settings().vocabularies == ()
    assert settings(conventions=("openinference", "genai")).vocabularies == (
        "openinference",
    )
    assert settings(
        environ={"ITEMTRACE_CONVENTIONS": "genai, OpenInference"}
    ).vocabularies == ("openinference",)


@pytest.mark.parametrize("given", [("openinference",), ("genai", "other"), ()])
def test_unknown_conventions_are_refused(given):
    """The GenAI conventions are always written, and others must be known."""
    with pytest.raises(
        ConfigError, match="give 'genai', and beside it any of openinference"
    ):
        settings(conventions=given)
