"""What degraders share: the registry, and the rules that several backends have in common.

A degrader is a pure function from span rows to span rows that does what a backend is documented to
do. `register` puts it into `DEGRADERS` together with what `docs/backends.md` says about it.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from itemtrace.codec import canonical
from itemtrace.codec.spans import SpanRow


Degrade = Callable[[Iterable[SpanRow]], Iterator[SpanRow]]
Change = Callable[[str, Any], "tuple[str, Any] | None"]
"""Key and value to what is kept of them; None drops the attribute."""


@dataclass(frozen=True, slots=True)
class Degrader:
    """One backend's rules.

    Attributes:
        name: What it is called.
        label: What people call the backend.
        function: Applies the rules.
        sources: Where the rules stand, file or page.
        profile: The profile that makes a recorded run exact, or empty where none does.
        limits: What ends exactness with that profile.
        configure: What the user sets.
        unconfirmed: Whether the rules are partly from hearsay.
    """

    name: str
    label: str
    function: Degrade
    sources: tuple[str, ...]
    profile: str = "portable"
    limits: str = ""
    configure: str = ""
    unconfirmed: bool = False

    def __call__(self, rows: Iterable[SpanRow]) -> list[SpanRow]:
        """Returns the rows as the backend gives them back."""
        return list(self.function(rows))


DEGRADERS: Final[dict[str, Degrader]] = {}
"""Name -> degrader, in the order of their modules."""


def register(
    name: str, label: str, *sources: str, **facts: Any
) -> Callable[[Degrade], Degrade]:
    """Registers a function as a degrader; `facts` are the other fields of `Degrader`."""

    def add(function: Degrade) -> Degrade:
        DEGRADERS[name] = Degrader(name, label, function, sources, **facts)
        return function

    return add


# --- rules ------------------------------------------------------------------------


def cut_bytes(text: str, most: int, mark: str = "") -> str:
    """Returns at most so many UTF-8 bytes, cut anywhere, as Go slices strings; then a mark.

    Half a character at the end is read back as U+FFFD.
    """
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= most:
        return text
    return raw[:most].decode("utf-8", "replace") + mark


def cut_whole_bytes(text: str, most: int, mark: str = "") -> str:
    """As `cut_bytes`, but before a character that does not fit."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= most:
        return text
    return raw[:most].decode("utf-8", "ignore") + mark


def json_text(value: Any) -> str:
    """Returns what Go's `AsString` makes of a list, a map or bytes: JSON, base64, or nothing.

    A NaN inside erases the whole value, since Go's JSON encoder refuses it.
    """
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if any(type(leaf) is float and not math.isfinite(leaf) for leaf in leaves(value)):
        return ""
    return canonical.dumps(sorted_keys(value))


def leaves(value: Any) -> Iterator[Any]:
    """Yields what is in lists and maps, however deep."""
    if isinstance(value, Mapping):
        for child in cast("Mapping[str, Any]", value).values():
            yield from leaves(child)
    elif isinstance(value, list | tuple):
        for child in cast("list[Any]", value):
            yield from leaves(child)
    else:
        yield value


def sorted_keys(value: Any) -> Any:
    """Returns a value with its maps in the order of their keys, and what JSON has no word for as text."""
    if isinstance(value, Mapping):
        known = cast("Mapping[str, Any]", value)
        return {key: sorted_keys(known[key]) for key in sorted(known)}
    if isinstance(value, list | tuple):
        return [sorted_keys(child) for child in cast("list[Any]", value)]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def as_string(value: Any) -> str:
    """Returns what Go's `pcommon.Value.AsString` gives (open-telemetry/opentelemetry-collector)."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return ""
        case float():
            return go_float(value)
        case int():
            return str(value)
        case _:
            return json_text(value)


def go_float(value: float) -> str:
    """Returns a float as Go writes it: `1.0` as `1`, `NaN`, `+Inf`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return re.sub(r"\.0$", "", repr(value))


