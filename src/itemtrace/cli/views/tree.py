"""`itemtrace show --tree`: the spans of a trace as a tree, with a bar for when each ran.

Spans of other instrumentations are in it too. Parent links come from outside and may go in
circles: every span is shown once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from itemtrace import semconv
from itemtrace.cli.safe import between, iso, one_line
from itemtrace.cli.views.frame import label


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow


BAR: Final = 24
DEEPEST: Final = 20
"""Spans deeper than this are not indented further."""

OURS: Final = "itemtrace"
SERVICE: Final = "service.name"


@dataclass(frozen=True, slots=True)
class Node:
    """A span at its place in the tree.

    Attributes:
        row: The span.
        depth: How many spans are above it.
        guide: The lines before its name.
    """

    row: SpanRow
    depth: int
    guide: str


def nodes(rows: Sequence[SpanRow]) -> Iterator[Node]:
    """Yields the spans of a trace from the top, each once."""
    spans = {row.span_id: row for row in rows}  # doubles are one
    children: dict[str, list[SpanRow]] = {}
    for row in sorted(
        spans.values(), key=lambda row: (row.start_ns, row.end_ns, row.span_id)
    ):
        parent = row.parent_id if row.parent_id in spans else ""
        children.setdefault(parent, []).append(row)
    left = dict(spans)
    starts = [*children.get("", ()), *spans.values()]  # what is left goes in circles
    for start in starts:
        waiting = [(start, 0, "", "")] if start.span_id in left else []
        while waiting:
            row, depth, guide, below = waiting.pop()
            del left[row.span_id]
            yield Node(row, depth, guide)
            inner = [
                child
                for child in children.get(row.span_id, ())
                if child.span_id in left
            ]
            for place, child in reversed(list(enumerate(inner))):
                last = place == len(inner) - 1
                deep = depth >= DEEPEST
                waiting.append(
                    (
                        child,
                        depth + 1,
                        guide if deep else below + ("└─ " if last else "├─ "),
                        below if deep else below + ("   " if last else "│  "),
                    )
                )


@dataclass(frozen=True)
class Line:
    """A span as one line: guides and name, duration, bar."""

    node: Node
    first_ns: int
    last_ns: int

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        """Renders the line at the console's width."""
        row = self.node.row
        took = between(row.start_ns, row.end_ns)
        room = max(options.max_width - BAR - 12, 24)
        name = Text(self.node.guide, style="dim", no_wrap=True)
        name.append(one_line(row.name, 120) or "(no name)", style=name_style(row))
        if row.scope != OURS:
            service = row.resource.get(SERVICE) or row.scope
            name.append(f"  {one_line(service, 40)}" if service else "", style="dim")
        if row.status == "ERROR":
            said = f" {one_line(row.status_message, 60)}" if row.status_message else ""
            name.append(f"  ✗{said}", style="red")
        name.truncate(room, overflow="ellipsis", pad=True)
        name.append(f" {took:>9} ", style="dim")
        name.append(bar(row, self.first_ns, self.last_ns), style=bar_style(row))
        name.rstrip()
        yield name


def name_style(row: SpanRow) -> str:
    """Returns the style of a span's name."""
    if row.scope != OURS:
        return "dim"
    return "bold" if row.attributes.get(semconv.GEN_AI_OPERATION_NAME) else ""


def bar_style(row: SpanRow) -> str:
    """Returns the colour of a span's bar."""
    if row.status == "ERROR":
        return "red"
    return "cyan" if row.scope == OURS else "dim"


def bar(row: SpanRow, first_ns: int, last_ns: int) -> str:
    """Returns a bar for when a span ran, between the trace's start and its end."""
    whole = max(last_ns - first_ns, 1)
    if row.start_ns <= 0:
        return ""
    start = min(max((row.start_ns - first_ns) * BAR // whole, 0), BAR - 1)
    width = max((row.end_ns - row.start_ns) * BAR // whole, 0)
    drawn = "━" * min(width, BAR - start) if width else "╸"
    return " " * start + drawn


def parts(rows: Sequence[SpanRow]) -> Iterator[RenderableType]:
    """Yields the tree for people."""
    first = min((row.start_ns for row in rows if row.start_ns > 0), default=0)
    last = max((row.end_ns for row in rows), default=0)
    found = list(nodes(rows))
    for node in found:
        yield Line(node, first, last)
    yield label((f"{len(found)} spans, {between(first, last)}", "dim"))


def lines(rows: Sequence[SpanRow]) -> Iterator[dict[str, Any]]:
    """Yields each span as JSON, in the order of the tree."""
    for node in nodes(rows):
        row = node.row
        yield {
            "span_id": row.span_id,
            "parent_id": row.parent_id or None,
            "depth": node.depth,
            "name": row.name,
            "kind": row.kind,
            "scope": row.scope,
            "start": iso(row.start_ns),
            "seconds": max(row.end_ns - row.start_ns, 0) / 1e9,
            "status": row.status,
            "status_message": row.status_message,
        }
