"""A run on the SDK's LiteLLM model against a Chat Completions endpoint, whole and streamed.

Prints what was compared as JSON. Run by test_thirdparty.py in an environment that has
`openai-agents[litellm]` and itemtrace.
"""

import asyncio
import json
import sys

from agents import Agent, Runner, function_tool, set_trace_processors
from agents.extensions.models.litellm_model import LitellmModel

import itemtrace
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder
from itemtrace.testing.truth import differences


SCRIPT = {
    "gpt-small": [
        [function_call("double", "call_1", number=21)],
        [message("It is 42 — 四十二.")],
    ]
    * 2
}


@function_tool
def double(number: int) -> int:
    """Doubles a number."""
    return 2 * number


async def main():
    """Runs twice and compares."""
    async with FakeProvider(SCRIPT, strict=False) as fake:
        model = LitellmModel(
            model="openai/gpt-small", base_url=fake.base_url, api_key="not-a-key"
        )
        agent = Agent(name="Doubler", model=model, tools=[double])
        first = await Runner.run(agent, "Double 21.")
        second = Runner.run_streamed(agent, "Double 21.")
        async for _ in second.stream_events():
            pass
    return [first, second]


set_trace_processors([])
with SpanRecorder() as recorder:
    itemtrace.install(tracer_provider=recorder.provider)
    ended = asyncio.run(main())
    itemtrace.uninstall()
ledger = recorder.ledger()
json.dump(
    {
        "gaps": [str(gap) for gap in ledger.gaps],
        "differences": [
            str(found)
            for run, result in zip(ledger.runs, ended, strict=True)
            for found in differences(run, result)
        ],
        "final": [run.final_output for run in ledger.runs],
        "items": [[item.type for item in run.items] for run in ledger.runs],
        "tokens": [run.usage.total_tokens for run in ledger.runs],
        "expected_tokens": [r.context_wrapper.usage.total_tokens for r in ended],
        "providers": sorted(
            {
                str(span.attributes.get("gen_ai.provider.name"))
                for span in recorder.spans()
                if span.name.startswith("chat ")
            }
        ),
        "models": sorted(
            {s.name for s in recorder.spans() if s.name.startswith("chat ")}
        ),
        "health": itemtrace.health(),
    },
    sys.stdout,
)