def nested_as_json(key: str, value: Any) -> tuple[str, Any]:
    """Lists, maps and bytes become text; the rest keeps its type."""
    if isinstance(value, Mapping | list | tuple | bytes):
        return key, json_text(value)
    return key, "" if value is None else value


def all_as_string(key: str, value: Any) -> tuple[str, Any]:
    """Every value becomes text."""
    return key, as_string(value)


def flattened(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns attributes whose maps became keys with dots; an empty map is gone."""
    found: dict[str, Any] = {}
    for key, value in attributes.items():
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, Any]", value)
            found |= flattened(
                {f"{key}.{name}": child for name, child in inner.items()}
            )
        else:
            found[key] = value
    return found


def changed(attributes: Mapping[str, Any], *changes: Change) -> dict[str, Any]:
    """Returns attributes after some changes; a later key of the same name wins."""
    found: dict[str, Any] = {}
    for key, value in attributes.items():
        pair: tuple[str, Any] | None = (key, value)
        for change in changes:
            pair = change(*pair) if pair is not None else None
        if pair is not None:
            found[pair[0]] = pair[1]
    return found


def everywhere(row: SpanRow, *changes: Change) -> SpanRow:
    """Returns a row whose attributes were changed: of the span, its events, links and resource."""
    return replace(
        row,
        attributes=changed(row.attributes, *changes),
        events=tuple(
            {**event, "attributes": changed(event["attributes"], *changes)}
            for event in row.events
        ),
        links=tuple(
            {**link, "attributes": changed(link["attributes"], *changes)}
            for link in row.links
        ),
        resource=changed(row.resource, *changes),
    )


def in_microseconds(row: SpanRow) -> SpanRow:
    """Returns a row whose times lost what is below a microsecond."""
    return replace(
        row,
        start_ns=row.start_ns // 1000 * 1000,
        end_ns=row.end_ns // 1000 * 1000,
        events=tuple(
            {**event, "time_ns": event["time_ns"] // 1000 * 1000}
            for event in row.events
        ),
    )


def bare_links(row: SpanRow) -> tuple[Mapping[str, Any], ...]:
    """Returns the links of a row without their attributes."""
    nothing: dict[str, Any] = {}
    return tuple({**link, "attributes": nothing} for link in row.links)


def first_keys(attributes: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Returns the first attributes."""
    return dict(list(attributes.items())[:most])


def size_of(row: SpanRow) -> int:
    """Returns about how many bytes a span takes: its name, keys and values."""
    told = sum(
        len(key) + len(as_string(value).encode("utf-8", "surrogatepass"))
        for key, value in (*row.attributes.items(), *row.resource.items())
    )
    events = sum(len(as_string(event["attributes"])) for event in row.events)
    return 100 + len(row.name) + told + events


def until_full(rows: Iterable[SpanRow], most: int) -> Iterator[SpanRow]:
    """Yields the rows of each trace until it has so many bytes; what comes later is dropped."""
    sizes: dict[str, int] = {}
    for row in rows:
        size = sizes.get(row.trace_id, 0) + size_of(row)
        if size <= most:
            sizes[row.trace_id] = size
            yield row


def small_enough(rows: Iterable[SpanRow], most: int) -> Iterator[SpanRow]:
    """Yields the rows that have at most so many bytes; others are refused whole."""
    return (row for row in rows if size_of(row) <= most)


def cut_values(
    most: int, cut: Callable[..., str] = cut_bytes, mark: str = ""
) -> Change:
    """Returns the change that cuts strings."""

    def change(key: str, value: Any) -> tuple[str, Any]:
        return key, cut(value, most, mark) if isinstance(value, str) else value

    return change


def cut_characters(text: str, most: int, mark: str = "") -> str:
    """Returns at most so many code points."""
    return text if len(text) <= most else text[:most] + mark


def short_keys(most: int, *, drop: bool) -> Change:
    """Returns the change that drops or cuts keys with more characters."""

    def change(key: str, value: Any) -> tuple[str, Any] | None:
        if len(key) <= most:
            return key, value
        return None if drop else (key[:most], value)

    return change
