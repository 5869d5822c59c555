"""Tools: equal calls at once, what they return, and how they fail."""

import asyncio
import datetime as dt
from typing import Any

import pytest
from agents import (
    Agent,
    Runner,
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputText,
    UserError,
    function_tool,
)
from pydantic import BaseModel

from itemtrace.testing.items import function_call, message, reasoning


def spans_of(recorded, prefix):
    """The recorded spans whose names begin with something."""
    return [row for row in recorded.rows() if row.name.startswith(prefix)]


async def run(fake, *tools, given="Go.", **more):
    """Runs an agent with these tools on the script of model `m`."""
    agent = Agent(
        name="Porter", model=fake.responses_model("m"), tools=list(tools), **more
    )
    return await Runner.run(agent, given)


# --- equal calls ------------------------------------------------------------------


@pytest.mark.parametrize("behavior", ["run_llm_again", "stop_on_first_tool"])
async def test_equal_parallel_calls(behavior, provide, proved, recorded):
    """Two equal calls with equal outputs that end in reverse order keep their own spans."""
    order = iter([0.03, 0.0])
    ended = []

    @function_tool
    async def count_crates(context: Any = None) -> str:
        """Counts the crates."""
        wait = next(order)
        await asyncio.sleep(wait)
        ended.append(wait)
        return "12"

    fake = provide(
        {
            "m": [
                [
                    reasoning("rs_1", "gAAAA-count"),
                    function_call("count_crates", "call_a"),
                    function_call("count_crates", "call_b"),
                ],
                [message("Twelve, twice.")],
            ]
        }
    )
    result = await run(fake, count_crates, tool_use_behavior=behavior)
    (found,) = proved(result)
    assert ended == [0.0, 0.03]
    assert [
        (call.call_id, call.status, call.output.raw["call_id"])
        for call in found.tool_calls
    ] == [("call_a", "completed", "call_a"), ("call_b", "completed", "call_b")]
    spans = spans_of(recorded, "execute_tool")
    assert [row.attributes["gen_ai.tool.call.id"] for row in spans] == [
        "call_b",
        "call_a",
    ]
    first, second = found.tool_calls
    assert first.end_ns > second.end_ns


async def test_call_ids_that_repeat(provide, proved):
    """A server that numbers its calls anew in each response is no reason to merge two."""

    @function_tool
    async def ask(floor: int) -> str:
        """Asks a floor."""
        return f"floor {floor}"

    fake = provide(
        {
            "m": [
                [function_call("ask", "call_1", floor=1)],
                [function_call("ask", "call_2", floor=1)],
                [message("Nobody.")],
            ]
        }
    )
    (found,) = proved(await run(fake, ask))
    assert [call.output.output for call in found.tool_calls] == ["floor 1"] * 2


# --- outputs ----------------------------------------------------------------------


class Parcel(BaseModel):
    """A typed output."""

    number: int
    label: str | None = None


IMAGE = "data:image/png;base64," + "iVBORw0KGgo" * 90_000
OUTPUTS = {
    "text": "plain",
    "empty": "",
    "number": 7,
    "float": -0.0,
    "none": None,
    "dict": {"k": [1, None, "é"], "n": float("nan")},
    "list": [{"a": 1}, "b"],
    "model": Parcel(number=3),
    "datetime": {"at": dt.datetime(2026, 3, 1, 12, 30, tzinfo=dt.UTC)},
    "bytes": b"\x00\xff",
    "image": [ToolOutputImage(image_url=IMAGE), ToolOutputText(text="a test card")],
    "one_image": ToolOutputImage(image_url="https://pictures.example/1.png"),
    "file": ToolOutputFileContent(file_data="JVBERi0=", filename="a.pdf"),
    "large": "Größe 日本語 " * 11_000,
    "control": "a\x00b\u2028c\x7f",
}


@pytest.mark.parametrize("kind", OUTPUTS)
async def test_outputs(kind, provide, proved):
    """Whatever a tool returns comes back, as the model saw it and as the SDK's item has it."""

    @function_tool
    async def fetch() -> Any:
        """Fetches it."""
        return OUTPUTS[kind]

    fake = provide({"m": [[function_call("fetch", "call_1")], [message("Got it.")]]})
    (found,) = proved(await run(fake, fetch))
    sent = fake.requests[1]["input"][2]
    assert found.to_input_list()[2] == found.model_calls[1].input[2] == sent
    assert "ToolOutput" not in str(sent["output"])


async def test_odd_object(provide, proved):
    """An object that cannot be kept leaves its text, and the loss of the object is named."""

    class Crane:
        """Has no fields."""

        def __str__(self):
            return "a crane"

    @function_tool
    async def fetch() -> Any:
        """Fetches it."""
        return Crane()

    fake = provide({"m": [[function_call("fetch", "call_1")], [message("Got it.")]]})
    result = await run(fake, fetch)
    (found,) = proved(result, gaps=["not captured"])
    assert found.to_input_list() == result.to_input_list()
    assert found.new_items[1].raw["output"] == "a crane"


