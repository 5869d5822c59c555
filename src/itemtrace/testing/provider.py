"""A model provider on loopback that answers from a script: no key, no network, no surprises.

    script = {"planner": [[function_call("add", "call_1", a=1, b=2)], [message("3")]]}
    async with FakeProvider(script) as fake:
        agent = Agent(name="Planner", model=fake.responses_model("planner"), tools=[add])
        result = await Runner.run(agent, "1 + 2?")

It speaks the Responses API and Chat Completions, whole and streamed, over real HTTP, so the SDK's
own model classes and the `openai` client are at work. Answers are handed out by model name: give
each agent a name of its own, and parallel and nested runs keep their order.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Self

from agents import (
    Model,
    ModelProvider,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
)
from openai import AsyncOpenAI

from itemtrace.testing.endpoints import APIS, Api, Reply, refusal
from itemtrace.testing.server import Server
from itemtrace.testing.wire import Step


Answer = Step | Sequence[Mapping[str, Any]]
"""A step, or just its output items."""

Answers = Sequence[Answer] | Callable[[dict[str, Any]], Answer]
"""A model's answers in order, or a function that makes one from each request's body."""

Script = Mapping[str, Answers]
"""Model name -> its answers."""


class FakeProvider:
    """Serves a script on 127.0.0.1 while its `with` or `async with` block runs.

    Attributes:
        script: What each model answers.
        strict: Whether inputs that the real API refuses are answered with 400.
        requests: The JSON bodies received, in order of arrival.
        failures: What the script's functions raised; `close` raises the first.
    """

    def __init__(self, script: Script, *, strict: bool = True) -> None:
        self.script = script
        self.strict = strict
        self.requests: list[dict[str, Any]] = []
        self.failures: list[BaseException] = []
        self._answered: Counter[str] = Counter()
        self._stored: set[str] = set()
        self._lock = Lock()
        self._server: Server | None = None
        self._clients: list[AsyncOpenAI] = []

    def start(self) -> Self:
        """Starts serving; done by `with` and `async with`."""
        self._server = Server(self.reply, self.failures)
        self._server.start()
        return self

    def close(self) -> None:
        """Stops serving and hangs up on whoever still waits."""
        if self._server is not None:
            self._server.stop()
            self._server = None
        if self.failures:
            raise self.failures.pop(0)

    async def aclose(self) -> None:
        """Closes the clients of the models that were made here, and stops serving."""
        while self._clients:
            await self._clients.pop().close()
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def base_url(self) -> str:
        """Where an `openai` client finds it."""
        if self._server is None:
            msg = "the fake provider is not serving; use it inside `with FakeProvider(...)`"
            raise RuntimeError(msg)
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def client(self) -> AsyncOpenAI:
        """Returns an `openai` client for it, without retries; closed by `aclose`."""
        made = AsyncOpenAI(base_url=self.base_url, api_key="not-a-key", max_retries=0)
        self._clients.append(made)
        return made

    def responses_model(self, name: str) -> OpenAIResponsesModel:
        """Returns the SDK's real Responses model `name`, talking to this server."""
        return OpenAIResponsesModel(model=name, openai_client=self.client())

    def chat_model(self, name: str) -> OpenAIChatCompletionsModel:
        """Returns the SDK's real Chat Completions model `name`, talking to this server."""
        return OpenAIChatCompletionsModel(model=name, openai_client=self.client())

    def models(self) -> ModelProvider:
        """Returns a model provider for `RunConfig`, for agents that name their models."""
        return ScriptedModels(self)

    def remaining(self) -> dict[str, int]:
        """Returns how many scripted answers each model still has; empty when all were given."""
        left = {
            model: len(answers) - self._answered[model]
            for model, answers in self.script.items()
            if not callable(answers)
        }
        return {model: number for model, number in left.items() if number > 0}

    def reply(self, path: str, body: dict[str, Any]) -> Reply:
        """Returns the next answer for a request; the server calls it from its threads."""
        api = APIS.get(path)
        if api is None:
            known = ", ".join(APIS)
            return refusal(
                "req_unknown", Step(status=404, error=f"no {path}; there are {known}")
            )
        with self._lock:
            self.requests.append(body)
            step, number = self._next(api, body)
            if step.status == 200 and body.get("store") is not False:
                self._stored.update(item["id"] for item in step.output if "id" in item)
        name = f"{body['model']}_{number}"
        if step.status != 200:
            return refusal(f"req_{name}", step)
        return api.reply(step, body, name)

    def _next(self, api: Api, body: dict[str, Any]) -> tuple[Step, int]:
        model = body["model"]
        number = self._answered[model]
        refused = api.refusals(body, self._stored) if self.strict else []
        if refused:
            return Step(status=400, error="; ".join(refused)), number
        answers = self.script.get(model, ())
        self._answered[model] += 1
        if callable(answers):
            answer = answers(body)
        elif number < len(answers):
            answer = answers[number]
        else:
            problem = (
                f"the script has no answer number {number + 1} for model {model!r}"
            )
            answer = Step(status=400, error=problem)
        return (answer if isinstance(answer, Step) else Step(answer)), number


class ScriptedModels(ModelProvider):
    """Gives the Responses model of a fake provider for each name."""

    def __init__(self, fake: FakeProvider) -> None:
        self._fake = fake
        self._models: dict[str, Model] = {}

    def get_model(self, model_name: str | None) -> Model:
        """Returns the model with this name; one object for all who ask."""
        name = model_name or "default"
        if name not in self._models:
            self._models[name] = self._fake.responses_model(name)
        return self._models[name]
