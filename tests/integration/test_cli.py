"""The command line as people and scripts meet it: real processes, exit codes, pipes, bad sources."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from itemtrace.cli import app
from itemtrace.codec import canonical
from itemtrace.codec.spans import SpanRow
from itemtrace.stores import open_store
from itemtrace.testing.synthetic import TRACE_ID, RunWriter, rows_of


ESCAPE = "\x1b"


@pytest.fixture(scope="session")
def environ():
    """An environment without anything of the user's."""
    own = ("OPENAI_", "OTEL_", "ITEMTRACE_", "FORCE_COLOR", "NO_COLOR", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}  # fmt: skip
    return {**kept, "COLUMNS": "100", "TZ": "UTC"}


@pytest.fixture(scope="session")
def run(environ, tmp_path_factory):
    """Runs the command line in a process of its own."""

    def call(*arguments, stdin=None, **more):
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "itemtrace", *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
            env={**environ, "ITEMTRACE_STORE": "/nonexistent/none.db", **more},
            cwd=tmp_path_factory.getbasetemp(),
        )

    return call


@pytest.fixture(scope="session")
def demo(run, tmp_path_factory):
    """The demo, recorded once: its output and its store."""
    store = tmp_path_factory.mktemp("demo") / "demo.db"
    return run("demo", "--store", store), str(store)


def simple(text="Hi", run_id="00000000000000a1", **body):
    """The rows of a small run."""
    writer = RunWriter(run_id)
    writer.add("begin", started=1_764_500_000_000_000_000, agent="Desk", input="Hello", **body)  # fmt: skip
    raw = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}  # fmt: skip
    writer.add("item", type="message_output_item", agent="Desk", raw=raw)
    writer.add("end", status="completed", items=[1])
    writer.seal()
    rows = rows_of(writer.records)
    attributes = {"itemtrace.run.id": run_id, "gen_ai.agent.name": "Desk"}
    return [*rows, SpanRow(TRACE_ID, "f" * 16, name="run_start", start_ns=1, attributes=attributes)]  # fmt: skip


def written(path, rows):
    """Writes rows into a store and returns its path."""
    with open_store(path, write=True) as store:
        store.write(rows)
    return str(path)


class TestDemo:
    """`itemtrace demo`."""

    def test_it_proves_equality(self, demo):
        """It records, shows and proves; exit code 0 and nothing on stderr."""
        done, store = demo
        assert (done.returncode, done.stderr) == (0, "")
        assert re.search(r"Nothing was lost: \d{3} facts compared, all equal", done.stdout)  # fmt: skip
        assert done.stdout.startswith(f"recorded to {store}")
        assert "ランプ1の笠が破損して届きました" in done.stdout

    def test_the_store_is_a_source(self, demo, run):
        """What it recorded is listed, exact, and private to the user."""
        _, store = demo
        runs = [json.loads(line) for line in run("runs", store, "--json").stdout.splitlines()]  # fmt: skip
        assert [r["status"] for r in runs] == ["completed", "completed", "interrupted"]
        assert run("verify", store).returncode == 0
        assert Path(store).stat().st_mode & 0o777 == 0o600

    def test_json_and_streamed(self, run, tmp_path):
        """The streamed demo proves the same; as JSON, in a surrounding that would lead it astray."""
        done = run(
            "demo", "--streamed", "--json", "--store", tmp_path / "demo.db",
            OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", OTEL_SDK_DISABLED="true",
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="false",
            OPENAI_AGENTS_DISABLE_TRACING="1", HTTP_PROXY="http://127.0.0.1:9",
            http_proxy="http://127.0.0.1:9",
        )  # fmt: skip
        proof = json.loads(done.stdout)
        assert (done.returncode, proof["equal"], proof["differences"]) == (0, True, [])
        assert (proof["facts"] > 100, len(proof["traces"])) == (True, 2)

    def test_verbose(self, run, tmp_path):
        """With -v each fact is named; the local store is the default."""
        local = tmp_path / "local.db"
        done = run("demo", "-v", ITEMTRACE_STORE=str(local))
        assert "✓ new_items[0]" in done.stdout
        assert local.exists()

    @pytest.mark.parametrize("view", [[], ["--items"], ["--tree"], ["--model-view", "2"], ["--full"]])  # fmt: skip
    def test_every_view_of_it(self, demo, view):
        """Each view of the demo prints and gives JSON."""
        _, store = demo
        listed = CliRunner().invoke(app, ["runs", store, "--json"]).stdout
        first = json.loads(listed.splitlines()[-1])["run_id"]
        shown = CliRunner().invoke(app, ["show", store, first, *view])
        as_json = CliRunner().invoke(app, ["show", store, first, *view, "--json"])
        assert (shown.exit_code, shown.stderr) == (0, "")
        assert all(json.loads(line) for line in as_json.stdout.splitlines())


