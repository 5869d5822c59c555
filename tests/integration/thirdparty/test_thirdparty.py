"""Packages that change what a run is made of: recorded in an environment of their own.

The environments are made once, under `ITEMTRACE_CACHE` (`~/.cache/itemtrace` unless set). Where a package cannot be
installed the test is skipped with the reason; `ITEMTRACE_REQUIRE_BACKENDS=1` makes that a failure.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[3]
CACHE = (
    Path(os.environ.get("ITEMTRACE_CACHE") or Path.home() / ".cache" / "itemtrace")
    / "thirdparty"
)
REQUIRED = os.environ.get("ITEMTRACE_REQUIRE_BACKENDS") == "1"


def python_with(name, *requirements):
    """Returns the Python of an environment with itemtrace and these packages; makes it first."""
    home = CACHE / name
    python = home / "bin" / "python"
    ready = home / "ready"
    if ready.is_file() and ready.read_text() == repr(requirements):
        return python
    home.parent.mkdir(parents=True, exist_ok=True)
    commands = [
        [sys.executable, "-m", "venv", str(home)],
        [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            str(ROOT),
            *requirements,
        ],
    ]
    for command in commands:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=900, check=False
        )
        if done.returncode:
            reason = (
                f"{name} cannot be installed: {done.stderr.strip().splitlines()[-1:]}"
            )
            if REQUIRED:
                pytest.fail(reason)
            pytest.skip(reason)
    ready.write_text(repr(requirements))
    return python


def seen(python, script):
    """Runs a script of this directory; returns what it printed as JSON."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("OPENAI_", "OTEL_", "ITEMTRACE_"))
    }
    kept["PYTHONPATH"] = str(
        ROOT / "src"
    )  # this checkout's, whoever made the environment
    kept["LITELLM_LOCAL_MODEL_COST_MAP"] = (
        "True"  # else it asks the net for prices when imported
    )
    done = subprocess.run(
        [str(python), str(Path(__file__).with_name(script))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=kept,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.backend("litellm")
def test_litellm():
    """The SDK's LiteLLM model: whole and streamed runs are exact, the provider is its prefix.

    Seen with litellm 1.110: a streamed run has no token counts unless the agent asks for them
    (`ModelSettings(include_usage=True)`); the ledger says what the SDK's result says.
    """
    found = seen(python_with("litellm", "openai-agents[litellm]"), "litellm_run.py")
    assert found["gaps"] == []
    assert found["differences"] == []
    assert found["health"] == {}
    assert found["final"] == ["It is 42 — 四十二."] * 2
    calls = ["tool_call_item", "tool_call_output_item", "message_output_item"]
    assert found["items"] == [calls, calls]
    assert found["tokens"] == found["expected_tokens"]
    assert found["providers"] == ["openai"]
    assert found["models"] == ["chat openai/gpt-small"]


@pytest.mark.backend("protoprompt")
def test_protoprompt():
    """A session whose callback recalls and trims: stored history, recalled text, new items apart.

    Seen with protoprompt 0.20: instructions and recalled text come as one system message in front,
    the oldest history is left out of what the model sees. Its documentation says that only the new
    items are stored afterwards; the SDK stores that system message too, since it is neither
    history nor new, so the next run would find it in its history. The ledger shows both.
    """
    found = seen(
        python_with("protoprompt", "protoprompt[agents]"), "protoprompt_run.py"
    )
    assert found["gaps"] == []
    assert found["differences"] == []
    assert found["health"] == {}
    assert found["seen"] == found["sent"] == found["input"]
    recalled, *history, new = found["seen"]
    assert found["origins"] == [["added", 1], ["history", len(history)], ["input", 1]]
    assert recalled["role"] == "system"
    assert "favourite lamp is the Polarnacht" in recalled["content"]
    before = found["stored_after"][:-3]
    assert 0 < len(history) < len(before) == 6
    assert history == before[-len(history) :]
    assert new == {"role": "user", "content": "Which lamp do I like?"}
    assert found["stored_after"][-3:-1] == [recalled, new]
    assert found["stored_after"][-1]["id"] == "msg_1"
