"""What each dialect reads of spans that the fixtures do not have, and how runs are put together."""

import json

import pytest

from itemtrace.codec.spans import SpanRow
from itemtrace.ledger.gaps import GapCause
from itemtrace.rebuild import rebuild
from itemtrace.rebuild.foreign import content, openinference
from itemtrace.rebuild.foreign.steps import count, error_of, parsed, usage_of


TRACE = "0" * 31 + "1"


def span(number, parent=0, **fields):
    """A span that starts at its number."""
    known = {
        "start_ns": number * 1000,
        "end_ns": number * 1000 + 500,
        "parent_id": f"{parent:016x}" if parent else "",
    }
    return SpanRow(TRACE, f"{number:016x}", **{**known, **fields})


def chat(number, parent=0, given=None, got=None, **attributes):
    """A model call of the GenAI conventions."""
    said = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    if given is not None:
        said["gen_ai.input.messages"] = json.dumps(given)
    if got is not None:
        said["gen_ai.output.messages"] = json.dumps(got)
    return span(number, parent, attributes={**said, **attributes})


def agent(number, name="Clerk", **fields):
    """An agent's span of the GenAI conventions."""
    said = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return span(number, attributes=said, **fields)


def tool(number, parent=0, name="look", arguments="{}", **more):
    """A tool's span of the GenAI conventions."""
    said = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": arguments,
    }
    fields = {
        key: more.pop(key)
        for key in ("status", "status_message", "events")
        if key in more
    }
    return span(number, parent, attributes={**said, **more}, **fields)


def user(text):
    """A message of the user, of the conventions."""
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def call(call_id, name="look", arguments=None):
    """A message with a tool call, of the conventions."""
    part = {
        "type": "tool_call",
        "id": call_id,
        "name": name,
        "arguments": arguments or {},
    }
    return {"role": "assistant", "parts": [part]}


def only(*rows):
    """The only run of rows."""
    ledger = rebuild(rows)
    assert ledger.self_check() == []
    [run] = ledger.runs
    return run


def lacks(run):
    """What a run says was not recorded."""
    return [gap.message.split("did not record ")[-1] for gap in run.own_gaps]


def raws(run):
    """The raw items of a run."""
    return [item.raw for item in run.new_items]


MESSAGE = {
    "content": [{"annotations": [], "text": "Hi", "type": "output_text"}],
    "role": "assistant",
    "type": "message",
}


# --- GenAI conventions -----------------------------------------------------------------


