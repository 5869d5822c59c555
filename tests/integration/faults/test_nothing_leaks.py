"""Withheld and redacted content: no marker anywhere in what leaves the process."""

import logging
import re

import pytest
from agents import (
    Agent,
    AgentsException,
    GuardrailFunctionOutput,
    ModelSettings,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    input_guardrail,
    output_guardrail,
)
from hypothesis import given
from hypothesis import strategies as st
from openai import APIError
from pydantic import BaseModel

import itemtrace
from itemtrace.capture.privacy import Privacy
from itemtrace.codec import canonical
from itemtrace.ledger import GapCause
from itemtrace.testing.items import function_call, message, reasoning
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder
from itemtrace.testing.strategies import output_items
from itemtrace.testing.wire import Step


MARK = re.compile(r"zq(\w+?)qz")
"""A marker: `zq`, what it is, `qz`. Each text below has one of its own."""


class Answer(BaseModel):
    """A typed final output."""

    text: str


@input_guardrail
def checked(context, agent, given):
    """Finds something in the input."""
    return GuardrailFunctionOutput({"info": "zqguardrailqz"}, tripwire_triggered=False)


@input_guardrail
def tripped(context, agent, given):
    """Stops the run."""
    return GuardrailFunctionOutput({"info": "zqtripwireqz"}, tripwire_triggered=True)


@output_guardrail
def approved(context, agent, output):
    """Finds something in the output."""
    return GuardrailFunctionOutput(
        {"info": "zqoutputguardrailqz"}, tripwire_triggered=False
    )


@function_tool
def look(q: str) -> dict[str, object]:
    """Looks."""
    return {"found": "zqtooloutputqz", "again": [q]}


@function_tool
def bad(q: str) -> str:
    """Fails."""
    msg = f"zqtoolerrorqz {q}"
    raise ValueError(msg)


@function_tool(needs_approval=True)
def pay(q: str) -> str:
    """Pays."""
    return f"paid {q}"


def stepwise(*steps):
    """Returns answers that depend on the tool outputs so far."""

    def answer(body):
        items = body.get("input", body.get("messages"))
        done = [
            item
            for item in items
            if item.get("type") == "function_call_output" or item.get("role") == "tool"
        ]
        return steps[min(len(done), len(steps) - 1)]

    return answer


NEVER = [message("never")]
SCRIPT = {
    "front": stepwise(
        [
            reasoning("rs_1", "gAAAA", "zqthoughtqz"),
            function_call("look", "call_1", q="zqargumentqz"),
            function_call("bad", "call_2", q="zqbadargumentqz"),
            function_call("ask", "call_3", input="zqnestedinputqz"),
            function_call("pay", "call_4", q="zqpaymentqz"),
        ],
        NEVER,
        NEVER,
        NEVER,
        [function_call("transfer_to_back", "call_5")],
    ),
    "helper": lambda body: [message("zqnestedoutputqz")],
    "back": lambda body: [message('{"text":"zqfinalqz"}')],
    "chat": stepwise(
        [function_call("look", "call_1", q="zqchatargumentqz")],
        [message("zqchatoutputqz")],
    ),
    "broken": lambda body: Step(status=400, error="zqprovidererrorqz"),
}


async def ended(agent, given, **more):
    """Runs to the end, good or bad."""
    try:
        return await Runner.run(agent, given, **more)
    except (AgentsException, APIError) as error:
        return error


async def play(fake, config):
    """Plays everything that has content; returns how the runs ended."""
    helper = Agent(
        name="Helper", instructions="zqhelperqz", model=fake.responses_model("helper")
    )
    back = Agent(
        name="Back",
        instructions="zqlonginstructionsqz " * 30,
        model=fake.responses_model("back"),
        output_type=Answer,
        output_guardrails=[approved],
    )
    front = Agent(
        name="Front",
        instructions="zqinstructionsqz",
        model=fake.responses_model("front"),
        model_settings=ModelSettings(metadata={"note": "zqsettingqz"}),
        tools=[look, bad, pay, helper.as_tool("ask", "Asks.")],
        handoffs=[back],
        input_guardrails=[checked],
    )

    def recalled(stored, new):
        return [{"role": "user", "content": "zqrecalledqz"}, *stored, *new]

    def with_session():
        return config(
            trace_metadata={"note": "zqtracemetadataqz"},
            session_input_callback=recalled,
        )

    session = SQLiteSession("s")
    await session.add_items([{"role": "user", "content": "zqstoredqz"}])
    paused = await ended(front, "zqinputqz", run_config=with_session(), session=session)
    state = paused.to_state()
    state.reject(paused.interruptions[0], rejection_message="zqrejectionqz")
    resumed = await ended(front, state, run_config=with_session(), session=session)
    session.close()
    part = {"role": "user", "content": [{"type": "input_text", "text": "zqpartqz"}]}
    streamed = Runner.run_streamed(front, [part], run_config=config())
    async for _ in streamed.stream_events():
        pass
    chat = Agent(
        name="Chat",
        instructions="zqchatqz",
        model=fake.chat_model("chat"),
        tools=[look],
    )
    broken = Agent(name="Broken", model=fake.responses_model("broken"))
    stopped = Agent(
        name="Stopped", model=fake.responses_model("helper"), input_guardrails=[tripped]
    )
    return [
        paused,
        resumed,
        streamed,
        await ended(chat, "zqchatinputqz", run_config=config()),
        await ended(broken, "zqbrokeninputqz", run_config=config()),
        await ended(stopped, "zqstoppedinputqz", run_config=config()),
    ]


