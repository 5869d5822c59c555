"""The run that everybody records: one agent, N turns, a tool call in each but the last.

The model is a stub that fills the SDK's response span with real `Response` objects, as the SDK's own
model does, so there is no HTTP client and little base cost. Everything is derived from a counter: two
runs of one shape are equal to the byte.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    RunResult,
    Usage,
)
from agents.tracing import response_span
from openai.types.responses import Response


if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from agents.models.interface import ModelTracing
    from agents.tool_context import ToolContext


INSTRUCTIONS = (
    "You look up one record after another and then say in one sentence what you found."
)
QUESTION = "Which of the records in the archive speak of the harbour?"
SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "what to look for"}},
    "required": ["query"],
    "additionalProperties": False,
}

TEXTS = {
    "ascii": "The harbour master wrote that the ship came in at noon with salt, timber and 40 crates of oranges. ",
    "japanese": "港の記録によれば、船は正午に塩と木材とみかん四十箱を積んで入港した。荷主は翌朝に受け取りに来た。",
}


def text_of(size: int, script: str, number: int) -> str:
    """Returns a text of about `size` UTF-8 bytes, different for each number."""
    head = f"[{number}] "
    unit = TEXTS[script]
    room = size - len(head)
    whole = unit * (room // len(unit.encode()) + 1)
    return head + whole.encode()[:room].decode(errors="ignore")


def _name(prefix: str, length: int, *parts: object) -> str:
    digest = hashlib.sha256(":".join(map(str, parts)).encode()).hexdigest()
    return f"{prefix}_{digest[:length]}"


def response(run: int, turn: int, turns: int, script: str) -> Response:
    """Returns what the model says at a turn: a tool call, or the answer at the last one."""
    last = turn == turns - 1
    call = {
        "type": "function_call",
        "id": _name("fc", 48, run, turn),
        "call_id": _name("call", 24, run, turn),
        "name": "lookup",
        "arguments": json.dumps({"query": f"harbour, part {turn}"}),
        "status": "completed",
    }
    answer = {
        "type": "message",
        "id": _name("msg", 48, run, turn),
        "role": "assistant",
        "status": "completed",
        "content": [
            {
                "type": "output_text",
                "text": text_of(200, script, turn),
                "annotations": [],
            }
        ],
    }
    return Response.model_validate(
        {
            "id": _name("resp", 48, run, turn),
            "object": "response",
            "created_at": 1_800_000_000 + turn,
            "model": "gpt-5.5",
            "output": [answer if last else call],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 120 + 290 * turn,
                "input_tokens_details": {
                    "cached_tokens": 100 * turn,
                    "cache_write_tokens": 0,
                },
                "output_tokens": 31 + turn % 7,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 151 + 290 * turn + turn % 7,
            },
        }
    )


@dataclass
class StubModel(Model):
    """Answers from a list and fills the response span as the SDK's own model does.

    Attributes:
        responses: The answers, in order.
        pause: Seconds to sleep before each answer.
        stamps: CPU seconds of the process when each call came in.
    """

    responses: list[Response]
    pause: float | None = None
    stamps: list[float] = field(default_factory=list)

    async def get_response(  # noqa: PLR0913, PLR0917 - the interface's
        self,
        system_instructions: str | None,  # noqa: ARG002 - the interface's names
        input: Any,  # noqa: A002
        model_settings: Any,  # noqa: ARG002
        tools: list[Any],  # noqa: ARG002
        output_schema: Any,  # noqa: ARG002
        handoffs: list[Any],  # noqa: ARG002
        tracing: ModelTracing,
        **_: Any,
    ) -> ModelResponse:
        """Gives the next answer."""
        self.stamps.append(time.process_time())
        if self.pause is not None:
            await asyncio.sleep(self.pause)
        with response_span(disabled=tracing.is_disabled()) as span:
            answer = self.responses[len(self.stamps) - 1]
            usage = usage_of(answer)
            if tracing.include_data():
                span.span_data.response = answer
                span.span_data.input = input
            span.span_data.usage = {
                "requests": 1,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "total_tokens": usage.total_tokens,
            }
        return ModelResponse(output=answer.output, usage=usage, response_id=answer.id)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Not part of the benchmark."""
        raise NotImplementedError


def usage_of(answer: Response) -> Usage:
    """Returns a response's usage in the SDK's terms."""
    said = answer.usage
    assert said is not None
    return Usage(
        requests=1,
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        total_tokens=said.total_tokens,
        input_tokens_details=said.input_tokens_details,
        output_tokens_details=said.output_tokens_details,
    )


@dataclass(frozen=True)
class Shape:
    """How a run looks.

    Attributes:
        turns: Model calls; each but the last calls the tool once.
        size: UTF-8 bytes of a tool output.
        script: `ascii` or `japanese`.
        pause: Seconds the model takes to answer.
    """

    turns: int = 10
    size: int = 1_000
    script: str = "ascii"
    pause: float | None = None


def prepare(shape: Shape, number: int = 0) -> Callable[[], Any]:
    """Returns a function that runs a run of this shape; its answers and outputs exist beforehand."""
    answers = [
        response(number, turn, shape.turns, shape.script) for turn in range(shape.turns)
    ]
    outputs = iter(
        [text_of(shape.size, shape.script, turn) for turn in range(shape.turns)]
    )
    model = StubModel(answers, shape.pause)

    async def lookup(_context: ToolContext[Any], _arguments: str) -> str:
        return next(outputs)

    tool = FunctionTool(
        name="lookup",
        description="Looks up a record in the archive.",
        params_json_schema=SCHEMA,
        on_invoke_tool=lookup,
    )
    agent = Agent(
        name="archivist", instructions=INSTRUCTIONS, model=model, tools=[tool]
    )

    async def run() -> tuple[RunResult, list[float]]:
        result = await Runner.run(
            agent,
            QUESTION,
            max_turns=shape.turns + 1,
            run_config=RunConfig(workflow_name="benchmark"),
        )
        return result, model.stamps

    return run
