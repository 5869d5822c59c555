"""Tables whose numbers and ids are never cut: only the columns that may shrink do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from itemtrace.cli.safe import one_line


GAP = 2
"""Spaces between columns."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: Its heading; empty for a grid without headings.
        right: Numbers stand at the right.
        shrinks: Whether its cells are cut where the terminal is narrow.
        least: Not below so many columns, as far as there are any.
    """

    name: str
    right: bool = False
    shrinks: bool = False
    least: int = 8


@dataclass
class Grid:
    """Rows of cells; a cell is made safe unless it is a `Text` already.

    Attributes:
        columns: The columns.
        rows: The rows.
        footer: The last row, in bold.
    """

    columns: Sequence[Column]
    rows: list[list[Text]] = field(default_factory=list[list[Text]])
    footer: list[Text] | None = None

    def add(self, *cells: str | Text) -> None:
        """Adds a row."""
        self.rows.append([as_cell(cell) for cell in cells])

    def foot(self, *cells: str | Text) -> None:
        """Sets the last row."""
        self.footer = [as_cell(cell, "bold") for cell in cells]

    def __rich_console__(
        self,
        console: Console,
        options: ConsoleOptions,
    ) -> RenderResult:
        """Renders a line for each row."""
        lines = [*self.rows, *([self.footer] if self.footer else [])]
        if any(column.name for column in self.columns):
            lines.insert(0, [Text(column.name, style="dim") for column in self.columns])
        widths = self.widths(lines, options.max_width)
        for cells in lines:
            yield self.line(cells, widths)

    def line(self, cells: list[Text], widths: list[int]) -> Text:
        """Returns a row as one line."""
        line = Text(no_wrap=True)
        for column, cell, width in zip(self.columns, cells, widths, strict=True):
            shown = cell.copy()
            shown.truncate(width, overflow="ellipsis")
            blank = " " * (width - cell_len(shown.plain))
            if line:
                line.append(" " * GAP)
            line.append(blank if column.right else "").append_text(shown)
            line.append("" if column.right else blank)
        line.rstrip()
        return line

    def widths(self, lines: list[list[Text]], room: int) -> list[int]:
        """Returns the width of each column within the room there is."""
        found = [max(map(cell_width, column)) for column in zip(*lines, strict=True)]
        over = sum(found) + GAP * (len(found) - 1) - room
        while over > 0:
            wide = [
                place
                for place, column in enumerate(self.columns)
                if column.shrinks and found[place] > column.least
            ]
            if not wide:
                break
            found[max(wide, key=lambda place: found[place])] -= 1
            over -= 1
        return found


def cell_width(cell: Text) -> int:
    """Returns how many columns of the terminal a cell takes."""
    return cell_len(cell.plain)


def as_cell(cell: str | Text, style: str = "") -> Text:
    """Returns a cell as one safe line."""
    return cell if isinstance(cell, Text) else Text(one_line(cell), style=style)
