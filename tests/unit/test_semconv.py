"""The registry of names: all that is emitted is in it, and all that is in it is emitted."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents import ModelSettings
from agents.tracing.span_data import (
    AgentSpanData,
    CustomSpanData,
    FunctionSpanData,
    GenerationSpanData,
    GuardrailSpanData,
    HandoffSpanData,
    MCPListToolsSpanData,
    ResponseSpanData,
    SpeechGroupSpanData,
    SpeechSpanData,
    TaskSpanData,
    TranscriptionSpanData,
    TurnSpanData,
)
from openai.types.responses import Response
from openai.types.shared import Reasoning

from itemtrace import semconv
from itemtrace.capture.spans import (
    Bare,
    CallInfo,
    SpanContextInfo,
    on_end,
    on_start,
    workflow_start,
)


# Registered for the parts of capture that are no span handlers: seen in their own tests.
ELSEWHERE = {"runner", "sink"}

RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "model": "gpt-5",
    "status": "completed",
    "service_tier": "default",
    "previous_response_id": "resp_0",
    "text": {"format": {"type": "json_schema"}},
    "prompt": {"id": "p", "version": "1", "variables": {"city": "Paris"}},
    "output": [{"type": "compaction"}],
    "instructions": "Be brief.",
    "tools": [{"type": "function", "name": "pay"}],
}
DETAILS = {
    "cached_tokens": 1,
    "cache_write_tokens": 1,
    "reasoning_tokens": 1,
    "text_tokens": 1,
    "image_tokens": 1,
    "audio_tokens": 1,
    "cached_tokens_details": {"text_tokens": 1, "image_tokens": 1, "audio_tokens": 1},
}
USAGE = {
    "requests": 1,
    "input_tokens": 1,
    "output_tokens": 1,
    "total_tokens": 2,
    "input_tokens_details": DETAILS,
    "output_tokens_details": DETAILS,
}
CALL = CallInfo(
    model="gpt-5",
    stream=True,
    base_url="https://api.openai.com/v1",
    settings=ModelSettings(
        temperature=1,
        top_p=1,
        frequency_penalty=1,
        presence_penalty=1,
        max_tokens=1,
        reasoning=Reasoning(effort="low"),
        extra_args={
            "seed": 1,
            "n": 2,
            "stop": ["x"],
            "top_k": 1,
            "service_tier": "flex",
        },
    ),
    usage=USAGE,
    finish_reason="stop",
    time_to_first_chunk=0.5,
    tool_call_id="call_1",
    tool_description="Pays.",
    call_id_source="order",
    executed=False,
    guardrail_kind="input",
    handoff_tool="to_boss",
)
ERROR = {"message": "m", "data": {"error": "boom"}}
CONFIG = {"language": "en"}
INFO = SpanContextInfo(agent_name="Clerk", workflow="Shop", compat=True, call=CALL)
DATA = [
    AgentSpanData("Clerk", ["Boss"], ["pay"], "Invoice"),
    TaskSpanData("Other", USAGE),
    TurnSpanData(1, "Clerk", USAGE),
    ResponseSpanData(
        response=Response.model_construct(**RESPONSE), input="x" * 20_000, usage=USAGE
    ),
    GenerationSpanData(model="gpt-4o", input=[], output=[]),
    FunctionSpanData("load_skill", '{"skill_name":"pdf"}', "ok", {"server": "bank"}),
    HandoffSpanData("Clerk", "Boss"),
    GuardrailSpanData("no_math"),
    CustomSpanData("db", {"rows": 1}),
    MCPListToolsSpanData("bank", ["pay"]),
    TranscriptionSpanData("UklG", "pcm", "hi", "whisper", CONFIG),
    SpeechSpanData("hi", "UklG", "pcm", "tts", CONFIG, "2026-11-30T00:00:00Z"),
    SpeechGroupSpanData("hi"),
    Bare("payment"),
]
INFOS = [
    INFO,
    dataclasses.replace(
        INFO, group_id="g1", workflow=None, vocabularies=("openinference",)
    ),
    SpanContextInfo(),
]


def emitted():
    """All that the handlers emit for one of each: (name, kind, attributes), start and end joined."""
    for info in INFOS:
        name, kind, attributes = workflow_start("trace_1", info, {"user": 1})
        yield name, kind.name, attributes
        for data in DATA:
            start = on_start(data, info)
            end = on_end(data, info, ERROR)
            yield start.name, start.kind.name, start.attributes
            more = {k: v for add in end.more for k, v in add(1_000).items()}
            said = {**start.attributes, **end.attributes, **more}
            yield end.name, start.kind.name, said


PREFIXES = tuple(key for key in semconv.KEYS.values() if key.endswith("."))


def registered(key):
    """The registry's entry of an emitted key; a prefix stands for all keys that start with it."""
    found = [prefix for prefix in PREFIXES if key.startswith(prefix)]
    return semconv.KEYS[found[0] if found else key]


