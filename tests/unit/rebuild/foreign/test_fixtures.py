"""Real spans of other recorders: what of three small runs comes back from each."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import itemtrace
from itemtrace.ledger.gaps import GapCause
from itemtrace.rebuild import rebuild
from itemtrace.stores import open_store
from itemtrace.testing.synthetic import RunWriter, rows_of


GOLDEN = Path(__file__).parents[3] / "golden" / "foreign"
RESULTS = json.loads((GOLDEN / "results.json").read_text())
DESK, SHADES, PARCELS = RESULTS
WHOLE = ["openinference", "logfire"]
MESSAGES = ["genai", "traceloop"]


def path_of(name):
    """The fixture of a recorder."""
    return GOLDEN / ("sdk.json" if name == "sdk" else f"{name}.jsonl")


def runs_of(name):
    """The root runs that are read from a fixture."""
    return itemtrace.load(path_of(name)).runs


def rows(name):
    """The spans of a fixture."""
    with open_store(path_of(name)) as store:
        return [row for _, found in store.traces() for row in found]


def skeleton(run):
    """Type, agent and tool of each item."""
    return [(item.type, item.agent, item.tool_name) for item in run.new_items]


CALLS = [
    ("tool_call_item", "Orders", "stock_level"),
    ("tool_call_item", "Orders", "stock_level"),
    ("tool_call_item", "Orders", "translate"),
]
DESK_ITEMS = [
    ("handoff_call_item", "Desk", "transfer_to_orders"),
    ("handoff_output_item", "Desk", None),
    *CALLS,
    *[("tool_call_output_item", "Orders", None)] * 3,
    ("message_output_item", "Orders", None),
]
SHADES_ITEMS = [
    ("tool_call_item", "Clerk", "stock_level"),
    ("tool_call_output_item", "Clerk", None),
    ("message_output_item", "Clerk", None),
]


@pytest.mark.parametrize("name", WHOLE)
def test_whole_responses_give_the_run_back(name):
    """Where the recorder keeps whole responses, the input list is the SDK's own."""
    desk = runs_of(name)[0]
    assert desk.to_input_list() == DESK["to_input_list"]
    assert desk.input == DESK["input"]
    assert skeleton(desk) == [("reasoning_item", "Desk", None), *DESK_ITEMS]
    assert [response.response_id for response in desk.raw_responses] == [
        "resp_desk_0",
        "resp_orders_0",
        "resp_orders_1",
    ]


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_give_calls_outputs_and_texts(name):
    """Where it keeps messages, all but reasoning and item ids is there."""
    assert skeleton(runs_of(name)[0]) == DESK_ITEMS


@pytest.mark.parametrize("name", [*WHOLE, "genai", "sdk"])
def test_chat_completions(name):
    """A run on chat completions has its call, its output and its answer."""
    shades = runs_of(name)[1]
    assert skeleton(shades) == SHADES_ITEMS
    assert shades.input == "And shades?"
    assert [call.system for call in shades.model_calls] == ["Be brief."] * 2


@pytest.mark.parametrize("name", [*WHOLE, *MESSAGES, "contrib-v2"])
def test_ends_and_usage(name):
    """Final output, last agent and usage, nested runs included, are those of the SDK's result."""
    desk = runs_of(name)[0]
    usage = [desk.usage.requests, desk.usage.input_tokens, desk.usage.output_tokens]
    told = {
        "final_output": desk.final_output,
        "last_agent": desk.last_agent,
        "usage": usage,
    }
    assert told == {key: DESK[key] for key in told}
    assert desk.status == "completed"


@pytest.mark.parametrize("name", [*WHOLE, *MESSAGES])
def test_an_agent_as_a_tool_is_a_nested_run(name):
    """The translator's run stands under the call that started it, with its own items."""
    desk = runs_of(name)[0]
    [nested] = desk.runs
    assert (nested.agent, nested.parent_call_id, nested.input) == (
        "Translator",
        "call_t",
        "Seven lamps are left.",
    )
    assert nested.final_output == "ランプが七つ残っています。"
    assert [call.name for call in desk.tool_calls if call.runs] == ["translate"]


@pytest.mark.parametrize("name", [*WHOLE, *MESSAGES])
def test_handoffs(name):
    """Source and target of the handoff are named."""
    [handoff] = runs_of(name)[0].handoffs
    assert (handoff.source, handoff.target) == ("Desk", "Orders")


@pytest.mark.parametrize("name", WHOLE)
def test_inputs_of_model_calls(name):
    """What each call was sent comes back: the last one saw the whole list but its answer."""
    desk = runs_of(name)[0]
    assert desk.model_calls[-1].input == DESK["to_input_list"][:-1]
    assert desk.model_calls[0].input == DESK["to_input_list"][:1]


RECORDED_BY = {
    "openinference": "OpenInference (openinference.instrumentation.openai_agents 2.6.0)",
    "logfire": "Logfire (logfire.openai_agents 5.4.0)",
    "genai": "GenAI conventions (opentelemetry.instrumentation.genai.openai 1.3b0, opentelemetry.util.genai.handler 1.3b0)",
    "traceloop": "Traceloop (opentelemetry.instrumentation.openai_agents 0.62.4)",
    "contrib-v2": "GenAI conventions (opentelemetry.instrumentation.openai_agents)",
    "oa-otel": "GenAI conventions (openai.agents 0.4.1)",
    "sdk": "the SDK's exporter (openai-agents)",
}


