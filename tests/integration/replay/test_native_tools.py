"""Tools of every kind are served from the tape: nothing is executed, and all comes out the same."""

from typing import Any

import pytest
from agents import (
    Agent,
    ApplyPatchResult,
    ApplyPatchTool,
    AsyncComputer,
    ComputerTool,
    CustomTool,
    HostedMCPTool,
    LocalShellTool,
    Runner,
    ShellCallOutcome,
    ShellCommandOutput,
    ShellResult,
    ShellTool,
    ToolTimeoutError,
    UserError,
    function_tool,
)
from pydantic import BaseModel
from tests.integration.replay.conftest import ended

import itemtrace
from itemtrace.errors import NotOnTape
from itemtrace.testing import truth
from itemtrace.testing.items import (
    apply_patch_call,
    custom_tool_call,
    function_call,
    mcp_approval_request,
    message,
    shell_call,
)


DONE: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_done():
    """Each test starts with nothing done."""
    DONE.clear()


@pytest.fixture
def twice(provide, recorded):
    """Runs an agent that is recorded and then replayed, and compares how both ended."""

    async def run(tools, *answers, streamed=False, **more):
        """Returns the recorded run, and how the replay ended."""
        fake = provide({"m": list(answers)}, strict=False)
        agent = Agent(name="Any", model=fake.responses_model("m"), tools=tools, **more)
        first = await ended(agent, "Go.", streamed=streamed)
        itemtrace.uninstall()
        (found,) = recorded.ledger().runs
        assert truth.differences(found, first) == []
        done = list(DONE)
        with itemtrace.replay(found) as tape:
            second = await ended(agent, "Go.", streamed=streamed)
        assert [str(d) for d in truth.differences(found, second)] == []
        assert tape.report.clean, (tape.report.entries, tape.report.unused)
        assert done == DONE
        return found, second

    return run


DONE_TEXT = [message("Done.", "msg_9")]
STREAMED = pytest.mark.parametrize("streamed", [False, True])


@STREAMED
async def test_custom_tool(streamed, twice):
    """A custom tool, and one that fails."""

    async def shout(context, text):
        DONE.append(text)
        if text == "no":
            raise ValueError(text)
        return text.upper()

    tool = CustomTool(name="shout", description="Shouts.", on_invoke_tool=shout)
    calls = [
        custom_tool_call("shout", "call_1", "ahoy"),
        custom_tool_call("shout", "call_2", "no"),
    ]
    await twice([tool], calls, DONE_TEXT, streamed=streamed)
    assert sorted(DONE) == ["ahoy", "no"]


def shelled(commands):
    """What a shell gives for some commands."""
    if commands == ["text"]:
        return "just text"
    if commands == ["boom"]:
        raise OSError(5, "no shell here")
    outcome = ShellCallOutcome(
        type="timeout" if commands == ["slow"] else "exit", exit_code=3
    )
    output = ShellCommandOutput(
        stdout="a\n" * 50, stderr="e", outcome=outcome, command=commands[0]
    )
    return ShellResult(
        output=[output], max_output_length=40, provider_data={"host": "h"}
    )


@STREAMED
@pytest.mark.parametrize("command", ["text", "ls", "slow", "boom"])
async def test_shell(command, streamed, twice):
    """A shell that gives text, structured output, a timeout, and one that fails."""

    async def execute(request):
        DONE.append(request.data.action.commands)
        return shelled(request.data.action.commands)

    await twice(
        [ShellTool(executor=execute)],
        [shell_call("call_1", command)],
        DONE_TEXT,
        streamed=streamed,
    )
    assert [[command]] == DONE


async def test_local_shell(twice):
    """The local shell, which has no span and no hook with an id."""

    def execute(request):
        DONE.append(request.data.action.command)
        return "a.txt"

    call = {
        "type": "local_shell_call",
        "id": "ls_1",
        "call_id": "call_ls",
        "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {}},
    }
    await twice([LocalShellTool(executor=execute)], [call], DONE_TEXT)
    assert DONE == [["ls"]]


