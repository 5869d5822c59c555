"""How each type of item reads in a transcript: one registered function for each.

A type without one is shown as its JSON, so items of a newer SDK are there too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from rich.console import RenderableType

from itemtrace.cli.safe import duration, size
from itemtrace.cli.views.content import bytes_in, text_of
from itemtrace.cli.views.frame import Gutter, label, prose
from itemtrace.cli.views.pretty import WIDTH, from_text, json_text, mark, shown
from itemtrace.cli.views.scene import Nested, Part, RunScene
from itemtrace.ledger import ErrorInfo, Item, ToolCall
from itemtrace.ledger.parts import mapping, sequence


Reader = Callable[[Item, RunScene], Iterator[Part]]

READERS: Final[dict[str, Reader]] = {}
"""The SDK's type of an item -> how it reads."""

SIGNS: Final = {
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("⊘", "yellow"),
    "rejected": ("⊘", "red"),
    "pending": ("◌", "yellow"),
}
"""Status of a tool call -> its sign and colour."""


def reads(*types: str) -> Callable[[Reader], Reader]:
    """Registers how items of some types read."""

    def add(reader: Reader) -> Reader:
        READERS.update(dict.fromkeys(types, reader))
        return reader

    return add


def parts_of(item: Item, scene: RunScene) -> Iterator[Part]:
    """Yields what is shown of an item."""
    if item.lost:
        yield label((f"✗ item {item.seq}: {mark(item.raw)}", "bold red"))
        return
    yield from READERS.get(item.type, other)(item, scene)
    if item.redacted:
        yield label(("a redaction changed this", "dim yellow"))


@reads("message_output_item")
def message(item: Item, scene: RunScene) -> Iterator[Part]:
    """What an agent says."""
    content = mapping(item.raw).get("content", item.raw)
    parts = sequence(content)
    said = mapping(parts[0]).get("text") if len(parts) == 1 else None
    parsed = from_text(said) if isinstance(said, str) else said
    if parsed is not said:  # structured output
        yield from prose(json_text(parsed), scene.scene.fold)
        return
    text = text_of(content)
    yield from prose(text, scene.scene.fold, markdown=scene.scene.markdown)


@reads("reasoning_item")
def reasoning(item: Item, scene: RunScene) -> Iterator[Part]:
    """What a model thought, as far as it says so."""
    raw = mapping(item.raw)
    parts = [*sequence(raw.get("summary")), *sequence(raw.get("content"))]
    text = text_of(parts) if parts else ""
    sealed = raw.get("encrypted_content")
    notes = ["thought"]
    if isinstance(sealed, str):
        notes.append(f"{size(len(sealed))} encrypted")
    elif not text:
        notes.append("nothing of it was given")
    yield label((" · ".join(notes), "dim"))
    if text:
        yield from prose(text, scene.scene.fold, style="dim italic")


@reads("tool_call_item")
def tool_call(item: Item, scene: RunScene) -> Iterator[Part]:
    """A call with its decision, its nested runs and its result."""
    call = scene.tool_calls[item.seq]
    yield from called(call, item.arguments, scene)
    yield from decision(call, scene)
    yield from map(Nested, call.runs)
    yield from result(call, scene)


def called(call: ToolCall, arguments: Any, scene: RunScene) -> Iterator[Part]:
    """The tool's name and arguments."""
    sign, colour = SIGNS.get(call.status, ("•", "yellow"))
    text = shown(arguments) if arguments not in (None, "", "{}") else ""
    facts = [call.status] if call.status != "completed" else []
    facts += ["hosted"] if call.hosted else []
    facts += [duration(call.duration)] if call.duration else []
    room = WIDTH - len(call.name or "") - sum(len(fact) + 2 for fact in facts)
    short = len(text) <= room and "\n" not in text
    yield label(
        (f"{sign} ", f"bold {colour}"),
        (call.name or "a tool", "bold"),
        f" {text}" if short and text else "",
        (
            "".join(f"  {fact}" for fact in facts),
            colour if facts[:1] == [call.status] else "dim",
        ),
    )
    if text and not short:
        yield from inside(prose(text, scene.scene.fold))


