"""Every item type of the installed `openai` package, and those that nobody knows yet."""

import typing
from collections.abc import Iterable

import pytest
from agents import Agent, CustomTool, HostedMCPTool, Runner, ShellTool
from openai import BadRequestError
from openai.types.responses import ResponseInputItemParam, ResponseOutputItem
from typing_extensions import get_type_hints

from itemtrace.codec import canonical
from itemtrace.ledger import checks
from itemtrace.testing import items as make
from itemtrace.testing.items import message
from itemtrace.testing.strategies import members


def literal(kind):
    """The values of a class's `type` field."""
    fields = getattr(kind, "model_fields", None)
    hint = fields["type"].annotation if fields else get_type_hints(kind).get("type")
    return [value for value in typing.get_args(hint) if isinstance(value, str)]


def types_of(union) -> set[str]:
    """Every value that `type` may have in a union of item classes."""
    return {name for kind in members(union).values() for name in literal(kind)}


OUTPUTS: dict[str, dict] = {
    item["type"]: item
    for item in (
        message("Ahoy.", "msg_x"),
        make.reasoning("rs_1", "gAAAA-think", "Think."),
        make.function_call("nothing", "call_f", a=[1, None, "é"]),
        make.custom_tool_call("shout", "call_c", "ahoy"),
        make.web_search_call("ws_1", "tides"),
        make.file_search_call("fs_1", "charts"),
        make.code_interpreter_call("ci_1", "1 + 1", "2"),
        make.image_generation_call("ig_1", "iVBORw0KGgo="),
        make.mcp_list_tools("mcpl_1", "harbour", "tide"),
        make.mcp_call("mcp_1", "harbour", "tide", "high"),
        make.mcp_approval_request("mcpr_1", "harbour", "open_lock"),
        make.shell_call("call_s", "ls"),
        make.apply_patch_call("call_p", "a.txt", "@@"),
        make.compaction("cmp_1", "gAAAA-compact"),
        {
            "type": "computer_call",
            "id": "cu_1",
            "call_id": "call_cu",
            "status": "completed",
            "pending_safety_checks": [],
            "action": {"type": "screenshot"},
        },
        {
            "type": "local_shell_call",
            "id": "ls_1",
            "call_id": "call_ls",
            "status": "completed",
            "action": {"type": "exec", "command": ["ls"], "env": {}},
        },
        {"type": "tool_search_call", "id": "ts_1", "arguments": {"q": "tide"},
         "call_id": "call_ts", "execution": "server", "status": "completed"},
        {"type": "tool_search_output", "id": "tso_1", "call_id": "call_ts",
         "execution": "server", "status": "completed", "tools": []},
        {"type": "function_call_output", "id": "fco_1", "call_id": "call_z",
         "output": "made by the server", "status": "completed"},
        {"type": "custom_tool_call_output", "id": "cto_1", "call_id": "call_z",
         "output": "made by the server"},
        {"type": "computer_call_output", "id": "cuo_1", "call_id": "call_cu",
         "status": "completed", "output": {"type": "computer_screenshot", "file_id": "f_1"}},
        {"type": "local_shell_call_output", "id": "lso_1", "output": "a.txt"},
        {"type": "shell_call_output", "id": "sho_1", "call_id": "call_s",
         "status": "completed", "max_output_length": None,
         "output": [{"stdout": "a.txt", "stderr": "",
                     "outcome": {"type": "exit", "exit_code": 0}}]},
        {"type": "apply_patch_call_output", "id": "apo_1", "call_id": "call_p",
         "status": "completed", "output": "done"},
        {"type": "mcp_approval_response", "id": "mcpa_1",
         "approval_request_id": "mcpr_1", "approve": True},
        {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": []},
        {"type": "program", "id": "pg_1", "call_id": "call_pg", "code": "1",
         "fingerprint": "f"},
        {"type": "program_output", "id": "pgo_1", "call_id": "call_pg",
         "result": "1", "status": "completed"},
    )
}  # fmt: skip
"""One output item of every type, as the API would send it."""

INPUT_ONLY = {"item_reference", "compaction_trigger", "configuration_update"}
"""Types that only a caller sends."""


def test_every_output_type_is_here():
    """A type that a release of `openai` adds is noticed here first."""
    assert types_of(ResponseOutputItem) - set(OUTPUTS) == set()


def test_every_input_type_is_here():
    """So is one that only inputs have."""
    assert types_of(ResponseInputItemParam) - set(OUTPUTS) - INPUT_ONLY == set()


async def answered(provide, item, **more):
    """Runs an agent whose model answers with one item and then a message; returns how it ended."""
    fake = provide({"m": [[item, message("Done.", "msg_9")]]}, strict=False)
    agent = Agent(name="Any", model=fake.responses_model("m"), **more)
    try:
        return await Runner.run(agent, "Go.")
    except Exception as error:  # noqa: BLE001 - some types need a tool; the response is kept all the same
        return error


@pytest.mark.parametrize("kind", sorted(OUTPUTS))
async def test_output_item(kind, provide, proved, recorded):
    """An item of each type in a response comes back whole, whatever the SDK makes of it."""
    item = OUTPUTS[kind]
    ended = await answered(provide, item)
    (run,) = proved(ended)
    (call,) = run.model_calls
    got = call.response.items[0].raw
    assert canonical.dumps(got) != "{}"
    missing = {
        key: value for key, value in item.items() if key not in got or got[key] != value
    }
    assert missing == {}


@pytest.mark.parametrize("kind", sorted(OUTPUTS))
async def test_input_item(kind, provide, proved):
    """An item of each type in the caller's input is what the model was sent, and comes back."""
    given = [{"role": "user", "content": "Go."}, dict(OUTPUTS[kind])]
    fake = provide({"m": [[message("Done.", "msg_9")]]}, strict=False)
    agent = Agent(name="Any", model=fake.responses_model("m"))
    (run,) = proved(await Runner.run(agent, given))
    assert run.input == given
    assert run.model_calls[0].input[1]["type"] == kind


async def test_input_references(provide, proved):
    """References to items on the server, and roles without a type, are inputs too."""
    given = [
        {"type": "item_reference", "id": "msg_far"},
        {"role": "system", "content": "Short."},
        {"role": "developer", "content": [{"type": "input_text", "text": "Very."}]},
        {
            "role": "user",
            "content": [
                {"type": "input_image", "image_url": "https://x.example/1.png"},
                {"type": "input_file", "file_id": "file_1"},
            ],
        },
    ]
    fake = provide({"m": [[message("Done.")]]}, strict=False)
    agent = Agent(name="Any", model=fake.responses_model("m"))
    (run,) = proved(await Runner.run(agent, given))
    assert run.input == given == run.model_calls[0].input


UNKNOWN = {
    "type": "hologram_call",
    "id": "holo_1",
    "status": "completed",
    "beam": {"colours": [1, None, "é"], "n": -0.0},
}


async def test_unknown_type(provide, proved):
    """A type that no SDK knows keeps all its fields, and its own type, on every surface."""
    fake = provide(
        {"m": [[UNKNOWN, message("Done.", "msg_1")], [message("As I said.")]]}
    )
    agent = Agent(name="Any", model=fake.responses_model("m"))
    first = await Runner.run(agent, "Go.")
    given = [*first.to_input_list(), {"role": "user", "content": "Go on."}]
    second = await Runner.run(agent, given)
    run, again = proved(first, second)
    assert run.new_items[0].raw_type == "hologram_call"
    assert {key: run.new_items[0].raw[key] for key in UNKNOWN} == UNKNOWN
    assert again.model_calls[0].input[1]["beam"] == UNKNOWN["beam"]


async def test_lone_surrogate(provide, proved):
    """Half a character in a model's text comes back as it was."""
    text = "half \ud83d and other half \ude00, a nul \x00 and \u2028"
    fake = provide({"m": [[message(text)]]})
    agent = Agent(name="Any", model=fake.responses_model("m"))
    (run,) = proved(await Runner.run(agent, "Go."))
    assert run.final_output == text


async def test_placeholder_ids(provide, proved):
    """Items that share a placeholder id are not merged; the placeholder is flagged."""
    fake = provide(
        {"m": [[message("High.", "__fake_id__"), message("Low.", "__fake_id__")]]}
    )
    agent = Agent(name="Any", model=fake.responses_model("m"))
    (run,) = proved(await Runner.run(agent, "Go."))
    assert [item.text for item in run.new_items] == ["High.", "Low."]
    codes = {problem.code for problem in checks.check(run.to_input_list())}
    assert codes == {"placeholder_id"}


async def shout(context, text):
    """A custom tool."""
    return text.upper()


async def test_local_families(provide, proved):
    """Custom tool, hosted MCP approval and a shell call that nobody answers."""
    shell = OUTPUTS["shell_call"] | {
        "environment": {"type": "container_reference", "container_id": "cntr_1"}
    }
    local = [OUTPUTS["custom_tool_call"], OUTPUTS["mcp_approval_request"], shell]
    fake = provide({"m": [local, [message("Ahoy!", "msg_4")]]})
    harbour = HostedMCPTool(
        tool_config={
            "type": "mcp",
            "server_label": "harbour",
            "server_url": "https://harbour.example/mcp",
            "require_approval": "always",
        },
        on_approval_request=lambda _: {"approve": True},
    )
    agent = Agent(
        name="Local",
        model=fake.responses_model("m"),
        tools=[
            CustomTool(name="shout", description="Shouts.", on_invoke_tool=shout),
            ShellTool(environment={"type": "container_auto"}),
            harbour,
        ],
    )
    first = await Runner.run(agent, "Go.")
    given = [*first.to_input_list(), {"role": "user", "content": "Go on."}]
    with pytest.raises(BadRequestError) as refused:
        await Runner.run(agent, given)
    run, _ = proved(first, refused.value)
    assert [item.raw_type for item in run.new_items[:3]] == [
        "custom_tool_call",
        "mcp_approval_request",
        "shell_call",
    ]
    sent = run.model_calls[1].input
    assert sent == fake.requests[1]["input"]
    assert "shell_call" not in {item.get("type") for item in sent}
    calls = {call.call_id: call for call in run.tool_calls}
    assert calls["call_c"].output.output == "AHOY"
    assert (calls["call_s"].status, calls["call_s"].output) == ("pending", None)
    found = [(p.code, p.call_id) for p in checks.check(run.to_input_list())]
    assert [each[1] for each in found] == ["call_s"]


def all_strings(value) -> Iterable[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from all_strings(child)
    elif isinstance(value, list):
        for child in value:
            yield from all_strings(child)


async def test_all_at_once(provide, proved):
    """A response with every hosted type in one is kept in order, with each text once."""
    hosted = [
        OUTPUTS[kind]
        for kind in (
            "reasoning",
            "web_search_call",
            "file_search_call",
            "code_interpreter_call",
            "image_generation_call",
            "mcp_list_tools",
            "mcp_call",
            "compaction",
            "tool_search_call",
            "tool_search_output",
        )
    ]
    fake = provide({"m": [[*hosted, message("All.", "msg_2")]]})
    agent = Agent(name="Any", model=fake.responses_model("m"))
    (run,) = proved(await Runner.run(agent, "Go."))
    assert [item.raw_type for item in run.new_items][:-1] == [
        item["type"] for item in hosted
    ]
    kept = set(all_strings([item.raw for item in run.new_items]))
    assert set(all_strings(hosted)) <= kept
