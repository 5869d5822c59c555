"""An MCP server of the programs, in this process."""

from agents.mcp import MCPServer
from mcp.types import CallToolResult, TextContent, Tool


SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}}


class Harbour(MCPServer):
    """Says the tide."""

    @property
    def name(self):
        """Its name."""
        return "harbour"

    async def connect(self):
        """Nothing to do."""

    async def cleanup(self):
        """Nothing to do."""

    async def list_tools(self, run_context=None, agent=None):
        """One tool; the field's name is another one in older releases of `mcp`."""
        tool = {"name": "tide", "description": "Says the tide.", "inputSchema": SCHEMA}
        return [Tool.model_validate(tool)]

    async def call_tool(self, tool_name, arguments, meta=None):
        """Answers."""
        return CallToolResult(content=[TextContent(type="text", text="high")])

    async def list_prompts(self):
        """None."""
        raise NotImplementedError

    async def get_prompt(self, name, arguments=None):
        """None."""
        raise NotImplementedError
