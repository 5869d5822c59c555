"""All span types but model calls: whole dicts, with and without content."""

import dataclasses
from typing import Any, ClassVar

import pytest
from agents.tracing.span_data import (
    AgentSpanData,
    CustomSpanData,
    FunctionSpanData,
    GuardrailSpanData,
    HandoffSpanData,
    MCPListToolsSpanData,
    SpeechGroupSpanData,
    SpeechSpanData,
    TaskSpanData,
    TranscriptionSpanData,
    TurnSpanData,
)
from openai import APIError
from opentelemetry.trace import SpanKind

from itemtrace.capture.spans import (
    HANDLERS,
    Bare,
    CallInfo,
    End,
    SpanContextInfo,
    Start,
    error_type,
    on_end,
    on_start,
    register,
    span_error_type,
    workflow_name,
    workflow_start,
)
from itemtrace.capture.spans.base import Named


INTERNAL, CLIENT = SpanKind.INTERNAL, SpanKind.CLIENT
GROUP = SpanContextInfo(group_id="g1", agent_name="Clerk", workflow="Shop")
ALONE = SpanContextInfo(agent_name="Clerk", workflow="Shop")
BARE = SpanContextInfo()
CONVERSATION = {"gen_ai.conversation.id": "g1"}
CLERK = {"gen_ai.agent.name": "Clerk"}
WITHHELD = dataclasses.replace(GROUP, content=False)


def fine(name, attributes):
    """The end of a span that went well."""
    return End(name, attributes, None, None)


def test_workflow():
    """A trace is the workflow span, with the application's name."""
    assert workflow_start("trace_1", GROUP, {"user": 7}) == Start(
        "invoke_workflow Shop",
        INTERNAL,
        {
            "gen_ai.operation.name": "invoke_workflow",
            **CONVERSATION,
            "gen_ai.workflow.name": "Shop",
            "itemtrace.sdk.trace_id": "trace_1",
            "itemtrace.trace.metadata": '{"user":7}',
        },
    )


def test_workflow_without_name_or_content():
    """The SDK's default name is never shown, and metadata is content."""
    info = SpanContextInfo(workflow="Agent workflow", content=False)
    assert workflow_start("trace_1", info, {"user": 7}) == Start(
        "invoke_workflow",
        INTERNAL,
        {
            "gen_ai.operation.name": "invoke_workflow",
            "itemtrace.sdk.trace_id": "trace_1",
        },
    )


@pytest.mark.parametrize(
    ("trace", "agent", "expected"),
    [
        ("Shop", "Clerk", "Shop"),
        ("Agent workflow", "Clerk", "Clerk"),
        ("Agent workflow", None, None),
        (None, "", None),
    ],
)
def test_workflow_name(trace, agent, expected):
    """The application's name goes first, then the first agent's, then none."""
    assert workflow_name(trace, agent) == expected


def test_task():
    """A task has the sums of its run, under our own keys."""
    data = TaskSpanData("Shop")
    assert on_start(data, GROUP) == Start("task", INTERNAL, CONVERSATION)
    data.usage = {
        "requests": 2,
        "input_tokens": 10,
        "output_tokens": 4,
        "total_tokens": 14,
        "cached_input_tokens": 3,
        "cache_write_input_tokens": 1,
    }
    assert on_end(data, ALONE) == fine(
        "task",
        {
            **CLERK,
            "itemtrace.usage.requests": 2,
            "itemtrace.usage.input_tokens": 10,
            "itemtrace.usage.output_tokens": 4,
            "itemtrace.usage.total_tokens": 14,
            "itemtrace.usage.cached_tokens": 3,
            "itemtrace.usage.cache_write_tokens": 1,
        },
    )


def test_task_of_another_workflow():
    """A run with a workflow name of its own keeps it; the default name is none."""
    assert on_start(TaskSpanData("Nested"), BARE).attributes == {
        "itemtrace.task.name": "Nested"
    }
    assert on_start(TaskSpanData("Agent workflow"), GROUP).attributes == CONVERSATION


def test_turn():
    """A turn has its index and one keep-alive: there are many turns, and its tokens are its calls'."""
    data = TurnSpanData(3, "Clerk")
    index = {"itemtrace.turn.index": 3}
    assert on_start(data, GROUP) == Start("turn", INTERNAL, {**CONVERSATION, **index})
    assert on_start(data, BARE) == Start("turn", INTERNAL, {**CLERK, **index})
    data.usage = {"input_tokens": 10, "output_tokens": 4, "cached_input_tokens": 3}
    assert on_end(data, GROUP) == fine("turn", {})


