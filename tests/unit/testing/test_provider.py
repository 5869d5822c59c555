"""The fake provider, through the SDK's real model classes and the real client."""

import asyncio
import socket
import struct
import threading
import time
from typing import Any

import openai
import pytest
from agents import Agent, ModelSettings, RunConfig, Runner, function_tool

from itemtrace.testing.items import (
    function_call,
    message,
    reasoning,
    web_search_call,
)
from itemtrace.testing.provider import FakeProvider, Step


@function_tool
async def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


ADDING = {"planner": [[function_call("add", "call_1", a=1, b=2)], [message("3")]]}


async def run(agent, streamed):
    """Runs an agent and returns the result."""
    if not streamed:
        return await Runner.run(agent, "1 + 2?")
    result = Runner.run_streamed(agent, "1 + 2?")
    async for _ in result.stream_events():
        pass
    return result


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", ["responses_model", "chat_model"])
async def test_both_apis(kind, streamed):
    """A run with a tool call works on either API, whole and streamed, with request ids."""
    async with FakeProvider(ADDING) as fake:
        agent = Agent(name="Planner", model=getattr(fake, kind)("planner"), tools=[add])
        result = await run(agent, streamed)
        assert fake.remaining() == {}
    assert result.final_output == "3"
    ids = [response.request_id for response in result.raw_responses]
    assert ids == ["req_planner_0", "req_planner_1"]
    assert [body["model"] for body in fake.requests] == ["planner"] * 2


async def test_streamed_equals_whole():
    """The items of a streamed run are those of the same run without a stream."""
    script = {
        "planner": [
            [reasoning("rs_1", "gAAAA", "adding"), *ADDING["planner"][0]],
            [web_search_call("ws_1", "sums"), message("3 \ud800 drei")],
        ]
    }
    lists = []
    for streamed in (False, True):
        async with FakeProvider(script) as fake:
            model = fake.responses_model("planner")
            result = await run(Agent(name="P", model=model, tools=[add]), streamed)
            lists.append(result.to_input_list())
    assert lists[0] == lists[1]


async def test_answers_follow_model_names():
    """Parallel runs get the answers of their own models, in order."""
    script = {name: [[message(name)]] for name in ("a", "b", "c", "d")}
    async with FakeProvider(script) as fake:
        agents = [Agent(name=n, model=fake.responses_model(n)) for n in script]
        results = await asyncio.gather(*(Runner.run(agent, "Who?") for agent in agents))
    assert [result.final_output for result in results] == ["a", "b", "c", "d"]


async def test_model_names_are_resolved():
    """Agents that name their model get it from the provider of the run."""
    async with FakeProvider({"named": [[message("Hi")], [message("Ho")]]}) as fake:
        config = RunConfig(model_provider=fake.models())
        agent = Agent(name="A", model="named")
        outputs = [
            (await Runner.run(agent, "Hey", run_config=config)).final_output
            for _ in range(2)
        ]
    assert outputs == ["Hi", "Ho"]


async def test_no_model_name_is_default():
    """A model without a name is answered as `default`."""
    async with FakeProvider({"default": [[message("Hi")]]}) as fake:
        model = fake.models().get_model(None)
        assert (
            await Runner.run(Agent(name="A", model=model), "Hey")
        ).final_output == "Hi"


async def test_function_answers():
    """A script may be a function of the request."""
    script = {"echo": lambda body: [message(body["input"][0]["content"].upper())]}
    async with FakeProvider(script) as fake:
        agent = Agent(name="Echo", model=fake.responses_model("echo"))
        assert (await Runner.run(agent, "ahoy")).final_output == "AHOY"
        assert fake.remaining() == {}


async def test_failing_function_is_raised():
    """What a script's function raises ends the request, and is raised when serving ends."""

    def fail(_body):
        msg = "no such answer"
        raise LookupError(msg)

    fake = FakeProvider({"broken": fail}).start()
    agent = Agent(name="Broken", model=fake.responses_model("broken"))
    with pytest.raises(openai.APIConnectionError):
        await Runner.run(agent, "Hey")
    with pytest.raises(LookupError, match="no such answer"):
        await fake.aclose()


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (Step(status=400, error="no"), openai.BadRequestError),
        (Step(status=429, error="slow down"), openai.RateLimitError),
        (Step(status=500, error="oops"), openai.InternalServerError),
    ],
)
async def test_error_statuses(step, error):
    """An error step is the client's exception for its status, with message and request id."""
    async with FakeProvider({"a": [step]}) as fake:
        agent = Agent(name="A", model=fake.responses_model("a"))
        with pytest.raises(error) as caught:
            await Runner.run(agent, "Hey")
    assert caught.value.body["message"] == step.error
    assert caught.value.request_id == "req_a_0"


