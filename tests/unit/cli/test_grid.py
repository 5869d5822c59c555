"""Tables."""

from rich.text import Text
from tests.unit.cli.conftest import render

from itemtrace.cli.views.grid import Column, Grid


def grid():
    """A table with a wide column that may shrink."""
    found = Grid([Column("id"), Column("name", shrinks=True, least=4), Column("n", right=True)])  # fmt: skip
    found.add("a1b2", "ein sehr langer Name 笠笠笠", "1,234")
    found.add("c3", Text("kurz"), "5")
    return found


def test_wide_enough():
    """With room for all, nothing is cut, and numbers stand at the right."""
    assert render([grid()], 60).split("\n") == [
        "id    name                             n",
        "a1b2  ein sehr langer Name 笠笠笠  1,234",
        "c3    kurz                             5",
    ]


def test_narrow():
    """With less room only the column that may shrink is cut."""
    assert render([grid()], 24).split("\n") == [
        "id    name             n",
        "a1b2  ein sehr l…  1,234",
        "c3    kurz             5",
    ]


def test_never_below_the_least():
    """Ids and numbers stay whole however narrow the terminal is."""
    widths = grid().widths(grid().rows, 5)
    assert widths == [4, 4, 5]


def test_footer_and_no_headings():
    """A footer is the last row; without names there is no heading."""
    found = Grid([Column(""), Column("")])
    found.add("a", "1")
    found.foot("sum", "\x1b[1m")
    assert render([found]) == "a    1\nsum  \\x1b[1m"