class Files:
    """An editor of files."""

    def create_file(self, operation):
        """Creates, or fails."""
        return self._do(operation)

    def update_file(self, operation):
        """Changes, or fails."""
        return self._do(operation)

    def delete_file(self, operation):
        """Deletes, or fails."""
        return self._do(operation)

    def _do(self, operation):
        DONE.append((operation.type, operation.path))
        if operation.path == "bad":
            return ApplyPatchResult(status="failed", output="no such file")
        if operation.path == "worse":
            raise OSError(13, "not yours")
        return None if operation.path == "quiet" else f"did {operation.path}"


def patch(path, kind="update_file"):
    """A call that changes a file."""
    made = apply_patch_call(f"call_{path}", path, "@@")
    made["operation"]["type"] = kind
    if kind == "delete_file":
        del made["operation"]["diff"]
    return made


@STREAMED
async def test_apply_patch(streamed, twice):
    """Files are created, changed and deleted once, in the order of the calls."""
    calls = [
        patch("new", "create_file"),
        patch("bad"),
        patch("worse"),
        patch("old", "delete_file"),
        patch("quiet"),
    ]
    await twice([ApplyPatchTool(editor=Files())], calls, DONE_TEXT, streamed=streamed)
    assert len(DONE) == 5


class Screen(AsyncComputer):
    """A computer that notes what is done to it."""

    shots = iter(())

    async def screenshot(self):
        """One after the other."""
        DONE.append("screenshot")
        return f"iVBOR{len(DONE)}"

    async def click(self, x, y, button):
        """Noted."""
        DONE.append(("click", x, y, button))

    async def double_click(self, x, y):
        """Noted."""
        DONE.append("double_click")

    async def scroll(self, x, y, scroll_x, scroll_y):
        """Noted."""
        DONE.append("scroll")

    async def type(self, text):
        """Noted, or fails."""
        if text == "fail":
            raise OSError(text)
        DONE.append(text)

    async def wait(self):
        """Noted."""
        DONE.append("wait")

    async def move(self, x, y):
        """Noted."""
        DONE.append("move")

    async def keypress(self, keys):
        """Noted."""
        DONE.append(keys)

    async def drag(self, path):
        """Noted."""
        DONE.append("drag")


def computer_call(call_id, *actions):
    """A call of the computer tool."""
    return {
        "type": "computer_call",
        "id": f"cu_{call_id}",
        "call_id": call_id,
        "status": "completed",
        "pending_safety_checks": [],
        "actions": [{"type": kind, **more} for kind, more in actions],
    }


EVERYTHING = (
    ("click", {"x": 1, "y": 2, "button": "left"}),
    ("screenshot", {}),
    ("double_click", {"x": 1, "y": 2, "keys": None}),
    ("scroll", {"x": 1, "y": 2, "scroll_x": 0, "scroll_y": 9}),
    ("type", {"text": "hi"}),
    ("wait", {}),
    ("move", {"x": 3, "y": 4}),
    ("keypress", {"keys": ["a"]}),
    ("drag", {"path": [{"x": 1, "y": 1}, {"x": 2, "y": 2}]}),
)


@STREAMED
async def test_computer(streamed, twice):
    """Nothing is clicked, and each call ends with its own screenshot."""
    calls = [computer_call("call_1", *EVERYTHING)]
    more = [computer_call("call_2", ("screenshot", {}))]
    found, _ = await twice(
        [ComputerTool(computer=Screen())], calls, more, DONE_TEXT, streamed=streamed
    )
    images = [call.output.raw["output"]["image_url"] for call in found.tool_calls]
    assert len(set(images)) == 2


async def test_computer_is_not_made(provide, recorded):
    """A factory of computers is not asked for one."""
    made = []

    def factory(*, run_context):
        made.append(1)
        return Screen()

    fake = provide(
        {"m": [[computer_call("call_1", ("wait", {}))], DONE_TEXT]}, strict=False
    )
    tool = ComputerTool(computer=factory)
    agent = Agent(name="Any", model=fake.responses_model("m"), tools=[tool])
    await Runner.run(agent, "Go.")
    itemtrace.uninstall()
    with itemtrace.replay(recorded.ledger()) as tape:
        await Runner.run(agent, "Go.")
    assert (made, tape.report.clean) == ([1], True)


