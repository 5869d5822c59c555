"""The demo: a run of several agents that has a bit of everything, offline and the same each time.

A customer's lamp arrived broken. The front desk checks the question (input guardrail) and hands
over to Orders, which looks four things up at once: two of the calls are equal, one fails. It
looks at a photo, lets a translator (an agent as a tool) write a note in Japanese, and asks for two
refunds, which wait for a person. One is approved, the other rejected; the answer is typed and
checked (output guardrail). Then the customer has one more question.

    results = await run_demo()          # [paused, resumed, follow_up]

The agents name their models, as most programs do; `RunConfig(model_provider=...)` decides where
those come from. `front_desk` is an ordinary agent: replay it, or run it against a real provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import (
    Agent,
    GuardrailFunctionOutput,
    ModelSettings,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    ToolOutputImage,
    ToolOutputText,
    TResponseInputItem,
    WebSearchTool,
    function_tool,
    handoff,
    input_guardrail,
    output_guardrail,
)
from pydantic import BaseModel

from itemtrace.replay.approvals import keep_usage
from itemtrace.testing.demo_script import FOLLOW_UP, QUESTION, picture, script
from itemtrace.testing.provider import FakeProvider


if TYPE_CHECKING:
    from agents.result import RunResult, RunResultStreaming


class Reason(BaseModel):
    """Why the front desk hands over."""

    reason: str


class Resolution(BaseModel):
    """The final answer of Orders."""

    order: str
    refunded: float
    reply: str
    note_to_warehouse: str


@input_guardrail
async def about_orders(
    _context: RunContextWrapper[Any],
    _agent: Agent[Any],
    text: str | list[TResponseInputItem],
) -> GuardrailFunctionOutput:
    """Lets through what is about an order."""
    asked = str(text).lower()
    found = [word for word in ("bestellung", "lampe", "order") if word in asked]
    return GuardrailFunctionOutput({"found": found}, tripwire_triggered=not found)


@output_guardrail
async def no_promises(
    _context: RunContextWrapper[Any], _agent: Agent[Any], resolution: Resolution
) -> GuardrailFunctionOutput:
    """Stops an answer that gives back more than one lamp's price."""
    limit = 89.9
    over = resolution.refunded > limit
    return GuardrailFunctionOutput(
        {"limit": limit, "over": over}, tripwire_triggered=over
    )


@function_tool
async def find_order(order: str) -> dict[str, Any]:
    """Finds an order by its number."""
    return {"order": order, "lamps": 2, "price": 89.9, "customer": "Jürgen Weiß"}


@function_tool
async def stock_level(article: str) -> int:
    """Returns how many of an article are left."""
    return {"polarnacht": 7}.get(article, 0)


@function_tool
async def parcel_status(number: str) -> str:
    """Asks the carrier where a parcel is."""
    msg = f"the carrier does not know {number}"
    raise ConnectionError(msg)


@function_tool
async def damage_photo(order: str) -> list[ToolOutputImage | ToolOutputText]:
    """Returns the photo that the customer sent in."""
    caption = f"{order}: Riss im Schirm, links oben"
    return [ToolOutputImage(image_url=picture()), ToolOutputText(text=caption)]


@function_tool(needs_approval=True)
async def refund(order: str, amount: float) -> str:
    """Pays money back for an order; a person has to approve it."""
    return f"refunded {amount:.2f} EUR for {order}"


@function_tool
async def glossary(term: str) -> str:
    """Looks a term up in the shop's glossary."""
    return {"shade": "笠 (かさ)"}.get(term, "not in the glossary")


THINK = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])
"""Nothing stays on the server: reasoning comes back encrypted and is sent again."""

translator = Agent[Any](
    name="Translator",
    instructions="Translate the note into Japanese. Use the glossary.",
    model="translate-mini",
    model_settings=THINK,
    tools=[glossary],
)
orders = Agent[Any](
    name="Orders",
    handoff_description="Knows orders, stock, parcels and refunds.",
    instructions="Solve the customer's problem. Refund only what is broken.",
    model="desk-large",
    model_settings=THINK,
    tools=[
        find_order,
        stock_level,
        parcel_status,
        damage_photo,
        refund,
        translator.as_tool(
            tool_name="translate",
            tool_description="Translates a note to the warehouse into Japanese.",
        ),
    ],
    output_type=Resolution,
    output_guardrails=[no_promises],
)


async def _note_handoff(_context: RunContextWrapper[Any], _reason: Reason) -> None:
    """Where a real desk would open a ticket."""


front_desk = Agent[Any](
    name="Front desk",
    instructions="Greet the customer. Hand over what Orders can do better.",
    model="desk-mini",
    model_settings=THINK,
    tools=[WebSearchTool()],
    handoffs=[handoff(orders, on_handoff=_note_handoff, input_type=Reason)],
    input_guardrails=[about_orders],
)


async def run_demo(
    *,
    streamed: bool = False,
    fake: FakeProvider | None = None,
    trace_id: str | None = None,
) -> list[RunResult | RunResultStreaming]:
    """Runs the story and returns the SDK's result of each call of `Runner`, in order.

    Args:
        streamed: Run it with `Runner.run_streamed`.
        fake: A provider that serves `demo_script.script()`; by default one is started for this.
        trace_id: The trace id of the first two runs, `trace_` and 32 hex digits; by default the
            SDK makes one up.
    """
    if fake is None:
        async with FakeProvider(script()) as own:
            return await run_demo(streamed=streamed, fake=own, trace_id=trace_id)
    config = RunConfig(
        model_provider=fake.models(),
        workflow_name="Order desk",
        group_id="customer-4711",
        trace_id=trace_id,
        trace_metadata={"shop": "lamps.example", "language": "de"},
    )
    paused = await _run(QUESTION, config, streamed)
    resumed = await _run(_decided(paused), config, streamed)
    history = resumed.to_input_list()
    more: list[TResponseInputItem] = [*history, {"role": "user", "content": FOLLOW_UP}]
    config.trace_id = None  # another trace of the same group
    return [paused, resumed, await _run(more, config, streamed)]


async def _run(
    given: str | list[TResponseInputItem] | RunState[Any],
    config: RunConfig,
    streamed: bool,
) -> RunResult | RunResultStreaming:
    if not streamed:
        return await Runner.run(front_desk, given, run_config=config)
    result = Runner.run_streamed(front_desk, given, run_config=config)
    async for _ in result.stream_events():
        pass
    return result


def _decided(paused: Any) -> RunState[Any]:
    """One lamp is refunded, the whole order is not."""
    state: RunState[Any] = paused.to_state()
    keep_usage(paused)
    for pending in paused.interruptions:
        if pending.call_id == "call_refund_one":
            state.approve(pending)
        else:
            state.reject(pending, rejection_message="Only one lamp is broken.")
    return state
