"""The frame of a transcript: a coloured rule at the left of what an agent or a nested run says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from itemtrace.cli.safe import safe
from itemtrace.cli.views.pretty import Fold, folded


COLOURS: Final = ("cyan", "magenta", "green", "yellow", "blue", "bright_red")
UNWRAPPED: Final = 20_000
"""Longer text is not wrapped at the width: rich would take seconds for a megabyte."""


@dataclass(frozen=True)
class Gutter:
    """A renderable with rules at its left.

    Attributes:
        content: What is inside.
        rules: Style of each rule, from the outermost.
    """

    content: RenderableType
    rules: tuple[str, ...]

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        """Renders the content narrower, each line with the rules before it."""
        if isinstance(
            self.content, Gutter
        ):  # one gutter, so that long lines stay whole
            yield Gutter(self.content.content, self.rules + self.content.rules)
            return
        prefix = [
            Segment("│ ", Style.parse(style)) if style else Segment("  ")
            for style in self.rules
        ]
        width = max(options.max_width - 2 * len(prefix), 20)
        inner = options.update(width=width, height=None)
        if isinstance(self.content, Plain):
            lines: Iterable[list[Segment]] = self.content.lines()
        else:
            lines = console.render_lines(self.content, inner, pad=False)
        for line in lines:
            yield from prefix
            yield from line
            yield Segment.line()


@dataclass(frozen=True)
class Plain:
    """Very long text, safe already, that goes out line by line as it is."""

    text: str
    style: str = ""

    def lines(self) -> Iterable[list[Segment]]:
        """Yields each line."""
        style = Style.parse(self.style) if self.style else None
        for line in self.text.split("\n"):
            yield [Segment(line, style)]

    def __rich_console__(
        self,
        console: Console,
        options: ConsoleOptions,
    ) -> RenderResult:
        """Renders the lines."""
        for line in self.lines():
            yield from line
            yield Segment.line()


class Palette:
    """Gives each agent a colour of its own, in order of appearance."""

    def __init__(self) -> None:
        self.known: dict[str | None, str] = {}

    def of(self, agent: str | None) -> str:
        """Returns the colour of an agent."""
        return self.known.setdefault(agent, COLOURS[len(self.known) % len(COLOURS)])


def prose(
    text: str, fold: Fold, *, style: str = "", markdown: bool = False
) -> list[RenderableType]:
    """Returns text for people, folded where it is long."""
    head, more = folded(text, fold)
    found: list[RenderableType] = []
    if len(head) > UNWRAPPED:
        found.append(Plain(head, style))
    elif markdown and not style:
        from itemtrace.cli.views.markdown import SafeMarkdown  # noqa: PLC0415 - slow to load

        found.append(SafeMarkdown(head))
    else:
        found.append(Text(head, style=style))
    if more:
        found.append(Text(more, style="dim italic"))
    return found


def label(*parts: tuple[str, str] | str) -> Text:
    """Returns a line of `(text, style)` parts; text is made safe."""
    line = Text()
    for part in parts:
        text, style = part if isinstance(part, tuple) else (part, "")
        line.append(safe(text), style=style)
    return line