@STREAMED
async def test_hosted_mcp_approval(streamed, twice):
    """An approval that the application gave by itself is given again without asking it."""

    def approve(request):
        DONE.append(request.data.name)
        return {"approve": False, "reason": "not today"}

    tool = HostedMCPTool(
        tool_config={
            "type": "mcp",
            "server_label": "harbour",
            "server_url": "https://mcp.example",
            "require_approval": "always",
        },
        on_approval_request=approve,
    )
    asked = [mcp_approval_request("mcpr_1", "harbour", "open_lock")]
    await twice([tool], asked, DONE_TEXT, streamed=streamed)
    assert DONE == ["open_lock"]


class Parcel(BaseModel):
    """What a tool returns."""

    number: int
    label: str | None = None


@STREAMED
async def test_typed_outputs(streamed, twice):
    """A tool's own class comes back where its annotation names it, and looks the same where not."""

    @function_tool
    async def named() -> Parcel:
        """Returns a model, and says so."""
        DONE.append("named")
        return Parcel(number=3)

    @function_tool
    async def unnamed() -> Any:
        """Returns a model, and does not say so."""
        DONE.append("unnamed")
        return Parcel(number=4, label="x")

    @function_tool
    async def several() -> Any:
        """Returns things that only Python knows."""
        DONE.append("several")
        return {"t": (1, 2), "s": {5}, "b": b"raw"}

    calls = [
        function_call(name, f"call_{name}") for name in ("named", "unnamed", "several")
    ]
    _, result = await twice(
        [named, unnamed, several], calls, DONE_TEXT, streamed=streamed
    )
    outputs = [i for i in result.new_items if i.type == "tool_call_output_item"]
    assert outputs[0].output == Parcel(number=3)
    assert outputs[1].raw_item["output"] == "number=4 label='x'"
    assert str(outputs[1].output) == "number=4 label='x'"


@STREAMED
@pytest.mark.parametrize("kind", [KeyError, ValueError, PermissionError, UserError])
async def test_errors_of_tools(kind, streamed, twice):
    """What a tool raised is raised again, with its class and its text."""

    @function_tool(failure_error_function=None)
    async def fail() -> str:
        """Fails."""
        DONE.append(kind)
        raise kind("it's no use")

    _, error = await twice([fail], [function_call("fail", "call_1")], streamed=streamed)
    cause = error if kind is UserError else error.__cause__
    assert type(cause) is kind
    assert str(cause) == str(kind("it's no use"))


async def test_error_of_an_unknown_class(twice):
    """An exception of the application's own class keeps its text."""

    class Jammed(Exception):
        """Something of the application's."""

    @function_tool(failure_error_function=None)
    async def fail() -> str:
        """Fails."""
        raise Jammed(7)

    _, error = await twice([fail], [function_call("fail", "call_1")])
    assert (type(error.__cause__).__name__, str(error.__cause__)) == (
        "RecordedError",
        "7",
    )


@STREAMED
async def test_timeouts(streamed, twice):
    """A tool that took too long is no slower in the replay, and ends the same."""
    import asyncio

    @function_tool(timeout=0.05)
    async def slow() -> str:
        """Sleeps."""
        await asyncio.sleep(30)
        return "never"

    found, _ = await twice(
        [slow], [function_call("slow", "call_1")], DONE_TEXT, streamed=streamed
    )
    assert "timed out" in found.tool_calls[0].output.output


async def test_timeout_that_raises(twice):
    """So does one whose timeout ends the run."""
    import asyncio

    @function_tool(timeout=0.05, timeout_behavior="raise_exception")
    async def slow() -> str:
        """Sleeps."""
        await asyncio.sleep(30)
        return "never"

    _, error = await twice([slow], [function_call("slow", "call_1")])
    assert isinstance(error, ToolTimeoutError)


class Robot:
    """A tool of a class that nobody knows."""

    name = "robot"
    executor = None


def test_unknown_tools_with_effects():
    """A tool of an unknown class that acts on the application's side is refused."""
    from itemtrace.replay.tools import stub

    with pytest.raises(NotOnTape, match="a Robot"):
        stub(Robot())