def test_all_that_is_emitted_is_registered():
    """No handler emits a key that the registry does not have."""
    keys = {key for _, _, attributes in emitted() for key in attributes}
    assert {key for key in keys if not key.startswith(PREFIXES)} - set(
        semconv.KEYS
    ) == set()


def test_all_that_is_registered_is_emitted():
    """No key stands in the registry that nothing emits."""
    keys = {registered(key) for _, _, attributes in emitted() for key in attributes}
    mine = {key for key in semconv.KEYS.values() if key.where not in ELSEWHERE}
    assert mine - keys == set()


TYPES = {
    "string": str,
    "int": int,
    "double": float,
    "boolean": bool,
    "string[]": list,
}


def test_values_have_the_registered_type():
    """Each value is of the type that the registry says."""
    wrong = {
        key: value
        for _, _, attributes in emitted()
        for key, value in attributes.items()
        if type(value) is not TYPES[registered(key).type]
    }
    assert wrong == {}


def pattern(name):
    """A registered span name as a regular expression; what stands in braces may be absent."""
    escaped = re.sub(r" \\\{[^}]*\\\}", "( .+)?", re.escape(name).replace("\\ ", " "))
    return re.compile(re.sub(r"\\\{[^}]*\\\}", ".+", escaped))


def test_span_names_are_registered():
    """Each span has the kind of a registered name."""
    any_name = (semconv.CUSTOM, semconv.UNKNOWN)
    names = [
        n
        for n in semconv.SPAN_NAMES.values()
        if n not in any_name and n.where not in ELSEWHERE
    ]
    free = ("db", "payment")  # a custom span and a type of a newer SDK
    for name, kind, _ in emitted():
        kinds = [n.kind for n in names if pattern(n).fullmatch(name)]
        assert kinds == ([] if name in free else [kind]), name


def test_registered_names_are_emitted():
    """Each registered name is that of some span."""
    seen = {name for name, _, _ in emitted()}
    silent = {
        name
        for name in semconv.SPAN_NAMES.values()
        if name.where not in ELSEWHERE
        and not any(pattern(name).fullmatch(n) for n in seen)
    }
    assert silent == set()


def test_every_entry_is_documented():
    """A registry entry says what it is, for spans and keys alike."""
    entries = [*semconv.KEYS.values(), *semconv.SPAN_NAMES.values()]
    assert [entry for entry in entries if not entry.brief.endswith(".")] == []


def test_constants_are_named_after_their_keys():
    """The constant of a key is the key in capitals."""
    constants = {
        name: value
        for name, value in vars(semconv).items()
        if type(value) is semconv.Key
    }
    expected = {
        re.sub(r"[._]+", "_", key).strip("_").upper(): key
        for key in semconv.KEYS.values()
        if key not in semconv.GEN_AI_USAGE_MODALITY.values()
        and key is not semconv.ITEMTRACE_RECORD
    }
    assert constants == {**expected, "ITEMTRACE_RECORD": semconv.ITEMTRACE_RECORD}


def test_usage_only_on_model_spans():
    """Token counts under `gen_ai.usage` are on no other span than model calls."""
    with_usage = {
        name
        for name, _, attributes in emitted()
        if any(key.startswith("gen_ai.usage.") for key in attributes)
    }
    assert {name.split()[0] for name in with_usage} == {"chat"}


@pytest.mark.parametrize("content", [True, False])
def test_content_is_marked_in_the_registry(content):
    """What disappears without content is what the registry marks as content."""
    info = dataclasses.replace(INFO, content=content)
    keys = set(workflow_start("trace_1", info, {"user": 1}).attributes)
    for data in DATA:
        keys |= set(on_end(data, info, ERROR).attributes)
    marked = {key for key in keys if "Content." in registered(key).brief}
    assert bool(marked) is content


def test_generated_pages_are_fresh():
    """The reference in docs/ is what the registry says."""
    tool = Path(__file__).parents[2] / "tools" / "docs.py"
    done = subprocess.run(
        [sys.executable, tool, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
