"""Model calls: the SDK's `response` and `generation` spans become `chat` spans."""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import SpanKind

from itemtrace import semconv
from itemtrace.capture.messages import field
from itemtrace.capture.spans import provider, readable, request, result
from itemtrace.capture.spans.base import (
    Attributes,
    CallInfo,
    Named,
    SpanContextInfo,
    Start,
    named,
    operation,
    put,
    register,
)
from itemtrace.capture.spans.usage import put_usage


_NOTHING = CallInfo()
_APIS = {"response": "responses", "generation": "chat_completions"}


def start(data: Any, info: SpanContextInfo) -> Start:
    """Returns what a sampler may ask for, and all else that is known before the call."""
    call = info.call or _NOTHING
    model = call.model or field(data, "model")
    attributes = operation("chat", info)
    place = _endpoint(data, call, model)
    attributes[semconv.GEN_AI_PROVIDER_NAME] = place.provider
    put(attributes, semconv.GEN_AI_REQUEST_MODEL, model)
    put(attributes, semconv.SERVER_ADDRESS, place.address)
    put(attributes, semconv.SERVER_PORT, place.port)
    if call.stream:
        attributes[semconv.GEN_AI_REQUEST_STREAM] = True
    if place.provider == "openai":
        attributes[semconv.OPENAI_API_TYPE] = call.api or _APIS[data.type]
    return Start(named("chat", model), SpanKind.CLIENT, attributes)


def end(data: Any, info: SpanContextInfo) -> Named:
    """Returns the request's settings, the response's facts, usage and the readable copies."""
    call = info.call or _NOTHING
    model = call.model or field(data, "model")
    reply = result.reply_of(data, call)
    attributes: Attributes = {}
    request.put_settings(attributes, data, call, reply)
    result.put_reply(attributes, reply, info)
    if result.is_compacted(data, call, reply):
        attributes[semconv.GEN_AI_CONVERSATION_COMPACTED] = True
    if _endpoint(data, call, model).provider == "openai":
        request.put_tiers(attributes, call, reply)
    put_usage(attributes, field(data, "usage") or call.usage, compat=info.compat)
    if call.stream:
        first = call.time_to_first_chunk
        put(attributes, semconv.GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK, first)
    if info.content and info.messages != "off":
        readable.put_messages(attributes, data, info, call, reply)
    return Named(named("chat", model), attributes)


def _endpoint(data: Any, call: CallInfo, model: Any) -> provider.Endpoint:
    config = field(data, "model_config")
    url = call.base_url or field(config, "base_url") or ""
    default = "openai" if data.type == "response" else provider.UNKNOWN
    place = provider.endpoint(str(url), provider.prefix_of(model, config), default)
    return place._replace(provider=call.provider) if call.provider else place


register("response", start, end)
register("generation", start, end)
