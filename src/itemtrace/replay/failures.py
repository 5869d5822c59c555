"""Recorded exceptions as exceptions again, from fixed lists of classes.

Nothing is imported or called because a trace says so; an exception of another class becomes a
`RecordedError` with the same text.
"""

from __future__ import annotations

import ast
import builtins
import functools
from typing import Any

from agents import exceptions as sdk_exceptions


class RecordedError(RuntimeError):
    """An exception of a class that is not on the list, with its recorded text."""


@functools.cache
def known() -> dict[str, type[Exception]]:
    """Returns the exceptions that can come back, by name: builtins, the SDK's and the client's."""
    import openai  # noqa: PLC0415 - loaded when something failed

    found: dict[str, type[Exception]] = {}
    for module, prefix in (
        (builtins, ""), (sdk_exceptions, "agents.exceptions."), (openai, "openai."),
    ):  # fmt: skip
        for name, member in list(vars(module).items()):  # the client loads parts late
            # isinstance() would load whole parts of the client, which it keeps as proxies
            if issubclass(type(member), type) and issubclass(member, Exception):
                found.setdefault(name, member)
                found[prefix + name] = member
                found[f"{member.__module__}.{member.__qualname__}"] = member
    return found


def rebuilt(type_name: str | None, text: str) -> Exception:
    """Returns an exception whose class and text are as recorded.

    Args:
        type_name: The class; None where it is not known.
        text: What `str()` of it gave.
    """
    kind = known().get(type_name or "", RecordedError)
    made = _made(kind, text)
    if str(made) == text:
        return made
    named = type(
        kind.__name__,
        (kind,),
        {"__str__": lambda _self: text, "__module__": kind.__module__},  # pyright: ignore[reportUnknownLambdaType]
    )
    return _made(named, text)


def _made(kind: type[Exception], text: str) -> Exception:
    """Makes an exception without its constructor, which may want what was not recorded."""
    made: Any = kind.__new__(kind)
    argument: Any = text
    if issubclass(kind, KeyError):  # shows the repr of what it was given
        try:
            argument = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            argument = text
    Exception.__init__(made, argument)
    made.__dict__.setdefault("message", text)
    for name in (
        "response",
        "request",
        "body",
        "status_code",
        "run_data",
        "code",
        "param",
    ):
        made.__dict__.setdefault(name, None)
    found: Exception = made
    return found