async def test_exhausted_script():
    """A call that the script does not have is refused with its number and model."""
    async with FakeProvider({"a": []}) as fake:
        agent = Agent(name="A", model=fake.responses_model("a"))
        with pytest.raises(
            openai.BadRequestError, match="no answer number 1 for model 'a'"
        ):
            await Runner.run(agent, "Hey")


async def test_remaining_answers():
    """What was scripted and not asked for is counted."""
    async with FakeProvider({"a": [[message("Hi")], [message("Ho")]], "b": []}) as fake:
        await Runner.run(Agent(name="A", model=fake.responses_model("a")), "Hey")
        assert fake.remaining() == {"a": 1}


LONE: Any = [{"type": "function_call_output", "call_id": "call_9", "output": "7"}]


async def test_strict_refuses():
    """An input that the real API refuses is refused, and costs no answer."""
    async with FakeProvider({"a": [[message("Hi")]]}) as fake:
        agent = Agent(name="A", model=fake.responses_model("a"))
        with pytest.raises(openai.BadRequestError, match="call_9 has no call"):
            await Runner.run(agent, LONE)
        assert fake.remaining() == {"a": 1}


async def test_lenient_takes_anything():
    """With `strict=False` the same input is answered."""
    async with FakeProvider({"a": [[message("Hi")]]}, strict=False) as fake:
        agent = Agent(name="A", model=fake.responses_model("a"))
        assert (await Runner.run(agent, LONE)).final_output == "Hi"


async def test_store_is_remembered():
    """Reasoning without content is accepted where the server stored it, and only there."""
    script = {
        "a": [
            [reasoning("rs_1"), function_call("add", "call_1", a=1, b=2)],
            [message("3")],
        ]
    }
    for store, refused in ((True, False), (False, True)):
        async with FakeProvider(script) as fake:
            settings = ModelSettings(store=store)
            model = fake.responses_model("a")
            agent = Agent(name="A", model=model, model_settings=settings, tools=[add])
            if refused:
                with pytest.raises(openai.BadRequestError, match="was not stored"):
                    await Runner.run(agent, "1 + 2?")
            else:
                assert (await Runner.run(agent, "1 + 2?")).final_output == "3"


async def test_chat_refuses_hosted_items():
    """A step that Chat Completions cannot say is an error that names the type."""
    async with FakeProvider({"a": [[web_search_call("ws_1", "tides")]]}) as fake:
        agent = Agent(name="A", model=fake.chat_model("a"))
        with pytest.raises(openai.BadRequestError, match="no web_search_call"):
            await Runner.run(agent, "Hey")


async def test_compaction_endpoint():
    """`responses.compact` is answered from the same script."""
    compacted = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}
    async with FakeProvider({"a": [[compacted]]}) as fake:
        answer = await fake.client().responses.compact(model="a", input="Hello")
    assert answer.output[0].model_dump(exclude_unset=True) == compacted


async def test_unknown_path():
    """Another path is a 404 that lists the known ones."""
    async with FakeProvider({}) as fake:
        with pytest.raises(openai.NotFoundError, match="/v1/responses/compact"):
            await fake.client().embeddings.create(model="a", input="Hello")


@pytest.mark.parametrize("kind", ["responses_model", "chat_model"])
@pytest.mark.parametrize("ends", ["incomplete", "failed", "cut"])
async def test_stream_endings(kind, ends):
    """A stream that ends otherwise than completed raises, or gives what there was."""
    async with FakeProvider({"a": [Step([message("Hi")], ends=ends)]}) as fake:
        agent = Agent(name="A", model=getattr(fake, kind)("a"))
        if kind == "chat_model":
            assert (await run(agent, streamed=True)).final_output == "Hi"
        else:
            with pytest.raises(Exception, match=r"(?i)response|incomplete|failed"):
                await run(agent, streamed=True)


