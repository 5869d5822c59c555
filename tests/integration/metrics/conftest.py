"""A real Prometheus that scrapes a load of real runs, and what the ledgers of that load say."""

import asyncio
import importlib
import json
import os
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    AgentsException,
    ModelRetrySettings,
    ModelSettings,
    RunConfig,
    Runner,
    function_tool,
    retry_policies,
    set_trace_processors,
)
from openai import APIStatusError

import itemtrace
from itemtrace.capture.guard import HEALTH
from itemtrace.codec.record import parse
from itemtrace.errors import SourceError
from itemtrace.rebuild import rebuild
from itemtrace.testing.demo import front_desk, run_demo
from itemtrace.testing.items import function_call, message
from itemtrace.testing.provider import FakeProvider, Step
from itemtrace.testing.servers import Server, free_ports, running


ROOT = Path(__file__).parents[3]

PRICES = {
    "currency": "EUR",
    "models": {
        "desk-": {"input": 3, "cache_read": 1, "output": 9},
        "translate-mini": {"input": 1, "output": 2},
        "pilot": {"input": 2, "cache_read": 0.5, "output": 8},
    },
}


def tool_path(name: str) -> str:
    """Returns one of Prometheus's programs, or skips the test that needs it."""
    found = shutil.which(name)
    if found is None:
        reason = f"needs {name}: apt-get install prometheus, or put it on the path"
        if os.environ.get("ITEMTRACE_REQUIRE_BACKENDS") == "1":
            pytest.fail(f"{reason}, and ITEMTRACE_REQUIRE_BACKENDS is 1")
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def promtool():
    """Gives promtool."""
    return tool_path("promtool")


@pytest.fixture(scope="session")
def tools():
    """Gives the modules of the dashboards."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        yield importlib.import_module("boards"), importlib.import_module("dashboards")
    finally:
        sys.path.remove(str(ROOT / "tools"))


class Store:
    """A store that keeps rows in memory, and refuses them when it is told to."""

    url = "memory"

    def __init__(self):
        self.rows = []
        self.refused = []
        self.refuse = False

    def write(self, rows):
        """Keeps rows, also those that it refuses, so that the truth is known."""
        kept = self.refused if self.refuse else self.rows
        kept += rows
        if self.refuse:
            msg = "the store is full; this is meant to be"
            raise SourceError(msg)
        return len(rows)

    def close(self):
        """Keeps all."""


@function_tool(needs_approval=True)
async def lock_gate(gate: str) -> str:
    """Opens a lock."""
    return f"{gate} is open"


SCRIPT = {
    "pilot": [
        Step(status=503, error="busy"),
        Step([message("Low.")], usage=(100, 60, 20, 5)),
        Step(status=500, error="gone"),
        [message("A secret.")],
        [function_call("lock_gate", "call_gate", gate="west")],
        [message("Lost.")],
    ],
    "desk-mini": [[message("What?")]],
}


async def load(store, fake):
    """Runs a bit of everything; the same series come of it each time."""
    await run_demo()
    await run_demo(streamed=True)
    retry = ModelRetrySettings(max_retries=1, policy=retry_policies.http_status([503]))
    pilot = Agent(
        name="Pilot",
        model=fake.responses_model("pilot"),
        model_settings=ModelSettings(retry=retry),
        tools=[lock_gate],
    )
    await Runner.run(pilot, "How high?")
    with pytest.raises(APIStatusError):
        await Runner.run(pilot, "And now?")
    quiet = RunConfig(trace_include_sensitive_data=False)
    await Runner.run(pilot, "Whisper.", run_config=quiet)
    await Runner.run(pilot, "Open the gate.")  # and nobody decides
    config = RunConfig(model_provider=fake.models())
    with pytest.raises(AgentsException):
        await Runner.run(front_desk, "Sing!", run_config=config)
    itemtrace.flush()
    store.refuse = True
    await Runner.run(pilot, "And at night?")
    itemtrace.flush()
    store.refuse = False


@dataclass
class Window:
    """What a Prometheus saw between two scrapes, and what happened in that time.

    Attributes:
        server: The Prometheus.
        first: Time of the first scrape, seconds.
        last: Time of the last one.
        rows: All spans that ended between them.
        refused: How many of them the store refused.
        before: All spans that ended before.
        prices: The price table.
        failures: What failed between them, by place.
    """

    server: Server
    first: float = 0.0
    last: float = 0.0
    rows: list[Any] = field(default_factory=list)
    refused: int = 0
    before: list[Any] = field(default_factory=list)
    prices: Any = field(default_factory=lambda: PRICES)
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.last - self.first

    def runs(self):
        """Returns all runs, from the ledgers."""
        return list(rebuild(self.rows).all_runs())

    def records(self):
        """Returns kind and size of each record of a run, by run and seq, from its chunks."""
        chunks = [
            parse(value)
            for row in self.rows
            for value in row.attributes.values()
            if isinstance(value, str) and value.startswith("it1;")
        ]
        return {
            (chunk.run, chunk.seq): (chunk.kind, chunk.size)
            for chunk in chunks
            if chunk.kind != "trace"
        }

    def ask(self, expr: str) -> dict[frozenset, float]:
        """Returns what a query gives: labels -> value."""
        wide = f"{round(self.seconds * 1000) + 1}ms"  # newer ones leave the first moment out
        for name in ("$__rate_interval", "$__range"):
            expr = expr.replace(name, wide)
        for name in ("$job", "$instance"):
            expr = expr.replace(name, ".+")
        found = get(self.server, "query", query=expr, time=f"{self.last:.3f}")
        return {
            frozenset(one["metric"].items()): float(one["value"][1])
            for one in found["result"]
        }


def get(server, path, **query):
    """Returns the data of an answer of Prometheus's API."""
    url = f"{server.url('web')}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:  # noqa: S310 - of our own server
            answer = json.load(reply)
    except urllib.error.HTTPError as error:
        raise AssertionError((query, error.read())) from error
    return answer["data"]