def test_agent():
    """An agent span has its name at the start; tools and handoffs come late."""
    data = AgentSpanData("Clerk", output_type="Invoice")
    assert on_start(data, GROUP) == Start(
        "invoke_agent Clerk",
        INTERNAL,
        {
            "gen_ai.operation.name": "invoke_agent",
            **CONVERSATION,
            **CLERK,
            "gen_ai.output.type": "json",
            "itemtrace.agent.output_type": "Invoice",
        },
    )
    data.tools, data.handoffs = ["pay"], ["Boss"]
    usage = {
        "requests": 1,
        "input_tokens": 5,
        "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    call = CallInfo(usage=usage, finish_reason="stop")
    assert on_end(data, dataclasses.replace(GROUP, call=call)) == fine(
        "invoke_agent Clerk",
        {
            "itemtrace.agent.tools": ["pay"],
            "itemtrace.agent.handoffs": ["Boss"],
            "itemtrace.usage.requests": 1,
            "itemtrace.usage.input_tokens": 5,
            "itemtrace.usage.cached_tokens": 2,
            "itemtrace.usage.cache_write_tokens": 1,
            "itemtrace.usage.reasoning_tokens": 3,
            "gen_ai.response.finish_reasons": ["stop"],
        },
    )


def test_agent_of_plain_text():
    """An agent that answers in text asks for no output type."""
    data = AgentSpanData("Clerk", handoffs=[], tools=None, output_type="str")
    assert on_start(data, BARE).attributes == {
        "gen_ai.operation.name": "invoke_agent",
        **CLERK,
    }
    assert on_end(data, BARE) == fine("invoke_agent Clerk", {})
    seen = dataclasses.replace(BARE, call=CallInfo())
    assert on_end(data, seen) == fine("invoke_agent Clerk", {})


def test_function():
    """A tool span has the agent, the call and both readable copies."""
    data = FunctionSpanData("pay", '{"sum":3}', None)
    assert on_start(data, GROUP) == Start(
        "execute_tool pay",
        INTERNAL,
        {
            "gen_ai.operation.name": "execute_tool",
            **CONVERSATION,
            "gen_ai.tool.name": "pay",
            "gen_ai.tool.type": "function",
            **CLERK,
        },
    )
    data.output = {"paid": True}
    call = CallInfo(
        tool_call_id="call_1",
        tool_description="Pays.",
        call_id_source="order",
        executed=False,
    )
    info = dataclasses.replace(GROUP, call=call)
    facts = {
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.description": "Pays.",
        "itemtrace.tool.call_id_source": "order",
        "itemtrace.tool.executed": False,
    }
    copies = {
        "gen_ai.tool.call.arguments": '{"sum":3}',
        "gen_ai.tool.call.result": '{"paid":true}',
    }
    assert on_end(data, info) == fine("execute_tool pay", {**facts, **copies})
    assert on_end(data, dataclasses.replace(info, content=False)) == fine(
        "execute_tool pay", facts
    )
    assert on_end(data, dataclasses.replace(info, messages="off")) == fine(
        "execute_tool pay", facts
    )


def test_function_of_an_mcp_server():
    """An MCP tool stays one span and gets the MCP attributes."""
    data = FunctionSpanData("pay", None, "ok", {"server": "bank"})
    assert on_end(data, GROUP) == fine(
        "execute_tool pay",
        {
            "mcp.method.name": "tools/call",
            "itemtrace.mcp.server": "bank",
            "gen_ai.tool.call.result": "ok",
        },
    )


def test_loaded_skill():
    """The sandbox's skill tool names the skill, but not where content is withheld."""
    data = FunctionSpanData("load_skill", '{"skill_name":"pdf"}', None)
    assert on_end(data, GROUP) == fine(
        "execute_tool load_skill pdf",
        {
            "gen_ai.tool.call.arguments": '{"skill_name":"pdf"}',
            "gen_ai.skill.name": "pdf",
        },
    )
    assert on_end(data, WITHHELD) == fine("execute_tool load_skill", {})
    seen = dataclasses.replace(WITHHELD, call=CallInfo(tool_call_id="c", executed=True))
    assert on_end(data, seen).attributes == {"gen_ai.tool.call.id": "c"}
    broken = FunctionSpanData("load_skill", "{", None)
    assert on_end(broken, GROUP).name == "execute_tool load_skill"


def test_long_tool_content_is_cut():
    """Arguments and results over the limit are shortened and named."""
    data = FunctionSpanData("pay", '{"a":"' + "x" * 300 + '"}', "é" * 300)
    end = on_end(data, SpanContextInfo(limit=100))
    arguments = end.attributes["gen_ai.tool.call.arguments"]
    result = end.attributes["gen_ai.tool.call.result"]
    assert arguments == (
        '{"itemtrace.truncated":true,"text":"{\\"a\\":\\"' + "x" * 44 + '…"}'
    )
    assert result == "é" * 48 + "…"
    assert end.attributes["itemtrace.readable.truncated"] == [
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
    ]


def test_handoff():
    """The target is known at the end, and the span is named for it then."""
    data = HandoffSpanData("Clerk", None)
    source = {"itemtrace.handoff.from_agent": "Clerk"}
    assert on_start(data, GROUP) == Start(
        "handoff", INTERNAL, {**CONVERSATION, **source}
    )
    assert on_start(data, BARE) == Start("handoff", INTERNAL, {**CLERK, **source})
    assert on_end(data, BARE) == fine("handoff", {})
    data.to_agent = "Boss"
    info = dataclasses.replace(GROUP, call=CallInfo(handoff_tool="to_boss"))
    error = {
        "message": "Multiple handoffs requested",
        "data": {"requested_agents": ["Boss", "Cook"]},
    }
    assert on_end(data, info, error) == End(
        "handoff Boss",
        {
            "itemtrace.handoff.to_agent": "Boss",
            "itemtrace.handoff.tool_name": "to_boss",
            "error.type": "_OTHER",
            "itemtrace.sdk.error_data": '{"requested_agents":["Boss","Cook"]}',
        },
        "_OTHER",
        "Multiple handoffs requested",
    )


def test_guardrail():
    """A guardrail says what it found, false as well as true."""
    data = GuardrailSpanData("no_math")
    name = {"itemtrace.guardrail.name": "no_math"}
    assert on_start(data, ALONE) == Start(
        "guardrail no_math", INTERNAL, {**CLERK, **name}
    )
    assert on_end(data, ALONE) == fine(
        "guardrail no_math", {"itemtrace.guardrail.triggered": False}
    )
    data.triggered = True
    info = dataclasses.replace(ALONE, call=CallInfo(guardrail_kind="input"))
    assert on_end(data, info) == fine(
        "guardrail no_math",
        {"itemtrace.guardrail.triggered": True, "itemtrace.guardrail.kind": "input"},
    )


def test_custom():
    """A custom span keeps its name and all its data, unless content is withheld."""
    data = CustomSpanData("db", {"rows": [1, 2]})
    kind = {"itemtrace.sdk.span_type": "custom"}
    assert on_start(data, BARE) == Start("db", INTERNAL, kind)
    assert on_end(data, BARE) == fine("db", {"itemtrace.custom.data": '{"rows":[1,2]}'})
    assert on_end(data, WITHHELD) == fine("db", {})
    assert on_start(CustomSpanData("", {}), GROUP).name == "custom"
    assert on_end(CustomSpanData("", {}), GROUP) == fine("custom", {})


def test_mcp_tools():
    """Listing an MCP server's tools is a client span of the MCP conventions."""
    data = MCPListToolsSpanData("bank")
    assert on_start(data, GROUP) == Start(
        "tools/list",
        CLIENT,
        {
            **CONVERSATION,
            "mcp.method.name": "tools/list",
            "itemtrace.mcp.server": "bank",
        },
    )
    data.result = ["pay", "refund"]
    assert on_end(data, GROUP) == fine(
        "tools/list", {"itemtrace.mcp.tools": ["pay", "refund"]}
    )


def test_transcription():
    """A transcription keeps its text and the size of its audio."""
    data = TranscriptionSpanData(
        input="UklG", model="whisper", model_config={"language": "en"}
    )
    assert on_start(data, GROUP) == Start(
        "transcription",
        CLIENT,
        {
            **CONVERSATION,
            "gen_ai.output.type": "text",
            "itemtrace.audio.model": "whisper",
            "itemtrace.audio.config": '{"language":"en"}',
        },
    )
    data.output = "hello"
    facts = {"itemtrace.audio.format": "pcm", "itemtrace.audio.size": 4}
    assert on_end(data, GROUP) == fine(
        "transcription", {**facts, "itemtrace.audio.text": "hello"}
    )
    assert on_end(data, WITHHELD) == fine("transcription", facts)


def test_speech():
    """Speech keeps its text, the size of its audio and when that began."""
    data = SpeechSpanData(input="hello", model="tts")
    assert on_start(data, BARE) == Start(
        "speech",
        CLIENT,
        {"gen_ai.output.type": "speech", "itemtrace.audio.model": "tts"},
    )
    data.output, data.first_content_at = "UklG", "2026-11-30T00:00:00Z"
    assert on_end(data, BARE) == fine(
        "speech",
        {
            "itemtrace.audio.format": "pcm",
            "itemtrace.audio.size": 4,
            "itemtrace.audio.text": "hello",
            "itemtrace.audio.first_content_at": "2026-11-30T00:00:00Z",
        },
    )


def test_speech_group():
    """A speech group has the whole text."""
    data = SpeechGroupSpanData("hello")
    assert on_start(data, ALONE) == Start("speech_group", INTERNAL, CLERK)
    assert on_end(data, ALONE) == fine(
        "speech_group", {"itemtrace.audio.text": "hello"}
    )


class Slotted:
    """Span data of a newer SDK, with slots and a dict."""

    __slots__ = ("__dict__", "amount", "unset")
    type = "payment"

    def __init__(self):
        self.amount = 3
        self.note = "late"


class Loose:
    """Span data with a single slot given as a string."""

    __slots__: ClassVar = "amount"  # noqa: PLC0205 - what is tested
    type = "loose"

    def __init__(self):
        self.amount = 4


def test_unknown_type_keeps_everything():
    """A span type of a newer SDK keeps all its fields, from slots and dict."""
    assert on_start(Slotted(), GROUP) == Start(
        "payment", INTERNAL, {**CONVERSATION, "itemtrace.sdk.span_type": "payment"}
    )
    assert on_end(Slotted(), GROUP) == fine(
        "payment", {"itemtrace.sdk.data": '{"amount":3,"note":"late"}'}
    )
    assert on_end(Loose(), GROUP) == fine(
        "loose", {"itemtrace.sdk.data": '{"amount":4}'}
    )
    assert on_end(Slotted(), WITHHELD) == fine("payment", {})


def test_registering_a_type():
    """A new span type is one registration."""
    try:
        register(
            "payment",
            lambda _data, _info: Start("pay", CLIENT, {}),
            lambda _data, _info: Named("pay", {"n": 1}),
        )
        assert on_start(Slotted(), BARE) == Start("pay", CLIENT, {})
        assert on_end(Slotted(), BARE) == fine("pay", {"n": 1})
    finally:
        del HANDLERS["payment"]


def test_error_of_an_exception():
    """The exception that the seam saw names the error; the SDK's words describe it."""
    info = dataclasses.replace(BARE, call=CallInfo(error=ValueError("bad sum")))
    assert on_end(Bare("turn"), info) == End(
        "turn", {"error.type": "ValueError"}, "ValueError", "bad sum"
    )
    error = {"message": "Error running tool", "data": None}
    assert on_end(Bare("turn"), info, error) == End(
        "turn", {"error.type": "ValueError"}, "ValueError", "Error running tool"
    )


NO_REQUEST: Any = None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyError("x"), "KeyError"),
        (
            APIError("m", NO_REQUEST, body={"code": "rate_limit_exceeded"}),
            "rate_limit_exceeded",
        ),
        (APIError("m", NO_REQUEST, body=None), "openai.APIError"),
        (SystemExit(3), "SystemExit"),
    ],
)
def test_error_type(error, expected):
    """A provider's code goes before the class; a number that is no provider's does not."""
    assert error_type(error) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (None, "_OTHER"),
        ({"message": "m", "data": None}, "_OTHER"),
        ({"message": "m", "data": {"error": "boom"}}, "_OTHER"),
        ({"message": "m", "data": {"code": "overloaded"}}, "overloaded"),
        ({"message": "m", "data": {"code": -32601}}, "-32601"),
        ({"message": "m", "data": {"code": ""}}, "_OTHER"),
    ],
)
def test_span_error_type(error, expected):
    """A span error is `_OTHER` unless its data names a code."""
    assert span_error_type(error) == expected