class TestBadSources:
    """Each bad source is one line on stderr and a documented exit code."""

    def failed(self, done):
        """The line of a failure; the rest is checked here."""
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr.removeprefix("itemtrace: ").rstrip("\n")

    def test_nothing_recorded(self, run):
        """Without a local store there is a hint how to get one."""
        code, line = self.failed(run("runs"))
        assert (code, "try `itemtrace demo`" in line) == (2, True)

    @pytest.mark.parametrize("command", ["runs", "show", "verify", "stats"])
    def test_no_trace(self, run, tmp_path, command):
        """A file that is no trace is said to be none."""
        path = tmp_path / "notes.txt"
        path.write_text("Dear diary,\n")
        code, line = self.failed(run(command, path))
        assert (code, "is no trace" in line or "holds no trace" in line) == (2, True)

    def test_no_store_for_a_scheme(self, run):
        """An unknown URL names those that are known, and no credentials."""
        code, line = self.failed(run("runs", "foo://user:secret@host"))
        assert (code, "secret" in line, "no store is known" in line) == (2, False, True)

    def test_newer_store(self, run, tmp_path):
        """A store of a newer itemtrace is left alone."""
        path = written(tmp_path / "new.db", simple())
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
        code, line = self.failed(run("runs", path))
        assert (code, "upgrade itemtrace" in line) == (2, True)

    def test_newer_ledgers(self, run, tmp_path):
        """A ledger of a newer format is refused."""
        path = tmp_path / "new.jsonl"
        path.write_text('{"format":"itemtrace-ledger/9","runs":{}}\n')
        code, line = self.failed(run("show", path))
        assert (code, "itemtrace-ledger/9" in line) == (2, True)

    def test_locked_store(self, run, tmp_path):
        """A store that another process holds can't be recorded to, and says so."""
        path = written(tmp_path / "held.db", simple())
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("PRAGMA journal_mode = DELETE")
        holder.execute("BEGIN EXCLUSIVE")
        done = run("runs", path)
        holder.close()
        code, line = self.failed(done)
        assert (code, "locked" in line) == (2, True)

    @pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
    def test_read_only_store(self, run, tmp_path):
        """A read-only store can't be recorded to, and says so."""
        path = written(tmp_path / "ro.db", simple())
        Path(path).chmod(0o400)
        code, line = self.failed(run("demo", "--store", path))
        assert (code, "read-only" in line) == (2, True)

    def test_unknown_trace(self, run, demo):
        """A trace that is not there is said not to be."""
        code, line = self.failed(run("show", demo[1], "f" * 32))
        assert (code, "no trace or run" in line) == (2, True)

    def test_missing_extra(self, run, tmp_path):
        """A format that needs an extra names it, with exit code 3."""
        path = tmp_path / "spans.jsonl.zst"
        path.write_bytes(bytes.fromhex("28b52ffd") + b"\0" * 60)
        shadow = tmp_path / "shadow"
        shadow.mkdir()
        (shadow / "zstandard.py").write_text("raise ImportError('not here')")
        code, line = self.failed(run("runs", path, PYTHONPATH=str(shadow)))
        assert (code, "itemtrace[zstd]" in line) == (3, True)

    def test_bad_arguments(self, run, demo):
        """Values that can't be are refused by name."""
        assert self.failed(run("runs", demo[1], "--since", "later"))[0] == 2
        assert run("rebuild", demo[1]).returncode == 2