@pytest.mark.parametrize("name", RECORDED_BY)
def test_each_run_says_who_recorded_it_and_what_is_lacking(name):
    """A run names its recorder and is never called exact; all its gaps are of one cause."""
    ledger = itemtrace.load(path_of(name))
    assert {run.recorded_by for run in ledger.all_runs()} == {RECORDED_BY[name]}
    assert all(run.own_gaps for run in ledger.all_runs())
    assert {gap.cause for gap in ledger.gaps} == {GapCause.NOT_CAPTURED}
    assert ledger.self_check() == []
    assert len(ledger.trace_ids) == len(
        {run.trace_id or run.run_id for run in ledger.runs}
    )


@pytest.mark.parametrize("name", [*WHOLE, *MESSAGES, "contrib-v2", "sdk"])
def test_a_tool_that_ends_the_run(name):
    """The run failed, its tool failed and has no output, and both say why."""
    run = runs_of(name)[2]
    [made] = run.tool_calls
    assert (run.status, run.final_output) == ("failed", None)
    assert (made.name, made.status, made.output) == ("parcel_status", "failed", None)
    assert PARCELS["error"] in f"{run.error.message} {run.error.data}"
    assert "the carrier does not know 1042" in f"{made.error.message} {made.error.data}"


def test_the_gaps_of_a_run():
    """Each lack is one gap, in words."""
    lacks = [
        gap.message.split("did not record ")[1]
        for gap in runs_of("openinference")[1].own_gaps
    ]
    assert lacks == [
        "approvals, sessions, guardrail results and the request ids of responses",
        "ids and provider data of items that came as chat messages",
        "ids of tool calls on the spans that executed them",
        "which fields of an item were unset and which null",
    ]


def test_a_missing_output_is_read_from_the_next_input():
    """Traceloop writes no output of chat completions: all but the last are in later inputs."""
    shades = runs_of("traceloop")[1]
    assert skeleton(shades) == SHADES_ITEMS[:2]
    messages = {gap.message.split("did not record ")[1] for gap in shades.own_gaps}
    assert (
        "some outputs of models: they were read from the next call's input" in messages
    )
    assert "the output of 1 of 2 model calls" in messages


def test_an_exporter_without_content_has_the_tools():
    """The SDK's payload has no content of responses: executions stand for calls, under their spans' ids."""
    desk = runs_of("sdk")[0]
    assert skeleton(desk) == [
        pair
        for call in CALLS
        for pair in (call, ("tool_call_output_item", "Orders", None))
    ]
    assert [
        item.output for item in desk.new_items if item.type == "tool_call_output_item"
    ][:2] == ["7 lamps"] * 2
    assert (desk.workflow, desk.group, desk.trace_id) == (
        "Order desk",
        "customer-1",
        "trace_00000000000000000000000000000001",
    )
    assert [run.parent_call_id for run in desk.runs] == [desk.tool_calls[2].call_id]


def test_python_reprs_are_named():
    """A recorder that writes Python reprs in place of items is said to."""
    messages = [gap.message for gap in runs_of("contrib-v2")[0].own_gaps]
    assert any("Python reprs, kept here as texts" in message for message in messages)


def test_events_have_messages_too():
    """Messages and tool arguments on span events are read like those in attributes."""
    [run] = runs_of("oa-otel")
    assert [(item.type, item.tool_name) for item in run.new_items] == [
        (kind, tool) for kind, _, tool in SHADES_ITEMS
    ]


def test_a_trace_of_ours_stays_ours():
    """Spans of other recorders in a trace of ours are ignored, whichever comes first."""
    run = RunWriter("00000000000000a1")
    run.add("begin", started=1, agent="Desk", input="Hello")
    run.add("end", status="completed", items=[])
    run.seal()
    foreign = rows("openinference")
    mine = rows_of(run.records, trace_id=foreign[0].trace_id)
    others = [row for row in foreign if row.trace_id == foreign[0].trace_id]
    for given in ([*mine, *others], [*others, *mine]):
        for scope in ("itemtrace", ""):
            ledger = rebuild(replace(r, scope=scope) if r in mine else r for r in given)
            assert [found.run_id for found in ledger.runs] == ["00000000000000a1"]
            assert ledger.exact
            assert ledger.runs[0].recorded_by == "itemtrace"


def test_a_trace_with_records_under_other_keys_stays_ours():
    """A backend that drops scopes and renames keys still leaves the records, and the trace is ours."""
    run = RunWriter("00000000000000a1")
    run.add("begin", started=1, agent="Desk", input="Hello")
    run.add("end", status="completed", items=[])
    run.seal()
    foreign = rows("openinference")
    mine = [
        replace(
            row, attributes={f"x{key}": value for key, value in row.attributes.items()}
        )
        for row in rows_of(run.records, trace_id=foreign[0].trace_id)
    ]
    others = [row for row in foreign if row.trace_id == foreign[0].trace_id]
    ledger = rebuild([*others, *mine])
    assert [found.run_id for found in ledger.runs] == ["00000000000000a1"]


@pytest.mark.parametrize("name", RECORDED_BY)
def test_order_and_doubles_change_nothing(name):
    """Rows in reverse, and twice, give the same ledger."""
    found = rows(name)
    assert rebuild([*reversed(found), *found]) == rebuild(found)


@pytest.mark.parametrize("name", RECORDED_BY)
def test_a_copy_that_was_cut_loses_to_the_whole_one(name):
    """Of two copies of a span the fuller one is read."""
    found = rows(name)
    less = [
        replace(row, attributes=dict(list(row.attributes.items())[:1])) for row in found
    ]
    assert rebuild([*less, *found]) == rebuild(found)