def scraped_after(server, moment):
    """Waits for the first scrape after a moment, and returns its time."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = get(server, "query", query="itemtrace_runs_total[1m]")["result"]
        times = sorted({float(at) for one in found for at, _ in one["values"]})
        later = [at for at in times if at > moment]
        if later:
            return later[0]
        time.sleep(0.1)
    raise AssertionError(server.log()[-2000:])


@pytest.fixture(scope="session")
def window(tmp_path_factory):
    """Gives what Prometheus saw of the second of two loads."""
    binary = tool_path("prometheus")
    directory = tmp_path_factory.mktemp("prometheus")
    set_trace_processors([])
    HEALTH.reset()
    store = Store()
    patch = pytest.MonkeyPatch()
    patch.setenv("OTEL_METRICS_EXPORTER", "prometheus")
    patch.setenv("OTEL_EXPORTER_PROMETHEUS_PORT", "0")
    installed = itemtrace.install(store=store, prices=PRICES)
    patch.undo()
    target = urllib.parse.urlsplit(installed.metrics).netloc
    config = f"""
global: {{scrape_interval: 1s}}
rule_files: ['{ROOT}/dashboards/prometheus/itemtrace.rules.yaml']
scrape_configs:
  - {{job_name: desk, static_configs: [{{targets: ['{target}']}}]}}
"""
    command = [
        *(binary, "--config.file=prometheus.yaml", "--storage.tsdb.path=data"),
        "--web.listen-address=127.0.0.1:0",
    ]
    server = Server(command, directory, ("web",), ("web", "/-/ready"))
    server.ports = free_ports(server.names)
    server.command[-1] = f"--web.listen-address={server.address('web')}"
    with running(server, {"prometheus.yaml": config}):
        try:
            seen = _seen(server, store)
        finally:  # the fixture outlives other tests, which install for themselves
            itemtrace.uninstall()
            HEALTH.reset()
        yield seen


def _seen(server, store):
    """Runs the load twice, each before a scrape, and returns what came of the second."""
    seen = Window(server)
    # one provider for both: its port is an attribute, and a new series has nothing to grow from
    fake = FakeProvider({name: 2 * steps for name, steps in SCRIPT.items()}).start()
    with asyncio.Runner() as loop:
        try:
            loop.run(load(store, fake))
            seen.before = [*store.rows, *store.refused]
            failed = Counter(HEALTH.counts())
            store.rows, store.refused = [], []
            seen.first = scraped_after(server, time.time())
            loop.run(load(store, fake))
            seen.last = scraped_after(server, time.time())
        finally:
            loop.run(fake.aclose())
    seen.rows = [*store.rows, *store.refused]
    seen.refused = len(store.refused)
    seen.failures = Counter(HEALTH.counts()) - failed
    return seen