class TestOddTraces:
    """Traces that are unusual and right."""

    def test_half_written_line(self, run, tmp_path):
        """The whole lines are there, and the torn one is a gap."""
        path = written(tmp_path / "torn.jsonl", simple())
        with Path(path).open("ab") as file:
            file.write(b'{"resourceSpans":[{"sco')
        shown, checked = run("show", path), run("verify", path)
        assert (shown.returncode, "│ Hi" in shown.stdout) == (0, True)
        assert (checked.returncode, "half-written" in checked.stdout) == (1, True)

    def test_empty_trace(self, run, tmp_path):
        """A trace without runs is no ledger: exit code 2."""
        path = written(tmp_path / "empty.jsonl", [SpanRow(TRACE_ID, "a" * 16, name="GET /")])  # fmt: skip
        for command in ("runs", "show", "verify", "stats"):
            done = run(command, path)
            assert (done.returncode, "no runs in" in done.stderr) == (2, True)

    def test_one_run_among_a_hundred_services(self, run, tmp_path):
        """Foreign spans are in the way of nothing."""
        foreign = [
            SpanRow(
                f"{n % 40:032x}" if n % 2 else TRACE_ID,
                f"{n + 1:016x}",
                name=f"GET /{n}",
                start_ns=n,
                scope="http",
                resource={"service.name": f"service-{n % 100}"},
                attributes={"k": "it is not ours"},
            )
            for n in range(500)
        ]
        path = written(tmp_path / "many.jsonl", foreign[:250] + simple() + foreign[250:])  # fmt: skip
        assert "│ Hi" in run("show", path).stdout
        assert run("verify", path).returncode == 0
        tree = run("show", path, "--tree").stdout
        assert "GET /400  service-0" in tree

    def test_surrogates_and_nan(self, run, tmp_path):
        """Lone surrogates and NaN are shown as what they are, and stay exact."""
        rows = simple("a \ud800 b", options={"x": float("nan")})
        path = written(tmp_path / "odd.db", rows)
        shown = run("show", path, PYTHONIOENCODING="ascii")
        assert (shown.returncode, "a \\ud800 b" in shown.stdout) == (0, True)
        assert run("verify", path).returncode == 0
        (line,) = run("show", path, "--json").stdout.splitlines()
        assert "\\ud800" in line

    def test_hostile_content(self, run, tmp_path):
        """Escape sequences and markup reach the terminal as text only, in colour too."""
        evil = "\x1b]0;owned\x07\x1b[2J[red]x[/red] [link=http://e.example]y[/link] \u202e"  # fmt: skip
        path = written(tmp_path / "evil.db", simple(evil))
        for options in ([], ["--markdown"]):
            plain = run("show", path, *options)
            assert (plain.returncode, ESCAPE in plain.stdout) == (0, False)
            coloured = run("show", path, *options, FORCE_COLOR="1").stdout
            codes = set(re.findall("\x1b[^m]{0,20}.", coloured))
            assert all(re.fullmatch(r"\x1b\[[\d;]*m", code) for code in codes)
            assert "[red]x[/red]" in plain.stdout

    def test_very_large_output(self, run, tmp_path):
        """50 MB of a tool's output are folded quickly, and there to the last byte."""
        path = written(tmp_path / "large.db", simple("0123456789" * 5_000_000))
        shown = run("show", path)
        assert "… 50 MB more (--full shows all)" in shown.stdout
        out = tmp_path / "large.jsonl"
        assert run("rebuild", path, "-o", out).returncode == 0
        assert out.stat().st_size > 50_000_000
        assert run("verify", out).returncode == 0