# --- errors -----------------------------------------------------------------------


async def test_default_error_text(provide, proved, recorded):
    """A tool that raises has an ERROR span and the text that the model was sent; the run is fine."""

    @function_tool
    async def open_hatch(number: int) -> str:
        """Opens a hatch."""
        msg = f"hatch {number} is stuck"
        raise TimeoutError(msg)

    fake = provide(
        {
            "m": [
                [function_call("open_hatch", "call_1", number=4)],
                [message("It is stuck.")],
            ]
        }
    )
    (found,) = proved(await run(fake, open_hatch))
    (call,) = found.tool_calls
    assert call.output.output == fake.requests[1]["input"][2]["output"]
    assert (call.status, found.status) == ("failed", "completed")
    failed = [row for row in recorded.rows() if row.status == "ERROR"]
    assert [row.name for row in failed] == ["execute_tool open_hatch"]
    assert failed[0].attributes["error.type"]


async def test_custom_error_text(provide, proved):
    """A user's own error function answers the model; its text is the output."""

    @function_tool(failure_error_function=lambda _, error: f"sorry: {error}")
    def lift() -> str:
        """Lifts."""
        msg = "too heavy"
        raise ValueError(msg)

    fake = provide({"m": [[function_call("lift", "call_1")], [message("No.")]]})
    (found,) = proved(await run(fake, lift))
    assert found.tool_calls[0].output.output == "sorry: too heavy"


async def test_parallel_tool_raises(provide, proved):
    """One of two parallel tools ends the run: its sibling's output is kept, its error too."""

    @function_tool
    async def pack() -> str:
        """Packs."""
        return "packed"

    @function_tool(failure_error_function=None)
    async def post(to: str) -> str:
        """Posts."""
        await asyncio.sleep(0.02)
        msg = f"no route to {to}"
        raise ValueError(msg)

    fake = provide(
        {
            "m": [
                [
                    function_call("pack", "call_ok"),
                    function_call("post", "call_bad", to="Atlantis"),
                ]
            ]
        }
    )
    with pytest.raises(UserError) as raised:
        await run(fake, pack, post)
    (found,) = proved(raised.value)
    assert found.status == "failed"
    calls = {call.call_id: call for call in found.tool_calls}
    assert calls["call_ok"].output.output == "packed"
    assert (calls["call_bad"].status, calls["call_bad"].output) == ("failed", None)
    assert calls["call_bad"].error.data["error"] == "no route to Atlantis"
    kept = [call.call_id for call in found.new_items]
    assert "call_bad" not in kept


async def test_single_tool_raises(provide, proved):
    """A lone tool that ends the run leaves no items in the SDK's exception; the ledger has the call."""

    @function_tool(failure_error_function=None)
    async def post() -> str:
        """Posts."""
        msg = "no stamps"
        raise ValueError(msg)

    fake = provide({"m": [[function_call("post", "call_1")]]})
    with pytest.raises(UserError) as raised:
        await run(fake, post)
    (found,) = proved(raised.value)
    assert found.new_items == ()
    (call,) = found.tool_calls
    assert (call.call_id, call.status, call.arguments) == ("call_1", "failed", "{}")


async def test_sync_tool_and_timeout(provide, proved):
    """A sync tool in a worker thread is recorded like an async one."""

    @function_tool
    def weigh(crate: int) -> int:
        """Weighs."""
        return crate * 10

    fake = provide(
        {
            "m": [
                [function_call("weigh", f"call_{n}", crate=n) for n in range(5)],
                [message("Weighed.")],
            ]
        }
    )
    (found,) = proved(await run(fake, weigh))
    assert [call.output.output for call in found.tool_calls] == [0, 10, 20, 30, 40]


async def test_large_non_ascii_output_is_written_once(provide, proved, recorded):
    """200 kB of non-Latin text is once in the ledger's records and fits every attribute."""
    text = "航海日誌 Größe " * 8_000

    @function_tool
    async def read_log() -> str:
        """Reads the log."""
        return text

    fake = provide({"m": [[function_call("read_log", "call_1")], [message("Long.")]]})
    proved(await run(fake, read_log))
    values = [
        value
        for row in recorded.rows()
        for value in row.attributes.values()
        if str(value).startswith("it1;")
    ]
    assert max(len(value.encode()) for value in values) <= 2_000
    size = sum(len(value.encode()) for value in values)
    assert len(text.encode()) < size < 1.2 * len(text.encode())
    assert max(len(row.attributes) for row in recorded.rows()) < 128
