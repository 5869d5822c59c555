"""The sections of the benchmark, by name; a new one is a module and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.sections.content import Content
from benchmarks.sections.cpu import Cpu
from benchmarks.sections.memory import Memory
from benchmarks.sections.rebuild import Rebuild
from benchmarks.sections.stall import Stall


if TYPE_CHECKING:
    from benchmarks.sections.base import Section


SECTIONS: dict[str, Section] = {
    section.name: section
    for section in (Content(), Cpu(), Stall(), Memory(), Rebuild())
}
