"""A request's settings: from the runner seam, else from span data, else as the response echoes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from itemtrace import semconv
from itemtrace.capture.messages import field
from itemtrace.capture.spans.base import Attributes, CallInfo, put


if TYPE_CHECKING:
    from itemtrace.capture.spans.result import Reply


_SETTINGS: Final = (
    ("temperature", semconv.GEN_AI_REQUEST_TEMPERATURE, float),
    ("top_p", semconv.GEN_AI_REQUEST_TOP_P, float),
    ("frequency_penalty", semconv.GEN_AI_REQUEST_FREQUENCY_PENALTY, float),
    ("presence_penalty", semconv.GEN_AI_REQUEST_PRESENCE_PENALTY, float),
    ("max_tokens", semconv.GEN_AI_REQUEST_MAX_TOKENS, int),
    ("max_output_tokens", semconv.GEN_AI_REQUEST_MAX_TOKENS, int),
)
_EXTRA: Final = (
    ("seed", semconv.GEN_AI_REQUEST_SEED, int),
    ("top_k", semconv.GEN_AI_REQUEST_TOP_K, int),
)


def put_settings(
    attributes: Attributes, data: Any, call: CallInfo, reply: Reply
) -> None:
    """Sets `gen_ai.request.*` from the first source that there is."""
    source = call.settings or field(data, "model_config") or reply.response
    if source is None:
        return
    _put_numbers(attributes, source, _SETTINGS)
    effort = field(field(source, "reasoning"), "effort")
    put(attributes, semconv.GEN_AI_REQUEST_REASONING_LEVEL, effort)
    for extra in _extras(source):
        _put_extra(attributes, extra)


def put_tiers(attributes: Attributes, call: CallInfo, reply: Reply) -> None:
    """Sets the asked and the used service tier, which only OpenAI has."""
    for extra in _extras(call.settings):
        tier = extra.get("service_tier")
        if tier != "auto":
            put(attributes, semconv.OPENAI_REQUEST_SERVICE_TIER, tier)
    used = field(reply.response, "service_tier")
    put(attributes, semconv.OPENAI_RESPONSE_SERVICE_TIER, used)


def _extras(source: Any) -> list[Mapping[str, Any]]:
    extras = (field(source, "extra_args"), field(source, "extra_body"))
    return [cast("Mapping[str, Any]", e) for e in extras if isinstance(e, Mapping)]


def _put_extra(attributes: Attributes, extra: Mapping[str, Any]) -> None:
    _put_numbers(attributes, extra, _EXTRA)
    count = extra.get("n")
    if isinstance(count, int) and count != 1:
        attributes[semconv.GEN_AI_REQUEST_CHOICE_COUNT] = count
    stop = extra.get("stop")
    if stop:
        words = [stop] if isinstance(stop, str) else [str(word) for word in stop]
        attributes[semconv.GEN_AI_REQUEST_STOP_SEQUENCES] = words


def _put_numbers(
    attributes: Attributes,
    source: Any,
    names: tuple[tuple[str, semconv.Key, type[int | float]], ...],
) -> None:
    for name, key, number in names:
        value = field(source, name)
        if isinstance(value, int | float):
            attributes[key] = number(value)
