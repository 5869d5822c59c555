"""A run over protoprompt's session, whose callback changes what the model sees.

`ProtoPromptSession` (protoprompt/integrations/agents_sdk.py) stores history unchanged in the
SDK's `SQLiteSession`; its `input_callback` gives the model a list of its own: system messages
(instructions and recalled texts), as much of the history as its token budget allows, then the new
items. Only the ledger of the run says which of these was stored, recalled or new.

Prints what was seen as JSON. Run by test_thirdparty.py in an environment that has
`protoprompt[agents]` and itemtrace.
"""

import asyncio
import json
import sys

from agents import Agent, RunConfig, Runner, set_trace_processors
from protoprompt.context import ContextInput
from protoprompt.injector_budgeted import TokenBudgetedContextBuilder
from protoprompt.integrations.agents_sdk import ProtoPromptSession
from protoprompt.store.memory import InMemStore

import itemtrace
from itemtrace.testing.items import message
from itemtrace.testing.provider import FakeProvider
from itemtrace.testing.recorder import SpanRecorder
from itemtrace.testing.truth import differences


FACT = "The customer's favourite lamp is the Polarnacht."
STORED = [
    {"role": "user", "content": f"Earlier question {number}? " + "blah " * 30}
    for number in range(6)
]
NEW = "Which lamp do I like?"


class SameDirection:
    """Embeds every text alike, so that the recalled text is always the nearest."""

    async def embed(self, texts, model=""):
        """Returns one vector for each text."""
        return [[1.0, 0.0] for _ in texts]


def recall():
    """Returns a builder that recalls one fact and has room for some of the history only."""
    store = InMemStore()
    store.add("doc_1", [FACT], [[1.0, 0.0]], {"kind": "document"})
    return TokenBudgetedContextBuilder(store, SameDirection(), max_tokens=200)


async def main(requests):
    """Runs once over a session that has a history."""
    session = ProtoPromptSession("customer-1")
    await session.add_items([dict(item) for item in STORED])
    callback = session.input_callback(
        recall(),
        context_factory=lambda query: ContextInput(
            query=query,
            chat_id="customer-1",
            system_prompt="Be brief.",
            doc_ids=["doc_1"],
            include_session=False,
            language="en",
        ),
    )
    async with FakeProvider(
        {"gpt": [[message("The Polarnacht.")]]}, strict=False
    ) as fake:
        agent = Agent(name="Clerk", model=fake.responses_model("gpt"))
        config = RunConfig(session_input_callback=callback)
        result = await Runner.run(agent, NEW, session=session, run_config=config)
        requests += fake.requests
    return result, await session.get_items()


set_trace_processors([])
sent = []
with SpanRecorder() as recorder:
    itemtrace.install(tracer_provider=recorder.provider)
    result, kept = asyncio.run(main(sent))
    itemtrace.uninstall()
ledger = recorder.ledger()
(run,) = ledger.runs
call = run.model_calls[0]
json.dump(
    {
        "gaps": [str(gap) for gap in ledger.gaps],
        "differences": [str(found) for found in differences(run, result)],
        "sent": sent[0]["input"],
        "seen": [*call.input],
        "origins": [*call.origin],
        "stored_after": kept,
        "input": run.input,
        "health": itemtrace.health(),
    },
    sys.stdout,
)
