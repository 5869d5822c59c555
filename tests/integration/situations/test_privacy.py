"""Content that must not be recorded, and redactions: nothing of it anywhere in the export."""

from hashlib import sha256
from typing import Any

import pytest
from agents import (
    Agent,
    RunConfig,
    Runner,
    UserError,
    function_tool,
)

import itemtrace
from itemtrace.codec.canonical import Placeholder
from itemtrace.ledger import GapCause
from itemtrace.testing import conformance
from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.recorder import SpanRecorder


SECRET = "hunter2"  # noqa: S105 - the point of this file
OFF = RunConfig(trace_include_sensitive_data=False, trace_metadata={"who": SECRET})


async def plain(agent, given, **more):
    """`Runner.run`."""
    return await Runner.run(agent, given, **more)


async def streamed(agent, given, **more):
    """`Runner.run_streamed`, to its end."""
    result = Runner.run_streamed(agent, given, **more)
    async for _ in result.stream_events():
        pass
    return result


WAYS = pytest.mark.parametrize("way", [plain, streamed])


def leaks(recorder):
    """Every place of the export where the secret is."""
    found = []
    for span in recorder.spans():
        places = {
            "name": span.name,
            "status": str(span.status.description),
            **dict(span.attributes),
            **{f"event {event.name}": str(event.attributes) for event in span.events},
        }
        found += [(span.name, key) for key, v in places.items() if SECRET in str(v)]
    return found


@function_tool
async def unlock(code: str) -> str:
    """Unlocks the safe."""
    return f"open with {code}"


@function_tool
async def force(code: str) -> str:
    """Forces the safe."""
    msg = f"{code} does not fit"
    raise PermissionError(msg)


@function_tool(failure_error_function=None)
async def blow_up(code: str) -> str:
    """Blows the safe up."""
    msg = f"boom, {code}"
    raise ValueError(msg)


def safe(fake, *tools):
    """An agent whose every text has the secret in it."""
    return Agent(
        name="Safe",
        instructions=f"The code is {SECRET}.",
        model=fake.responses_model("inner"),
        tools=list(tools),
    )


