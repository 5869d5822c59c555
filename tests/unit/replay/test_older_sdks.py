"""What a replay does for SDKs, and tapes of SDKs, that are older than the newest."""

import copy
from pathlib import Path

import agents.usage
from agents import Agent, RunContextWrapper, Runner, Usage, function_tool
from agents.exceptions import ModelBehaviorError
from agents.usage import RequestUsage
from openai.types.responses.response_usage import (
    InputTokensDetails,
    OutputTokensDetails,
)

import itemtrace
from itemtrace.ledger import io
from itemtrace.replay import streams
from itemtrace.replay.approvals import keep_usage


TAPES = Path(__file__).parents[2] / "golden" / "tapes"


@function_tool
async def open_lock(gate: int) -> str:
    """Opens a gate, or raises."""
    raise AssertionError


async def test_refused_stream():
    """A stream whose end 0.20.0 refused in its loop, and not in the model, ends in the same words."""
    (ledger,) = io.read(TAPES / "unfinished_0.20.0.jsonl")
    (run,) = ledger.runs
    error = ""
    with itemtrace.replay(ledger) as tape:
        result = Runner.run_streamed(Agent(name="Keeper", tools=[open_lock]), run.input)
        try:
            async for _ in result.stream_events():
                pass
        except ModelBehaviorError as raised:
            error = str(raised)
    assert error == run.error.message
    assert "`response.incomplete`" in error
    assert tape.report.clean


def entry(tokens):
    """The usage of one request."""
    return RequestUsage(
        input_tokens=tokens,
        output_tokens=1,
        total_tokens=tokens + 1,
        input_tokens_details=InputTokensDetails(cached_tokens=0, cache_write_tokens=0),
        output_tokens_details=OutputTokensDetails(reasoning_tokens=0),
    )


def test_usage_on_0_20(monkeypatch):
    """Without a place for a whole usage, a response carries its request count and each request's."""
    monkeypatch.delattr(agents.usage, "_attach_normalized_usage")
    requests = [entry(3), entry(4)]
    counted = Usage(requests=2, input_tokens=7, output_tokens=2, total_tokens=9)
    counted.request_usage_entries = requests
    carried = vars(streams._usage(counted))
    assert carried["_agents_sdk_request_count"] == 2
    assert carried["_agents_sdk_request_usages"] == requests
    plain = vars(streams._usage(Usage(requests=1)))
    assert "_agents_sdk_request_usages" not in plain


class Paused:
    """A result whose state shares its context wrapper, as before 0.22."""

    def __init__(self):
        self.context_wrapper = RunContextWrapper({"basket": 1})
        self.context_wrapper.usage = Usage(requests=1, total_tokens=5)
        self.shared = self.context_wrapper


def test_a_paused_result_keeps_its_usage():
    """What a resumed run adds is not added to the paused result; its context stays the same object."""
    paused = Paused()
    before = copy.deepcopy(paused.context_wrapper.usage)
    keep_usage(paused)
    paused.shared.usage.add(Usage(requests=1, total_tokens=7))
    assert paused.context_wrapper.usage == before
    assert paused.shared.usage.total_tokens == 12
    assert paused.context_wrapper.context is paused.shared.context
