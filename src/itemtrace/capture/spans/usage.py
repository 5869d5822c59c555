"""Token usage of span data as attributes.

Only model spans have `gen_ai.usage.*`: some backends add each span's tokens to those of all spans
below. Sums stand under `itemtrace.usage.*`. Zero is left out, since the SDK writes it for unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from itemtrace import semconv
from itemtrace.capture.messages import field


if TYPE_CHECKING:
    from itemtrace.capture.spans.base import Attributes


_SUMS: Final = (
    ("requests", semconv.ITEMTRACE_USAGE_REQUESTS),
    ("input_tokens", semconv.ITEMTRACE_USAGE_INPUT_TOKENS),
    ("output_tokens", semconv.ITEMTRACE_USAGE_OUTPUT_TOKENS),
    ("total_tokens", semconv.ITEMTRACE_USAGE_TOTAL_TOKENS),
    ("cached_input_tokens", semconv.ITEMTRACE_USAGE_CACHED_TOKENS),
    ("cached_tokens", semconv.ITEMTRACE_USAGE_CACHED_TOKENS),
    ("cache_write_input_tokens", semconv.ITEMTRACE_USAGE_CACHE_WRITE_TOKENS),
    ("cache_write_tokens", semconv.ITEMTRACE_USAGE_CACHE_WRITE_TOKENS),
    ("reasoning_tokens", semconv.ITEMTRACE_USAGE_REASONING_TOKENS),
)


def put_sums(attributes: Attributes, usage: Any) -> None:
    """Sets `itemtrace.usage.*` from a flat or nested usage."""
    if not usage:
        return
    for name, key in _SUMS:
        count = field(usage, name)
        if count:
            attributes[key] = count
    _put(attributes, field(usage, "input_tokens_details"), _SUMS)
    _put(attributes, field(usage, "output_tokens_details"), _SUMS)


_INPUT: Final = (
    ("cached_tokens", semconv.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS),
    ("cache_write_tokens", semconv.GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS),
)
_OUTPUT: Final = (("reasoning_tokens", semconv.GEN_AI_USAGE_REASONING_OUTPUT_TOKENS),)


def put_usage(attributes: Attributes, usage: Any, *, compat: bool) -> None:
    """Sets `gen_ai.usage.*` of one model call."""
    if not usage:
        return
    for name, key in (
        ("input_tokens", semconv.GEN_AI_USAGE_INPUT_TOKENS),
        ("output_tokens", semconv.GEN_AI_USAGE_OUTPUT_TOKENS),
    ):
        count = field(usage, name)
        if count:
            attributes[key] = count
    read = field(usage, "input_tokens_details")
    wrote = field(usage, "output_tokens_details")
    _put(attributes, read, _INPUT)
    _put(attributes, wrote, _OUTPUT)
    if _splits(read, len(_INPUT)):
        _put(attributes, read, _MODALITIES["input_tokens"])
        cached = field(read, "cached_tokens_details")
        _put(attributes, cached, _MODALITIES["cache_read.input_tokens"])
    if _splits(wrote, len(_OUTPUT)):
        _put(attributes, wrote, _MODALITIES["output_tokens"])
    written = attributes.get(semconv.GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS)
    if compat and written:
        attributes[semconv.GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS] = written


_MODALITIES: Final = {
    count: tuple(
        (f"{modality}_tokens", semconv.GEN_AI_USAGE_MODALITY[modality, count])
        for modality in semconv.MODALITIES
    )
    for count in ("input_tokens", "output_tokens", "cache_read.input_tokens")
}


def _splits(details: Any, usual: int) -> bool:
    """Whether there can be more counts than the usual ones; saves the look for each."""
    return details is not None and not (
        isinstance(details, dict) and len(cast("dict[str, Any]", details)) <= usual
    )


def _put(
    attributes: Attributes, details: Any, names: tuple[tuple[str, semconv.Key], ...]
) -> None:
    if details is None:
        return
    for name, key in names:
        count = field(details, name)
        if count:
            attributes[key] = count
