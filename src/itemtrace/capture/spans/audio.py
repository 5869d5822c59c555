"""Voice pipelines: transcription, speech and their group. The audio itself is not kept."""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import SpanKind

from itemtrace import semconv
from itemtrace.capture.messages import field
from itemtrace.capture.spans.base import (
    Attributes,
    Named,
    SpanContextInfo,
    Start,
    keep_alive,
    put,
    register,
)
from itemtrace.codec import canonical


def transcription_start(data: Any, info: SpanContextInfo) -> Start:
    """Speech to text."""
    return _start("transcription", "text", data, info)


def transcription_end(data: Any, info: SpanContextInfo) -> Named:
    """Its audio comes in, its text goes out."""
    audio, text = field(data, "input"), field(data, "output")
    attributes = _content(audio, field(data, "input_format"), text, info)
    return Named("transcription", attributes)


def speech_start(data: Any, info: SpanContextInfo) -> Start:
    """Text to speech."""
    return _start("speech", "speech", data, info)


def speech_end(data: Any, info: SpanContextInfo) -> Named:
    """Its text comes in, its audio goes out."""
    audio, text = field(data, "output"), field(data, "input")
    attributes = _content(audio, field(data, "output_format"), text, info)
    first = field(data, "first_content_at")
    put(attributes, semconv.ITEMTRACE_AUDIO_FIRST_CONTENT_AT, first)
    return Named("speech", attributes)


def group_start(data: Any, info: SpanContextInfo) -> Start:  # noqa: ARG001 - a handler
    """The speech spans of one answer."""
    return Start("speech_group", SpanKind.INTERNAL, keep_alive(info))


def group_end(data: Any, info: SpanContextInfo) -> Named:
    """The whole text."""
    attributes = _content(None, None, field(data, "input"), info)
    return Named("speech_group", attributes)


def _start(name: str, output: str, data: Any, info: SpanContextInfo) -> Start:
    attributes = keep_alive(info)
    attributes[semconv.GEN_AI_OUTPUT_TYPE] = output
    put(attributes, semconv.ITEMTRACE_AUDIO_MODEL, field(data, "model"))
    config = field(data, "model_config")
    if config:
        attributes[semconv.ITEMTRACE_AUDIO_CONFIG] = canonical.dumps(dict(config))
    return Start(name, SpanKind.CLIENT, attributes)


def _content(audio: Any, kind: Any, text: Any, info: SpanContextInfo) -> Attributes:
    attributes: Attributes = {}
    put(attributes, semconv.ITEMTRACE_AUDIO_FORMAT, kind)
    if audio:
        attributes[semconv.ITEMTRACE_AUDIO_SIZE] = len(audio)
    if info.content:
        put(attributes, semconv.ITEMTRACE_AUDIO_TEXT, info.shown(text))
    return attributes


register("transcription", transcription_start, transcription_end)
register("speech", speech_start, speech_end)
register("speech_group", group_start, group_end)