def test_earlier_events_are_chat_messages():
    """Events of one message each, as the first conventions had them."""
    events = [
        {"name": "gen_ai.system.message", "attributes": {"content": "S"}},
        {"name": "gen_ai.user.message", "attributes": {"content": "U"}},
        {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": '[{"id": "c", "function": {"name": "f"}}]'}},
        {"name": "gen_ai.tool.message", "attributes": {"id": "c", "content": "7"}},
        {"name": "gen_ai.choice", "attributes": {"message": '{"content": "Hi"}'}},
        {"name": "other", "attributes": None},
    ]  # fmt: skip
    run = only(
        span(1, attributes={"gen_ai.operation.name": "chat"}, events=tuple(events))
    )
    [made] = run.model_calls
    assert made.system == "S"
    assert made.input == [
        {"role": "user", "content": "U"},
        {"arguments": "{}", "name": "f", "type": "function_call", "call_id": "c"},
        {"call_id": "c", "output": "7", "type": "function_call_output"},
    ]
    assert raws(run) == [MESSAGE]


def test_structured_messages_and_usage_in_any_number():
    """Backends may have parsed the JSON, and made numbers texts or floats."""
    said = {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.input.messages": [user("U")],
        "gen_ai.output.messages": [
            {"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]}
        ],
        "gen_ai.system_instructions": [{"type": "text", "content": "S"}],
        "gen_ai.tool.definitions": [{"name": "f"}],
        "gen_ai.usage.input_tokens": "3",
        "gen_ai.usage.output_tokens": 4.0,
        "gen_ai.usage.cache_read.input_tokens": 2,
        "gen_ai.usage.reasoning_tokens": 1,
    }
    run = only(span(1, attributes=said))
    assert (run.input, raws(run), run.model_calls[0].tools) == (
        "U",
        [MESSAGE],
        [{"name": "f"}],
    )
    assert run.model_calls[0].system == "S"
    usage = run.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (3, 4, 7)
    assert usage.input_tokens_details == {"cached_tokens": 2}
    assert usage.output_tokens_details == {"reasoning_tokens": 1}


def test_parts_without_a_name_stay_in_their_message():
    """Pictures and the like are kept as they are, in a message of their role."""
    part = {"type": "uri", "uri": "https://x/y.png"}
    run = only(chat(1, given=[{"role": "user", "parts": [part, {}]}, {"role": "system", "parts": [{"type": "text", "content": "late"}]}]))  # fmt: skip
    assert run.model_calls[0].input == [
        {"role": "user", "content": [part]},
        {"role": "system", "content": "late"},
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", 7),
        ("x", 0),
        ("9" * 40, 0),
        (7.9, 7),
        (True, 0),
        (-1, 0),
        (float("nan"), 0),
        (None, 0),
    ],
)
def test_counts(value, expected):
    """Numbers of tokens come as any type, and nonsense is none."""
    assert count(value) == expected


def test_usage_of_nothing():
    """No usage is none."""
    assert usage_of(None) is None
    assert usage_of({"input_tokens": 1}) == [1, 1, 0, 1, {}, {}]
    assert parsed("{") is None


def test_errors_come_from_status_and_events():
    """An exception event says what the status does not."""
    event = {
        "name": "exception",
        "attributes": {"exception.type": "E", "exception.message": "m"},
    }
    assert error_of(span(1, status="ERROR", events=(event,))) == ("E", "m")
    typed = span(1, status="ERROR", status_message="s", attributes={"error.type": "T"})
    assert error_of(typed) == ("T", "s")
    assert error_of(span(1, status="ERROR", events=({"name": "x"},))) == ("", "")


# --- runs ---------------------------------------------------------------------------------


def test_a_failed_call_ends_the_run_as_failed():
    """The error of the last call is the run's, and there is no final output."""
    run = only(
        agent(1, status="ERROR", status_message="boom", end_ns=9_000),
        chat(2, 1, given=[user("U")], **{"error.type": "E"}),
    )
    assert (run.status, run.error.message, run.final_output) == ("failed", "boom", None)


def test_a_failed_model_call_has_no_response():
    """A call that raised has its error in place of a response."""
    failed = span(
        1,
        attributes={"gen_ai.operation.name": "chat", "error.type": "E"},
        status="ERROR",
    )
    run = only(failed)
    assert run.model_calls[0].response is None
    assert (run.model_calls[0].error.type, run.status) == ("E", "failed")


def test_an_unanswered_call_leaves_the_run_open():
    """Nobody knows how a run went on whose call has no output: it has no end."""
    run = only(chat(1, given=[user("U")], got=[call("c1")]))
    assert (run.status, run.end, run.sealed) == ("unsealed", {}, False)
    assert [made.status for made in run.tool_calls] == ["pending"]
    assert GapCause.UNSEALED in {gap.cause for gap in run.own_gaps}


def test_a_tool_that_failed_is_an_execution_without_output():
    """Its error is kept with the call, asked or not."""
    run = only(
        chat(1, given=[user("U")], got=[call("c1")]),
        tool(2, status="ERROR", status_message="no"),
        tool(3, name="other", status="ERROR", status_message="no too"),
    )
    found = [
        (made.call_id, made.name, made.status, made.error.message)
        for made in run.tool_calls
    ]
    assert found == [
        ("c1", "look", "failed", "no"),
        (f"{3:016x}", "other", "failed", "no too"),
    ]


def test_outputs_of_a_last_tool_come_from_its_span():
    """A run that stops at a tool has the output where arguments tell which call it was."""
    run = only(
        chat(
            1,
            given=[user("U")],
            got=[call("c1", arguments={"a": 1}), call("c2", arguments={"a": 2})],
        ),
        tool(2, arguments='{"a": 2}', **{"gen_ai.tool.call.result": "two"}),
        tool(3, arguments='{"a": 1}', **{"gen_ai.tool.call.result": '{"n": 1}'}),
    )
    assert raws(run)[2:] == [
        {"call_id": "c1", "output": '{"n": 1}', "type": "function_call_output"},
        {"call_id": "c2", "output": "two", "type": "function_call_output"},
    ]
    assert (run.status, run.final_output) == ("completed", None)


def test_equal_calls_with_different_outputs_are_named():
    """Which of two equal calls gave which output cannot be told, and a gap says so."""
    run = only(
        chat(1, given=[user("U")], got=[call("c1"), call("c2")]),
        tool(2, **{"gen_ai.tool.call.result": "1"}),
        tool(3, **{"gen_ai.tool.call.result": "2"}),
    )
    assert "which of several equal calls gave which output" in lacks(run)


def test_call_ids_on_tools_decide():
    """Where a tool's span has the call's id, equal calls are told apart."""
    run = only(
        chat(1, given=[user("U")], got=[call("c1"), call("c2")]),
        tool(2, **{"gen_ai.tool.call.result": "2", "gen_ai.tool.call.id": "c2"}),
        tool(3, **{"gen_ai.tool.call.result": "1", "gen_ai.tool.call.id": "c1"}),
        tool(
            4,
            name="own",
            **{"gen_ai.tool.call.result": "3", "gen_ai.tool.call.id": "c3"},
        ),
    )
    assert [made.output.output for made in run.tool_calls] == ["1", "2", "3"]
    assert not any("their spans stand" in lack for lack in lacks(run))


def test_agents_without_models_have_their_tools():
    """Where no model call was recorded, executions stand alone."""
    run = only(
        agent(1, end_ns=9_000),
        tool(2, 1, **{"gen_ai.tool.call.result": "7"}),
        tool(3, 1),
    )
    assert [(item.type, item.agent) for item in run.new_items] == [
        ("tool_call_item", "Clerk"),
        ("tool_call_output_item", "Clerk"),
        ("tool_call_item", "Clerk"),
    ]


def test_tools_alone_are_no_run():
    """A trace of tool executions only, as an MCP server's, is no run of an agent."""
    assert rebuild([tool(1)]).runs == ()


def test_an_input_that_was_rewritten_is_kept_whole():
    """A call whose input does not go on from the one before has its own."""
    run = only(
        chat(
            1,
            given=[user("A")],
            got=[{"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]}],
        ),
        chat(2, given=[user("B"), user("C")]),
    )
    assert [made.input for made in run.model_calls] == [
        [{"role": "user", "content": "A"}],
        [{"role": "user", "content": "B"}, {"role": "user", "content": "C"}],
    ]


def test_several_messages_are_the_input_as_a_list():
    """Only a single message of the user is taken for a text."""
    run = only(chat(1, given=[user("A"), user("B")]))
    assert run.input == [
        {"role": "user", "content": "A"},
        {"role": "user", "content": "B"},
    ]
    assert only(chat(1, given=[call("c")])).input[0]["type"] == "function_call"


def test_spans_in_a_circle_do_no_harm():
    """Parents that go round, which only a forged trace has, end the search."""
    run = only(chat(1, 2, given=[user("A")]), agent(2, parent_id=f"{1:016x}"))
    assert run.input == "A"


def test_a_run_is_never_its_own_parent():
    """A run whose own tool is said to have started it is a root."""
    kind = "openinference.span.kind"
    run = only(
        span(1, 2, name="task", attributes={kind: "CHAIN"}),
        span(2, 1, attributes={kind: "TOOL", "tool.name": "t", "output.value": "7"}),
        span(3, 1, attributes={kind: "AGENT", "agent.name": "Clerk"}),
    )
    assert (run.agent, run.nested, run.runs) == ("Clerk", False, ())


def test_two_runs_of_one_tool_are_in_order():
    """A tool that runs an agent twice has both, the first as 0, the second as 1."""
    kind = "openinference.span.kind"
    ledger = rebuild(
        [
            span(1, attributes={kind: "AGENT", "agent.name": "Clerk"}, end_ns=99_000),
            span(2, 1, attributes={kind: "TOOL", "tool.name": "t", "tool.id": "c1", "output.value": "7"}),
            span(3, 2, name="task", attributes={kind: "CHAIN"}),
            span(4, 3, attributes={kind: "AGENT", "agent.name": "A"}),
            span(5, 2, name="task", attributes={kind: "CHAIN"}),
            span(6, 5, attributes={kind: "AGENT", "agent.name": "B"}),
        ]
    )  # fmt: skip
    [outer] = ledger.runs
    places = [
        (run.agent, run.begin["parent"]["call"], run.begin["parent"]["n"])
        for run in outer.runs
    ]
    assert places == [("A", "c1", 0), ("B", "c1", 1)]
    assert ledger.self_check() == []


def test_a_model_call_inside_a_tool_is_a_run_of_that_tool():
    """What a tool asked a model is under its call."""
    run = only(
        agent(1, end_ns=9_000),
        chat(2, 1, given=[user("U")], got=[call("c1")]),
        tool(3, 1, **{"gen_ai.tool.call.result": "7"}),
        chat(4, 3, given=[user("inner")]),
    )
    assert [(nested.input, nested.parent_call_id) for nested in run.runs] == [
        ("inner", "c1")
    ]
    assert run.runs[0].agent is None


def test_content_is_never_an_escape():
    """A message with a key of our own notation comes back as it is."""
    given = [{"role": "user", "parts": [{"type": "x", "$it": "ref", "s": 1}]}]
    run = only(chat(1, given=given))
    assert run.model_calls[0].input == [
        {"role": "user", "content": [{"type": "x", "$it": "ref", "s": 1}]}
    ]


# --- OpenInference ----------------------------------------------------------------------


def test_flattened_messages_are_read_where_values_are_gone():
    """The raw copies are the first that a full span loses; the flat ones give what they have."""
    said = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "m",
        "llm.token_count.prompt": 3,
        "llm.token_count.completion": 4,
        "llm.token_count.prompt_details.cache_read": 2,
        "llm.token_count.completion_details.reasoning": 1,
        "llm.tools.0.tool.json_schema": '{"name": "f"}',
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "S",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.contents.0.message_content.text": "U",
        "llm.input_messages.1.message.other": "x",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Hi",
        "llm.output_messages.0.message.contents.0.message_content.text": "unused",
        "llm.output_messages.1.message.role": "assistant",
        "llm.output_messages.1.message.tool_calls.0.tool_call.id": "c",
        "llm.output_messages.1.message.tool_calls.0.tool_call.function.name": "f",
    }
    run = only(span(1, attributes=said))
    [made] = run.model_calls
    assert (made.system, made.input, made.tools) == (
        "S",
        [{"role": "user", "content": "U"}],
        [{"name": "f"}],
    )
    assert raws(run) == [
        MESSAGE,
        {"arguments": "{}", "name": "f", "type": "function_call", "call_id": "c"},
    ]
    assert "whole inputs: what is there was read from flattened messages" in lacks(run)
    assert openinference.usage({}) is None


def test_kinds_of_openinference_that_are_no_steps():
    """A retriever, an MCP listing and a metadata root do not disturb."""
    kind = "openinference.span.kind"
    root = span(
        1,
        name="Shop",
        attributes={kind: "AGENT", "metadata": '{"a": 1}', "session.id": "g"},
    )
    run = only(
        root,
        span(2, 1, attributes={kind: "RETRIEVER"}),
        span(3, 1, name="mcp_tools", attributes={kind: "CHAIN"}),
        span(
            4, 1, attributes={kind: "LLM", "input.value": "U", "output.value": "plain"}
        ),
    )
    assert (run.workflow, run.metadata, run.group) == ("Shop", {"a": 1}, "g")


# --- Traceloop ------------------------------------------------------------------------------


def test_older_traceloop_attributes():
    """Numbered prompts and completions, and entities in place of operations."""
    model = {
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": "S",
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": "U",
        "gen_ai.prompt.1.extra": "x",
        "gen_ai.prompt.x.role": "no number",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "c",
        "gen_ai.completion.0.tool_calls.0.name": "look",
        "gen_ai.completion.0.tool_calls.0.arguments": "{}",
    }
    kind = "traceloop.span.kind"
    run = only(
        span(1, name="shop.workflow", attributes={kind: "workflow"}, end_ns=99_000),
        span(2, 1, name="Clerk.agent", attributes={kind: "agent"}, end_ns=98_000),
        span(3, 2, attributes=model),
        span(4, 2, name="x", attributes={
            kind: "tool", "traceloop.entity.name": "look",
            "traceloop.entity.input": '{"inputs": {}}', "traceloop.entity.output": '{"output": "7"}',
        }),
        span(5, 2, attributes={kind: "task"}),
    )  # fmt: skip
    assert (run.agent, run.workflow, run.input) == ("Clerk", "shop.workflow", "U")
    assert run.model_calls[0].system == "S"
    assert [made.output.output for made in run.tool_calls] == ["7"]


# --- Logfire and the SDK's payload ------------------------------------------------------


def test_logfire_without_content():
    """Where content was scrubbed or not sent, calls are there without it."""
    scope = "logfire.openai_agents"
    template = "logfire.msg_template"
    run = only(
        span(
            1,
            scope=scope,
            attributes={template: "Responses API with x", "response": "[Scrubbed]"},
        ),
        span(
            2,
            scope=scope,
            attributes={template: "Chat completion with x", "input": "null"},
        ),
        span(3, scope=scope, attributes={template: "Guardrail: x"}),
    )
    assert [(made.api, made.input) for made in run.model_calls] == [
        ("responses", []),
        ("chat_completions", []),
    ]
    assert "the output of 2 of 2 model calls" in lacks(run)


def test_the_sdks_payload_without_content():
    """A generation without messages, and a type that nobody knows, do no harm."""
    key = "agents.span_data"
    run = only(
        span(1, attributes={key: {"type": "generation", "model": "m"}}),
        span(2, attributes={key: {"type": "guardrail", "name": "g"}}),
    )
    assert [(made.model, made.input) for made in run.model_calls] == [("m", [])]


# --- content --------------------------------------------------------------------------------


def test_chat_content_in_blocks_stays():
    """Content in blocks, and roles without a rule, stay messages; what is nothing is left out."""
    given = [
        {"role": "assistant", "content": [{"type": "refusal"}]},
        {"role": "user", "content": "U"},
        {},
        7,
    ]
    assert content.from_chat(given) == (None, given[:2])
    assert content.items_of("U") == [{"content": "U", "role": "user"}]
    assert content.items_of(7) is None


def test_outputs_that_are_no_text_are_json():
    """A structured result is JSON text, a list of blocks stays."""
    assert content.call_output("c", {"a": 1})["output"] == '{"a":1}'
    assert content.call_output(None, [1]) == {
        "output": [1],
        "type": "function_call_output",
    }