def found_in(recorder, log):
    """Returns every marker that left the process, and where."""
    found = {}
    for row in recorder.rows():
        places = {
            "name": row.name,
            "status": row.status_message,
            "events": row.events,
            "links": row.links,
            **row.attributes,
        }
        for place, value in places.items():
            for mark in MARK.findall(str(value)):
                found.setdefault(mark, set()).add((row.name, place))
    for mark in MARK.findall(log):
        found.setdefault(mark, set()).add(("log", ""))
    return found


@pytest.fixture
async def record(caplog):
    """Plays everything under an installation; returns the markers found, and the ledger."""
    logging.getLogger("openai.agents").setLevel(logging.CRITICAL)

    async def recorded(config, **install):
        with SpanRecorder() as recorder, caplog.at_level(logging.INFO, "itemtrace"):
            itemtrace.install(
                tracer_provider=recorder.provider, messages="full", **install
            )
            async with FakeProvider(SCRIPT) as fake:
                ends = await play(fake, config)
            itemtrace.uninstall()
        ours = [
            r.getMessage() for r in caplog.records if r.name.startswith("itemtrace")
        ]
        assert itemtrace.health() == {}
        assert len(ends) == len(recorder.ledger().runs)
        return found_in(recorder, "\n".join(ours)), recorder.ledger()

    return recorded


async def test_with_content_every_marker_is_there(record):
    """The test can fail: what is recorded by default has them all."""
    found, ledger = await record(RunConfig)
    assert len(found) >= 25
    assert ledger.exact


async def test_sensitive_data_off(record):
    """`trace_include_sensitive_data=False`: nothing at all."""
    found, ledger = await record(
        lambda **options: RunConfig(trace_include_sensitive_data=False, **options)
    )
    assert found == {}
    assert {gap.cause for gap in ledger.gaps} == {GapCause.WITHHELD}
    calls = [call.call_id for call in ledger.runs[2].tool_calls]
    assert calls[:3] == ["call_1", "call_2", "call_3"]


@pytest.mark.parametrize("value", ["NO_CONTENT", "false", "EVENT_ONLY"])
async def test_no_content_in_the_environment(record, monkeypatch, value):
    """OpenTelemetry's own switch: nothing at all."""
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value)
    found, ledger = await record(RunConfig)
    assert found == {}
    assert {gap.cause for gap in ledger.gaps} == {GapCause.WITHHELD}


def masked(value):
    """Returns a value without markers."""
    if isinstance(value, str):
        return MARK.sub("***", value)
    if isinstance(value, list):
        return [masked(child) for child in value]
    return (
        {k: masked(v) for k, v in value.items()} if isinstance(value, dict) else value
    )


async def test_redaction(record):
    """A redactor of items is enough: copies, errors, outputs and metadata follow; ids stay.

    Model settings are configuration and no item; they are kept unless content is withheld.
    """
    found, ledger = await record(RunConfig, redact=[masked])
    assert set(found) == {"setting"}
    assert {gap.cause for gap in ledger.gaps} == {GapCause.REDACTED}
    calls = [call.call_id for call in ledger.runs[2].tool_calls]
    assert calls[:3] == ["call_1", "call_2", "call_3"]
    assert ledger.runs[3].final_output == "***"
    assert ledger.runs[3].input == "***"


@given(output_items(), st.booleans())
def test_no_text_of_any_item_is_left(item, content):
    """Whatever field of whatever item type: content is withheld or was shown to the redactor."""
    marked = _marked(item)
    redactors = [masked] if content else []
    public, _ = Privacy(content=content, redactors=redactors).item(marked)
    left = {key for key, value in public.items() if MARK.search(canonical.dumps(value))}
    assert left <= {
        "encrypted_content",
        "id",
        "call_id",
        "caller",
        "approval_request_id",
    }
    for name in ("id", "call_id"):
        given = marked.get(name)
        if content or not isinstance(given, str) or len(given) <= 200:
            assert (
                public.get(name) == given
            )  # a longer one is no id and is withheld too


def _marked(value, key=""):
    """Returns an item with a marker in every text that is content."""
    kept = (
        "type", "id", "call_id", "role", "status", "name", "namespace", "server_label",
        "approval_request_id", "phase", "execution", "caller",
    )  # fmt: skip
    if isinstance(value, dict):
        return {k: v if k in kept else _marked(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_marked(child) for child in value]
    return f"zqtextqz{value}" if isinstance(value, str) else value