def result(call: ToolCall, scene: RunScene) -> Iterator[Part]:
    """What the tool gave back, or what it raised."""
    if call.error is not None:
        yield from inside([label((error_text(call.error), "red"))])
    if call.output is None:
        hosted = hosted_result(call.call) if call.call is not None else ""
        if hosted:
            yield from inside(prose(hosted, scene.scene.fold, style="dim"))
        return
    output = mapping(call.output.raw).get("output", call.output.raw)
    text = text_of(output)
    style = "red" if call.status in ("failed", "rejected") else ""
    yield from inside(prose(text or "(nothing)", scene.scene.fold, style=style))


HOSTED_RESULTS: Final = ("results", "outputs", "output", "result", "error")


def hosted_result(item: Item) -> str:
    """Returns what a tool on the provider's side gave, which its call holds."""
    for key in HOSTED_RESULTS:
        found = mapping(item.raw).get(key)
        if found:
            if item.raw_type == "image_generation_call" and isinstance(found, str):
                return f"[image, {size(len(found) * 3 // 4)}]"
            return text_of(found)
    return ""


def decision(call: ToolCall, scene: RunScene) -> Iterator[Part]:
    """What was decided on a call that had to be approved."""
    approval = scene.decisions.get(call.call_id)
    if approval is None:
        return
    by = f" by {approval.principal}" if approval.principal else ""
    if approval.decision == "pending":
        yield from inside([label(("waits for approval", "bold yellow"))])
    elif approval.decision == "approved":
        yield from inside([label((f"approved{by}", "green"))])
    else:
        told = call.output is not None and call.output.output == approval.message
        said = f": {shown(approval.message)}" if approval.message and not told else ""
        yield from inside([label((f"{approval.decision}{by}{said}", "red"))])


def error_text(error: ErrorInfo) -> str:
    """Returns an error for people; `_OTHER` is the conventions' word for a type not known."""
    text = shown(error.message)
    return text if error.type in ("", "_OTHER") else f"{error.type}: {text}"


@reads("tool_approval_item")
def approval_item(item: Item, scene: RunScene) -> Iterator[Part]:
    """A pending approval whose call is not in the run; else it is shown with the call."""
    if any(call.call_id == item.call_id for call in scene.tool_calls.values()):
        return
    yield label(
        ("◌ ", "bold yellow"),
        (item.tool_name or "a tool", "bold"),
        f" {shown(item.arguments)}",
    )
    yield from inside([label(("waits for approval", "bold yellow"))])


@reads("handoff_call_item")
def handoff_call(item: Item, scene: RunScene) -> Iterator[Part]:
    """A handoff, to whom and with what."""
    handoff = scene.targets.get(item.seq)
    target = handoff.target if handoff is not None else None
    text = shown(item.arguments) if item.arguments not in (None, "", "{}") else ""
    if target:
        yield label(
            ("→ hands over to ", "bold"),
            (target, f"bold {scene.scene.palette.of(target)}"),
        )
    else:
        yield label(
            ("→ ", "bold"),
            (item.tool_name or "handoff", "bold"),
            ("  not taken", "yellow"),
        )
    if text:
        yield from inside(prose(text, scene.scene.fold, style="dim"))


@reads("tool_call_output_item", "handoff_output_item")
def lone_output(item: Item, scene: RunScene) -> Iterator[Part]:
    """An output whose call is not in the run."""
    yield label(("⎿ result of ", "dim"), (item.call_id or "an unknown call", "bold"))
    yield from inside(prose(text_of(item.output), scene.scene.fold))


@reads("mcp_list_tools_item")
def mcp_tools(item: Item, _scene: RunScene) -> Iterator[Part]:
    """The tools that an MCP server offers."""
    raw = mapping(item.raw)
    tools = [mapping(tool) for tool in sequence(raw.get("tools"))]
    names = ", ".join(str(tool.get("name")) for tool in tools)
    server = raw.get("server_label", "an MCP server")
    yield label((f"{server} offers {len(tools)} tools: ", "dim"), names)


def other(item: Item, scene: RunScene) -> Iterator[Part]:
    """Any other item: its type, and what it holds."""
    name = item.type or item.raw_type or "an item"
    yield label((name, "bold"), (f"  {size(bytes_in(item.raw))}", "dim"))
    yield from inside(prose(json_text(item.raw), scene.scene.fold))


def inside(parts: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """Yields parts a step further to the right."""
    for part in parts:
        yield Gutter(part, ("",))
