"""Settings: one frozen object, read from arguments and environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from itemtrace.errors import ConfigError
from itemtrace.limits import PROFILES, Profile


if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


MESSAGES: Final = ("delta", "full", "off")
"""Readable copies: what is new in a call, everything it saw, or none."""

CONVENTIONS: Final = ("genai", "openinference")
"""Vocabularies of readable attributes; `genai` is always written."""

CAPTURE_CONTENT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""`false`, `NO_CONTENT` and `EVENT_ONLY` withhold content; unset keeps it (docs/privacy.md)."""

_NO_CONTENT: Final = frozenset({"false", "0", "no_content", "event_only"})


@dataclass(frozen=True)
class Settings:
    """How runs are recorded.

    Attributes:
        messages: Readable copies, one of `MESSAGES`.
        profile: How records are cut to fit a backend.
        content: False withholds all content.
        redact: Functions over raw items, applied before anything is recorded.
        compat: Emit the older GenAI names beside the newer ones.
        conventions: Vocabularies of readable attributes, of `CONVENTIONS`; the first is always there.
        state: Keep the SDK's `RunState` of interrupted runs, without the application's context.
    """

    messages: str = "delta"
    profile: Profile = PROFILES["portable"]
    content: bool = True
    redact: Sequence[Callable[[dict[str, Any]], dict[str, Any] | None]] = field(
        default=()
    )
    compat: bool = False
    state: bool = True
    conventions: tuple[str, ...] = ("genai",)

    @property
    def vocabularies(self) -> tuple[str, ...]:
        """The conventions beside the GenAI ones."""
        return self.conventions[1:]


def settings(  # noqa: PLR0913 - one keyword for each thing a user may choose
    *,
    messages: str | None = None,
    profile: str | Profile | None = None,
    redact: Sequence[Callable[[dict[str, Any]], dict[str, Any] | None]] = (),
    compat: bool = False,
    state: bool = True,
    conventions: Sequence[str] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """Returns the settings of arguments, then environment, then defaults.

    Raises:
        ConfigError: A value is none of the known ones.
    """
    chosen = messages or environ.get("ITEMTRACE_MESSAGES") or "delta"
    if chosen not in MESSAGES:
        msg = f"messages={chosen!r} is not known; choose one of {', '.join(MESSAGES)}"
        raise ConfigError(msg)
    if not all(callable(redactor) for redactor in redact):
        msg = "redact= takes functions that get an item and return it changed, or None"
        raise ConfigError(msg)
    flag = environ.get(CAPTURE_CONTENT, "").strip().lower()
    return Settings(
        messages=chosen,
        profile=_profile(profile or environ.get("ITEMTRACE_PROFILE") or "portable"),
        content=flag not in _NO_CONTENT,
        redact=tuple(redact),
        compat=compat,
        state=state,
        conventions=_conventions(conventions, environ),
    )


def _conventions(
    given: Sequence[str] | None, environ: Mapping[str, str]
) -> tuple[str, ...]:
    named = environ.get("ITEMTRACE_CONVENTIONS", "genai") if given is None else given
    chosen = named.split(",") if isinstance(named, str) else named
    names = tuple(dict.fromkeys(name.strip().lower() for name in chosen))
    unknown = [name for name in names if name not in CONVENTIONS]
    if unknown or "genai" not in names:
        msg = (
            f"conventions={tuple(chosen)!r} cannot be written; give 'genai', and beside it any of "
            f"{', '.join(CONVENTIONS[1:])}"
        )
        raise ConfigError(msg)
    return ("genai", *(name for name in names if name != "genai"))


def _profile(name: str | Profile) -> Profile:
    if isinstance(name, Profile):
        return name
    if name not in PROFILES:
        msg = f"profile={name!r} is not known; choose one of {', '.join(PROFILES)}"
        raise ConfigError(msg)
    return PROFILES[name]
