"""What a session callback made of the stored history and the new input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemtrace.capture.guard import guarded


if TYPE_CHECKING:
    from collections.abc import Callable

    from itemtrace.capture.recording import Given


def observed(
    callback: Callable[[list[Any], list[Any]], Any], given: Given
) -> Callable[[list[Any], list[Any]], Any]:
    """Returns the user's `session_input_callback`, with a look at what it got.

    The SDK calls it with the stored items and the new ones (agents/run_internal/session_persistence.py,
    `prepare_input_with_session`); what it returns, filtered, is what the first model call of the run sees.
    """
    inner = getattr(
        callback, "itemtrace_inner", callback
    )  # a nested run gets its parent's config

    def call(history: list[Any], new: list[Any]) -> Any:
        _note(history, new, given)
        return inner(history, new)

    call.itemtrace_inner = inner  # type: ignore[attr-defined]
    return call


@guarded("session_input_callback")
def _note(history: list[Any], new: list[Any], given: Given) -> None:
    given.merged = (list(history), list(new))


def first_origins(given: Given, items: list[Any]) -> list[list[Any]] | None:
    """Returns what the first list of a run with a session is made of; None without a session.

    Without a callback the SDK appends the caller's input to the stored items.
    """
    if "session" not in given.options:
        return None
    if given.merged is not None:
        return origins(*given.merged, items)
    fresh = (
        [{"content": given.input, "role": "user"}]
        if isinstance(given.input, str)
        else given.input or []
    )
    stored = items[: len(items) - len(fresh)] if fresh else items
    return origins(list(stored), list(fresh), items)


def origins(
    stored: list[Any], fresh: list[Any], combined: list[Any]
) -> list[list[Any]]:
    """Returns `[kind, count]` pairs over a list: `history`, `input` or `added`.

    An item is told by identity first, then by being equal to one that is not yet accounted for.
    """
    left = [("history", item) for item in stored] + [("input", item) for item in fresh]
    found: list[list[Any]] = []
    for item in combined:
        place = next((n for n, (_, known) in enumerate(left) if known is item), None)
        if place is None:
            place = next(
                (n for n, (_, known) in enumerate(left) if known == item), None
            )
        kind = "added" if place is None else left.pop(place)[0]
        if found and found[-1][0] == kind:
            found[-1][1] += 1
        else:
            found.append([kind, 1])
    return found
