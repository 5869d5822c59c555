"""What a model is asked, and the real model that is asked after a fork."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agents import Model, ModelSettings
from agents.models import get_default_model_settings


if TYPE_CHECKING:
    from itemtrace.replay.frame import Frame


NAMES: Final = (
    "system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing",
)  # fmt: skip
"""The arguments of a model call that the SDK may pass by position (agents/models/interface.py)."""


class Asked:
    """The arguments of a model call.

    Attributes:
        given: All of them by name.
        system: The instructions.
        items: The input as a list.
        tracing: How the call is traced.
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.given = {**dict(zip(NAMES, args, strict=False)), **kwargs}
        self.system: str | None = self.given["system_instructions"]
        told = self.given["input"]
        self.items: list[Any] = (
            [{"content": told, "role": "user"}] if isinstance(told, str) else list(told)
        )
        self.tracing = self.given["tracing"]


def real_model(frame: Frame) -> Model:
    """Returns the model that the caller's configuration names (agents/run_internal/turn_preparation.py)."""
    given = getattr(frame.config, "model", None) or getattr(frame.agent, "model", None)
    if isinstance(given, Model):
        return given
    found: Model = frame.config.model_provider.get_model(given)
    return found


def real_arguments(frame: Frame, asked: Asked) -> dict[str, Any]:
    """Returns the arguments for the real model, with the settings that its name implies."""
    settings = _implied(frame).resolve(asked.given["model_settings"])
    return {**asked.given, "model_settings": settings}


def _implied(frame: Frame) -> ModelSettings:
    """Returns the settings that the SDK would take from the real model's name alone."""
    agent = frame.agent
    if agent is None or agent.model_settings != by_name(getattr(agent, "model", None)):
        return ModelSettings()
    chosen = getattr(frame.config, "model", None)
    return by_name(agent.model if chosen is None else chosen)


def by_name(model: Any) -> ModelSettings:
    """Returns the SDK's settings for a model that is named, or for the default one."""
    if model is None:
        return get_default_model_settings()
    return (
        get_default_model_settings(model) if isinstance(model, str) else ModelSettings()
    )