class TestOutput:
    """Pipes, colours, machines."""

    def test_colours(self, run, demo):
        """Colours only where they are wanted."""
        piped = run("show", demo[1])
        forced = run("show", demo[1], FORCE_COLOR="1")
        refused = run("show", demo[1], FORCE_COLOR="1", NO_COLOR="1")
        assert (ESCAPE in piped.stdout, "\x1b[32m" in forced.stdout) == (False, True)
        assert "\x1b[32m" not in refused.stdout

    def test_json_is_alone(self, run, demo):
        """With --json stdout is JSON and nothing else, whatever the encoding."""
        for arguments in (["runs"], ["verify"], ["show"]):  # fmt: skip
            done = run(arguments[0], demo[1], "--json", *arguments[1:], PYTHONIOENCODING="ascii")  # fmt: skip
            assert all(json.loads(line) for line in done.stdout.splitlines())
            assert done.stderr == ""

    def test_the_reader_goes_away(self, environ, demo):
        """A closed pipe ends the command quietly, with the exit code that shells know."""
        command = f"{sys.executable} -m itemtrace show {demo[1]} --full | head -1; exit ${{PIPESTATUS[0]}}"  # fmt: skip
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environ, check=False)  # fmt: skip
        assert (done.returncode in (0, 141), done.stderr) == (True, "")

    def test_a_large_pipe_that_breaks(self, environ, tmp_path):
        """When much is left to write, the exit code says that it was not."""
        path = written(tmp_path / "large.db", simple("line\n" * 1_000_000))
        command = f"{sys.executable} -m itemtrace show {path} --full | head -1; exit ${{PIPESTATUS[0]}}"  # fmt: skip
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environ, check=False)  # fmt: skip
        assert (done.returncode, done.stderr) == (141, "")

    def test_completion(self, run):
        """Shells can complete commands."""
        done = run("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")  # fmt: skip
        assert (done.returncode, "complete" in done.stdout) == (0, True)

    @pytest.mark.parametrize("command", ["runs", "show", "verify", "stats"])
    def test_reading_needs_neither_sdk(self, environ, demo, command):
        """Reading commands load neither the Agents SDK nor the OpenTelemetry SDK."""
        code = (
            "import sys\nfrom itemtrace.cli import app\n"
            f"app([{command!r}, {demo[1]!r}], standalone_mode=False)\n"
            "heavy = {'agents', 'openai', 'wrapt', 'opentelemetry.sdk', 'numpy'}\n"
            "sys.stderr.write(','.join(sorted(heavy & set(sys.modules))))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=False)  # fmt: skip
        assert done.stderr.replace("1 nested run not listed; --nested lists them\n", "") == ""  # fmt: skip

    def test_the_script(self, environ):
        """The installed script is the same as the module."""
        script = Path(sys.executable).with_name("itemtrace")
        done = subprocess.run([script, "--version"], capture_output=True, text=True, env=environ, check=False)  # fmt: skip
        assert done.stdout.startswith("itemtrace ")

    def test_every_command_is_documented(self):
        """Each command has a page of help with its options, and the exit codes are told."""
        help_text = CliRunner().invoke(app, ["--help"]).stdout
        assert "Exit codes: 0 fine" in help_text
        for command in ("demo", "runs", "show", "rebuild", "verify", "stats", "convert"):  # fmt: skip
            assert command in help_text
            assert "--help" in CliRunner().invoke(app, [command, "--help"]).stdout


def test_canonical_json(run, demo):
    """What `show --json` prints parses to what the ledger holds."""
    (line,) = run("show", demo[1], "--json").stdout.splitlines()
    found = json.loads(line)
    assert canonical.dumps(found) == line
    assert found["exact"] is True
