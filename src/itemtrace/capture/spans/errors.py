"""`error.type`: the provider's code, else the exception's qualified name, else `_OTHER`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from itemtrace.codec import canonical


OTHER: Final = "_OTHER"
"""The conventions' word for an error of unknown type."""


def error_type(error: BaseException) -> str:
    """Returns the type of an exception: a provider's code, else its class."""
    code = getattr(error, "code", None)
    if isinstance(code, str) and code:
        return code
    return canonical.type_name(error)


def span_error_type(error: Mapping[str, Any] | None) -> str:
    """Returns the type of an SDK span error, `_OTHER` unless its data names a code."""
    data = error.get("data") if error else None
    if not isinstance(data, Mapping):
        return OTHER
    code = cast("Mapping[str, Any]", data).get("code")
    return str(code) if isinstance(code, str | int) and code else OTHER
