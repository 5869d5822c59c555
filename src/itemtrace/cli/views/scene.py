"""What all parts of a transcript know: how much is shown, which items, in which colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rich.console import RenderableType

from itemtrace.cli.views.frame import Palette, label
from itemtrace.cli.views.pretty import FOLDED, Fold
from itemtrace.ledger import Approval, Gap, Item, Run, ToolCall


@dataclass(frozen=True)
class Nested:
    """Stands in a transcript where a nested run is to be shown.

    Attributes:
        run: The run.
        rules: What stands at the left of it: the rule of the agent whose tool started it.
    """

    run: Run
    rules: tuple[str, ...] = ()


Part = RenderableType | Nested


@dataclass(frozen=True)
class Wanted:
    """Which items are shown; None for all.

    Attributes:
        agent: Of this agent.
        tool: Calls of this tool, with their outputs.
        type: Of this type: `message_output_item`, `message`, `function_call`, …
    """

    agent: str | None = None
    tool: str | None = None
    type: str | None = None

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self.agent is None and self.tool is None and self.type is None

    def wants(self, item: Item, tool: str | None = None) -> bool:
        """Whether an item is shown.

        Args:
            item: The item.
            tool: The tool that it answers, where the item itself does not say it.
        """
        return (
            (self.agent is None or item.agent == self.agent)
            and (self.tool is None or self.tool in (tool, item.tool_name))
            and (self.type is None or self.type in names_of(item))
        )


def names_of(item: Item) -> tuple[str, ...]:
    """Returns the types by which a person may call an item."""
    short = item.type.removesuffix("_item")
    return item.type, short, short.removesuffix("_output"), item.raw_type


@dataclass(frozen=True)
class Scene:
    """How a transcript is shown.

    Attributes:
        fold: How much of a long text.
        wanted: Which items.
        markdown: Whether messages are rendered as Markdown.
        instructions: Whether the instructions of agents are shown.
        palette: The colours of agents.
    """

    fold: Fold = FOLDED
    wanted: Wanted = Wanted()
    markdown: bool = True
    instructions: bool = False
    palette: Palette = field(default_factory=Palette)

    def of_run(self, run: Run) -> RunScene:
        """Returns the scene of one run."""
        return RunScene(self, run)


@dataclass(frozen=True)
class RunScene:
    """A scene and a run in it, with the indexes that its items need."""

    scene: Scene
    run: Run

    @cached_property
    def tool_calls(self) -> Mapping[int, ToolCall]:
        """Seq of the call's item -> tool call."""
        return {c.call.seq: c for c in self.run.tool_calls if c.call is not None}

    @cached_property
    def answers(self) -> Mapping[int, str | None]:
        """Seq of each output that is shown with its call -> the tool's name."""
        found: dict[int, str | None] = {
            c.output.seq: c.name
            for c in self.run.tool_calls
            if c.output is not None and c.call is not None
        }
        found |= {
            h.output.seq: h.tool_name for h in self.run.handoffs if h.output is not None
        }
        return found

    @cached_property
    def targets(self) -> Mapping[int, Any]:
        """Seq of a handoff's call -> the handoff."""
        return {handoff.call.seq: handoff for handoff in self.run.handoffs}

    @cached_property
    def decisions(self) -> Mapping[str | None, Approval]:
        """Call id -> what was decided, or that it waits."""
        return {approval.call_id: approval for approval in self.run.approvals}

    def wants(self, item: Item) -> bool:
        """Whether an item is shown."""
        return self.scene.wanted.wants(item, self.answers.get(item.seq))


def gap_line(gap: Gap) -> RenderableType:
    """Returns the line of a gap."""
    return label(
        ("✗ ", "bold red"), (f"{gap.cause}: ", "bold red"), (gap.message, "red")
    )
