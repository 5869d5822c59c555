"""Tools of a replay: stubs that give what was recorded, by class of tool.

A stub asks at each call whether a tape is played, so one that stays in a `RunState` calls the real
tool when the state is resumed without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemtrace.replay.computers import computer_stub
from itemtrace.replay.divergence import missing
from itemtrace.replay.functions import function_stub
from itemtrace.replay.native import (
    custom_stub,
    hosted_mcp_stub,
    local_shell_stub,
    patch_stub,
    shell_stub,
)


if TYPE_CHECKING:
    from collections.abc import Callable


STUBS: Final[dict[str, Callable[[Any], Any]]] = {
    "FunctionTool": function_stub,
    "CustomTool": custom_stub,
    "ShellTool": shell_stub,
    "LocalShellTool": local_shell_stub,
    "ApplyPatchTool": patch_stub,
    "ComputerTool": computer_stub,
    "HostedMCPTool": hosted_mcp_stub,
}
"""Class of a tool -> what makes its stub; tools of other classes are run by the provider."""

SIDE_EFFECTS: Final = ("on_invoke_tool", "executor", "editor", "computer")
"""What a tool has that acts on the application's side."""


def stub(tool: Any) -> Any:
    """Returns the stub of a tool.

    Raises:
        NotOnTape: The tool acts on the application's side and there is no stub for its class.
    """
    for kind in type(tool).__mro__:
        make = STUBS.get(kind.__name__)
        if make is not None:
            return make(tool)
    if any(hasattr(tool, name) for name in SIDE_EFFECTS):
        name = type(tool).__name__
        cause = f"itemtrace has no stub for tools of the class {name}; name it in live_tools"
        msg = "the agent's tools"
        raise missing(msg, f"a {name}", None, cause)
    return tool