@WAYS
async def test_nested_agent(way, provide, recorded):
    """Structure, names and usage are there; no text of any kind is, of the nested run neither."""
    fake = provide(
        {
            "outer": [
                [
                    reasoning("rs_1", f"gAAAA-{SECRET}", f"Think of {SECRET}."),
                    function_call("ask_safe", "call_1", input=f"open {SECRET}"),
                ],
                [message(f"It said {SECRET}.")],
            ],
            "inner": [
                [
                    function_call("unlock", "call_1", code=SECRET),
                    function_call("force", "call_2", code=SECRET),
                ],
                [message(f"Inside: {SECRET}.")],
            ],
        }
    )
    inner = safe(fake, unlock, force)
    outer = Agent(
        name="Front",
        model=fake.responses_model("outer"),
        tools=[inner.as_tool("ask_safe", "Asks the safe.")],
    )
    result = await way(outer, f"Use {SECRET}.", run_config=OFF)
    assert SECRET in str(result.to_input_list())
    assert leaks(recorded) == []
    ledger = recorded.ledger()
    assert {gap.cause for gap in ledger.gaps} == {GapCause.WITHHELD}
    (run,) = ledger.runs
    (nested,) = run.runs
    assert [item.raw_type for item in run.new_items] == [
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert [(c.call_id, c.name, c.status) for c in nested.tool_calls] == [
        ("call_1", "unlock", "completed"),
        ("call_2", "force", "failed"),
    ]
    assert isinstance(run.input, Placeholder)
    assert isinstance(run.final_output, Placeholder)
    assert isinstance(nested.tool_calls[0].arguments, Placeholder)
    assert isinstance(nested.model_calls[0].system, Placeholder)
    assert run.usage.requests == 4
    assert run.usage.total_tokens == result.context_wrapper.usage.total_tokens
    assert ledger.self_check() == []
    assert itemtrace.health() == {}
    assert conformance.violations(recorded.rows()) == []


@WAYS
@pytest.mark.parametrize("sensitive", [True, False])
async def test_tool_that_raises(way, sensitive, provide, recorded):
    """The text of an exception is recorded with content on, and nowhere with content off."""
    fake = provide({"inner": [[function_call("blow_up", "call_1", code=SECRET)]]})
    config = RunConfig(trace_include_sensitive_data=sensitive)
    with pytest.raises(UserError) as raised:
        await way(safe(fake, blow_up), "Go.", run_config=config)
    assert SECRET in str(raised.value)
    (run,) = recorded.ledger().runs
    (call,) = run.tool_calls
    assert (run.status, call.status) == ("failed", "failed")
    assert run.error.type.endswith("UserError")
    if sensitive:
        assert SECRET in run.error.message
        assert SECRET in call.error.data["error"]
    else:
        assert leaks(recorded) == []
        assert isinstance(run.error.message, Placeholder)


@WAYS
async def test_session_and_approval_text(way, provide, recorded):
    """Rejection texts, pending calls and states are content too."""

    @function_tool(needs_approval=True)
    async def pay(to: str) -> str:
        """Pays."""
        return f"paid {to}"

    fake = provide(
        {"inner": [[function_call("pay", "call_1", to=SECRET)], [message(SECRET)]]}
    )
    agent = safe(fake, pay)
    paused = await way(agent, SECRET, run_config=OFF)
    state = paused.to_state()
    state.reject(state.get_interruptions()[0], rejection_message=f"not {SECRET}")
    await way(agent, state, run_config=OFF)
    assert leaks(recorded) == []
    first, second = recorded.ledger().runs
    assert (first.status, second.status) == ("interrupted", "completed")
    assert first.state is None
    assert [a.decision for a in second.approvals] == ["rejected"]
    assert itemtrace.health() == {}


async def test_short_secrets_cannot_be_guessed(provide, recorded):
    """Equal content has equal marks within a process, keyed so that trying words does not help."""
    fake = provide({"inner": [[message(SECRET, "msg_1")], [message(SECRET, "msg_2")]]})
    agent = safe(fake)
    for _ in range(2):
        await Runner.run(agent, SECRET, run_config=OFF)
    first, second = (run.input for run in recorded.ledger().runs)
    assert first == second
    assert first["n"] == len(SECRET) + 2
    digest = sha256(SECRET.encode()).hexdigest()
    assert digest not in str([dict(span.attributes) for span in recorded.spans()])


@pytest.mark.parametrize("value", ["false", "NO_CONTENT"])
async def test_environment(value, provide, sdk_processors, monkeypatch):
    """OpenTelemetry's switch withholds content as the SDK's does."""
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value)
    fake = provide(
        {
            "inner": [
                [function_call("unlock", "call_1", code=SECRET)],
                [message(SECRET)],
            ]
        }
    )
    with SpanRecorder() as recorder:
        itemtrace.install(tracer_provider=recorder.provider)
        try:
            await Runner.run(safe(fake, unlock), SECRET)
        finally:
            itemtrace.uninstall()
        assert leaks(recorder) == []
        assert [gap.cause for gap in recorder.ledger().gaps] == [GapCause.WITHHELD]


async def test_redaction(provide, sdk_processors):
    """A redaction takes texts out of every record, marks the items, and leaves ids alone."""

    def mask(item):
        def walk(value: Any) -> Any:
            if isinstance(value, str):
                return value.replace(SECRET, "*****")
            if isinstance(value, dict):
                return {key: walk(child) for key, child in value.items()}
            return [walk(each) for each in value] if isinstance(value, list) else value

        return walk(item)

    fake = provide(
        {
            "inner": [
                [
                    reasoning(f"rs_{SECRET}", f"gAAAA-{SECRET}"),
                    function_call("unlock", "call_1", code=SECRET),
                ],
                [message(f"Open with {SECRET}.")],
            ]
        }
    )
    with SpanRecorder() as recorder:
        itemtrace.install(tracer_provider=recorder.provider, redact=[mask])
        try:
            result = await Runner.run(
                Agent(name="Safe", model=fake.responses_model("inner"), tools=[unlock]),
                f"Use {SECRET}.",
            )
        finally:
            itemtrace.uninstall()
        (run,) = recorder.ledger().runs
    assert SECRET in result.final_output
    assert run.final_output == "Open with *****."
    assert run.input == "Use *****."
    assert run.new_items[0].raw["id"] == f"rs_{SECRET}"
    assert run.new_items[0].raw["encrypted_content"] == f"gAAAA-{SECRET}"
    assert run.tool_calls[0].arguments == '{"code":"*****"}'
    output = run.tool_calls[0].output
    assert output
    assert output.output == "open with *****"
    assert {gap.cause for gap in run.gaps} == {GapCause.REDACTED}
    left = {key for _, key in leaks(recorder)}
    assert not left.intersection(
        {
            "gen_ai.tool.call.arguments",
            "gen_ai.tool.call.result",
            "gen_ai.input.messages",
            "gen_ai.output.messages",
        }
    )