async def test_delay_and_pause():
    """A delay comes before the answer, a pause before the last event of a stream."""
    step = Step([message("Hi")], delay=0.05, pause=0.05)
    async with FakeProvider({"a": [step]}) as fake:
        started = time.perf_counter()
        agent = Agent(name="A", model=fake.responses_model("a"))
        await run(agent, streamed=True)
        assert time.perf_counter() - started >= 0.1


async def test_close_wakes_who_waits():
    """Closing hangs up at once on a client that still waits for its answer."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def answer(_body):
        loop.call_soon_threadsafe(asked.set)
        return Step([message("Hi")], delay=30)

    fake = FakeProvider({"a": answer}).start()
    agent = Agent(name="A", model=fake.responses_model("a"))
    waiting = asyncio.ensure_future(Runner.run(agent, "Hey"))
    await asked.wait()
    started = time.perf_counter()
    await fake.aclose()
    assert time.perf_counter() - started < 5
    with pytest.raises(openai.APIConnectionError):
        await waiting


async def test_close_within_a_pause():
    """Closing while a stream pauses leaves its last event out."""
    paused = asyncio.Event()
    fake = FakeProvider({"a": [Step([message("Hi")], pause=30)]}).start()
    agent = Agent(name="A", model=fake.responses_model("a"))
    result = Runner.run_streamed(agent, "Hey")

    async def consume():
        async for event in result.stream_events():
            kind = getattr(getattr(event, "data", None), "type", "")
            if kind == "response.output_item.done":
                paused.set()

    consuming = asyncio.ensure_future(consume())
    await paused.wait()
    await fake.aclose()
    with pytest.raises(Exception, match=r"(?i)response|connection|closed"):
        await consuming


@pytest.mark.parametrize(
    "sent", [b"", b"POST /v1/responses HTTP/1.0\r\nContent-Length: 9\r\n\r\n{"]
)
def test_half_a_request_is_no_failure(sent):
    """A client that hangs up before it has asked, politely or not, leaves no error behind."""
    with FakeProvider({}) as fake:
        address = ("127.0.0.1", int(fake.base_url[17:-3]))
        with socket.socket() as rude:
            rude.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            rude.connect(address)
            rude.sendall(sent)
        with socket.socket() as polite:
            polite.connect(address)
            polite.sendall(sent)
            polite.shutdown(socket.SHUT_WR)
            assert polite.recv(1) == b""
    assert (fake.failures, fake.requests) == ([], [])


def test_close_with_a_silent_client():
    """A connection that never asks anything does not hold up closing."""
    with socket.socket() as client:
        with FakeProvider({}) as fake:
            client.connect(("127.0.0.1", int(fake.base_url[17:-3])))
            client.sendall(b"POST")
            wait_for_threads(3)
        client.settimeout(5)
        assert client.recv(1) == b""


def wait_for_threads(count):
    """Waits until the server has taken the connection up."""
    deadline = time.monotonic() + 5
    while threading.active_count() < count and time.monotonic() < deadline:
        time.sleep(0.005)


async def test_client_that_hangs_up_is_no_failure():
    """A consumer that breaks off a stream leaves no error behind."""
    text = "many words " * 20_000
    async with FakeProvider({"a": [Step([message(text)])]}) as fake:
        agent = Agent(name="A", model=fake.responses_model("a"))
        result = Runner.run_streamed(agent, "Hey")
        async for _ in result.stream_events():
            result.cancel()
    assert fake.failures == []


def test_plain_with():
    """The provider also serves in a plain `with`, and leaves no connection open."""
    with FakeProvider(ADDING) as fake:
        agent = Agent(name="P", model=fake.responses_model("planner"), tools=[add])
        assert asyncio.run(Runner.run(agent, "1 + 2?")).final_output == "3"


def test_address_needs_serving():
    """Asking for the address of a provider that does not serve says what to do."""
    with pytest.raises(RuntimeError, match="use it inside `with FakeProvider"):
        _ = FakeProvider({}).base_url


def test_close_twice():
    """Closing a provider that does not serve does nothing."""
    fake = FakeProvider({}).start()
    fake.close()
    fake.close()
    assert fake.requests == []
