"""The demo, on the SDK alone: everything that it is meant to show is there."""

import base64
import time

import pytest
from agents import RunConfig, Runner

from itemtrace.testing.demo import (
    Resolution,
    front_desk,
    glossary,
    run_demo,
    translator,
)
from itemtrace.testing.demo_script import RESOLUTION, picture, script, sealed
from itemtrace.testing.provider import FakeProvider


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
async def results(request):
    """The demo's results, of the plain and of the streamed variant."""
    return await run_demo(streamed=request.param)


def of_type(result, name):
    """The raw items of one run item type."""
    return [item.raw_item for item in result.new_items if item.type == name]


async def test_three_runs(results):
    """It pauses, is resumed, and a follow-up ends the story."""
    assert [len(result.interruptions) for result in results] == [2, 0, 0]
    assert [result.last_agent.name for result in results] == [
        "Orders",
        "Orders",
        "Front desk",
    ]


async def test_typed_answer(results):
    """The resumed run ends with a typed, checked answer."""
    resumed = results[1]
    assert resumed.final_output == Resolution.model_validate(RESOLUTION)
    (checked,) = resumed.output_guardrail_results
    assert checked.output.output_info == {"limit": 89.9, "over": False}


async def test_input_guardrail(results):
    """The first question passed its guardrail, with a finding."""
    (checked,) = results[0].input_guardrail_results
    assert checked.output.output_info == {"found": ["bestellung", "lampe"]}


async def test_equal_parallel_calls(results):
    """Two calls of one response differ in nothing but their ids."""
    calls = [
        call.model_dump(exclude={"id", "call_id"})
        for call in of_type(results[0], "tool_call_item")
        if call.name == "stock_level"
    ]
    assert len(calls) == 2
    assert calls[0] == calls[1]


async def test_outputs(results):
    """A dict, a number, an error text, an image and a nested run's answer are outputs."""
    outputs = {
        raw["call_id"]: raw["output"]
        for raw in of_type(results[1], "tool_call_output_item")
    }
    assert outputs["call_stock_1"] == outputs["call_stock_2"] == "7"
    assert "Jürgen" in outputs["call_order"]
    assert (
        "DE 77 1042" not in outputs["call_parcel"]
    )  # the SDK's handler answers for it
    assert [part["type"] for part in outputs["call_photo"]] == [
        "input_image",
        "input_text",
    ]
    assert outputs["call_photo"][0]["image_url"] == picture()
    assert outputs["call_translate"] == RESOLUTION["note_to_warehouse"]
    assert outputs["call_refund_one"] == "refunded 89.90 EUR for A-1042"
    assert outputs["call_refund_all"] == "Only one lamp is broken."


async def test_reasoning_is_encrypted(results):
    """Reasoning comes with its content, once longer than a span attribute may be."""
    sizes = [
        len(raw.encrypted_content) for raw in of_type(results[0], "reasoning_item")
    ]
    assert len(sizes) == 4
    assert max(sizes) > 2_048


async def test_hosted_tool(results):
    """The follow-up has a hosted web search and a citation."""
    search, answer = (item.raw_item for item in results[2].new_items)
    assert search.type == "web_search_call"
    assert answer.content[0].annotations[0].title == "Rücksendungen"


async def test_same_every_time():
    """Two demos, whole and streamed, have the same items and the same usage, and are quick."""
    started = time.perf_counter()
    first, second = await run_demo(), await run_demo(streamed=True)
    assert time.perf_counter() - started < 6
    for one, other in zip(first, second, strict=True):
        assert one.to_input_list() == other.to_input_list()
        assert one.context_wrapper.usage == other.context_wrapper.usage


async def test_own_provider_and_trace():
    """A provider of the caller's serves it, and is asked for every answer."""
    async with FakeProvider(script()) as fake:
        paused, *_ = await run_demo(fake=fake, trace_id="trace_" + "a" * 32)
        assert fake.remaining() == {}
    assert paused.to_state().to_json()["trace"]["id"] == "trace_" + "a" * 32


async def test_agents_are_ordinary():
    """The front desk runs by itself, with any model provider."""
    assert [tool.name for tool in translator.tools] == [glossary.name]
    async with FakeProvider({"desk-mini": [script()["desk-mini"][1]]}) as fake:
        config = RunConfig(model_provider=fake.models())
        result = await Runner.run(front_desk, "Meine Bestellung?", run_config=config)
    assert result.final_output.startswith("Innerhalb von 30 Tagen")


def test_picture_is_a_png():
    """The photo is a real picture."""
    header = base64.b64decode(picture().partition(",")[2])[:8]
    assert header == b"\x89PNG\r\n\x1a\n"


def test_sealed_has_its_size():
    """Stand-ins for encrypted content have a size, and differ by name."""
    assert len(sealed("a", 500)) == 505
    assert sealed("a", 500) != sealed("b", 500)
