"""The Python blocks of README and docs/ run, in order, page by page, offline."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider


ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")

# What the pages take as given: a run in the local store, read back as `run`, made by `agent`.
PRELUDE = '''
import asyncio
import itemtrace
from agents import Agent, Runner, function_tool

@function_tool
async def stock_level(article: str) -> int:
    """Returns how many of an article are left."""
    return 7

itemtrace.install()
agent = Agent(name="Clerk", model="gpt-5.5", tools=[stock_level])
result = asyncio.run(Runner.run(agent, "How many lamps are left?"))
itemtrace.flush()
run = itemtrace.load().runs[-1]
assert run.to_input_list() == result.to_input_list() and run.exact
'''


def blocks(page):
    """Returns the Python blocks of a page."""
    return BLOCK.findall(page.read_text())


def answer(body):
    """Says what the model says: a tool call first, then the answer."""
    if isinstance(body["input"], list) and len(body["input"]) > 1:
        return [message("Seven.")]
    return [function_call("stock_level", "call_1", article="lamp")]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name
)
def test_blocks_run(page, tmp_path):
    """Each block of a page runs after the ones before it, against a provider on loopback."""
    program = tmp_path / "page.py"
    program.write_text("\n".join([PRELUDE, *blocks(page)]))
    with FakeProvider({"gpt-5.5": answer}) as fake:
        environ = {
            **{k: v for k, v in os.environ.items() if not k.startswith("OTEL_")},
            "OPENAI_BASE_URL": fake.base_url,
            "OPENAI_API_KEY": "not-a-key",
            "OPENAI_AGENTS_DISABLE_TRACING": "",
            "ITEMTRACE_STORE": str(tmp_path / "traces.db"),
        }
        done = subprocess.run(
            [sys.executable, str(program)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=environ,
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    """Every relative link of a page names a file of the repository."""
    missing = [
        target
        for target in LINK.findall(page.read_text())
        if not (page.parent / target).exists()
    ]
    assert missing == []
