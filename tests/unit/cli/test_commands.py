"""The commands, run in this process."""

import json
import sqlite3
import time

import pytest
from tests.unit.cli.conftest import Story, answer, call, message, rows

from itemtrace.cli import guard, main, output
from itemtrace.cli.rebuild import total
from itemtrace.errors import GapError, MissingExtra
from itemtrace.ledger import io
from itemtrace.stores import Query, open_store
from itemtrace.testing.synthetic import TRACE_ID


OTHER = "1" * 32


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """The local clock is UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def one(run_id="00000000000000a1", **more):
    """A small run with a tool."""
    story = Story(run_id, **more)
    story.responds(call("t", "c"), types=["tool_call_item"])
    story.item("tool_call_output_item", answer("c", "out"), tool={"name": "t", "start": 0, "end": 5_000})  # fmt: skip
    story.responds(message("Hi"), types=["message_output_item"], start=0, end=2_000)
    return story.close()


def nested():
    """A run that a tool of the first one started."""
    return one("00000000000000b1", parent={"run": "00000000000000a1", "call": "c", "n": 0})  # fmt: skip


@pytest.fixture
def damaged(tmp_path):
    """A store of two traces, one of which has lost a span with a record."""
    path = tmp_path / "damaged.db"
    with open_store(path, write=True) as opened:
        opened.write(rows(one(), trace_id=OTHER))
        opened.write(rows(one("00000000000000d1"))[1:])
    return str(path)


class TestRuns:
    """`itemtrace runs`."""

    def test_table(self, itemtrace, store):
        """Runs with when, ids, group, agents, status and numbers; nested ones on demand."""
        path = store(one(), nested())
        found = itemtrace("runs", path)
        assert found.stdout.rstrip("\n").split("\n") == [
            "started      run       trace     group  agents  status     items  in  out    took",
            "11-30 10:53  00000000  0af76519  g-1    Desk    completed      1   -    -  250 ms",
        ]
        assert found.stderr == "1 nested run not listed; --nested lists them\n"
        whole = itemtrace("runs", path, "--nested").stdout
        assert "↳ Desk" in whole

    def test_wide(self, itemtrace, store, monkeypatch):
        """On a wide terminal ids are whole."""
        monkeypatch.setenv("COLUMNS", "200")
        assert TRACE_ID in itemtrace("runs", store(one())).stdout

    def test_limit(self, itemtrace, store):
        """More runs than are shown are told of."""
        store(one())
        path = store(one("00000000000000c1"), trace_id=OTHER)
        found = itemtrace("runs", path, "--limit", "1")
        assert found.stdout.count("completed") == 1
        assert found.stderr == "the newest 1 runs; --limit N lists more\n"

    def test_json(self, itemtrace, store):
        """Each run is a line, and nothing else is on stdout."""
        found = itemtrace("runs", store(one(), nested()), "--json", "--nested")
        runs = [json.loads(line) for line in found.stdout.splitlines()]
        assert [run["nested"] for run in runs].count(True) == 1
        assert {run["started"] for run in runs} == {"2025-11-30T10:53:20.000+00:00"}

    def test_nothing(self, itemtrace, store):
        """No run that matches is an error with what to do."""
        found = itemtrace("runs", store(one()), "--agent", "nobody")
        assert (found.exit_code, found.stdout) == (2, "")
        assert found.stderr.startswith("itemtrace: no such runs in ")

    def test_gaps_of_ledgers(self, itemtrace, damaged, tmp_path):
        """A file of ledgers knows how many gaps each run has."""
        out = tmp_path / "ledgers.jsonl"
        assert itemtrace("rebuild", damaged, "-o", str(out)).exit_code == 0
        head, *_ = itemtrace("runs", str(out)).stdout.split("\n")
        assert head.endswith("took  gaps")


class TestShow:
    """`itemtrace show`."""

    def test_transcript(self, itemtrace, store):
        """The newest trace, by default."""
        found = itemtrace("show", store(one()))
        assert (found.exit_code, "│ Hi" in found.stdout) == (0, True)

    def test_local_store(self, itemtrace, store, monkeypatch):
        """Without a source the local store is read; an id alone is a trace of it."""
        monkeypatch.setenv("ITEMTRACE_STORE", store(one()))
        assert "│ Hi" in itemtrace("show").stdout
        assert "│ Hi" in itemtrace("show", TRACE_ID[:6]).stdout

    @pytest.mark.parametrize(
        ("option", "text"),
        [
            (["--items"], "tool_call_output"),
            (["--tree"], "run_start"),
            (["--model-view", "0"], "Model call 0"),
            (["--full"], "│ Hi"),
            (["--markdown"], "│ Hi"),
            (["--type", "message"], "│ Hi"),
        ],
    )
    def test_views(self, itemtrace, store, option, text):
        """Each view prints."""
        found = itemtrace("show", store(one()), *option)
        assert (found.exit_code, text in found.stdout) == (0, True)

    @pytest.mark.parametrize("option", [[], ["--items"], ["--tree"], ["--model-view", "0"]])  # fmt: skip
    def test_json(self, itemtrace, store, option):
        """Each view gives JSON, a value a line."""
        found = itemtrace("show", store(one()), "--json", *option)
        assert all(json.loads(line) for line in found.stdout.splitlines())

    def test_one_view_at_a_time(self, itemtrace, store):
        """Views that exclude each other are refused."""
        found = itemtrace("show", store(one()), "--items", "--tree")
        assert (found.exit_code, "exclude each other" in found.stderr) == (2, True)


class TestVerify:
    """`itemtrace verify`."""

    def test_exact(self, itemtrace, store):
        """Exit code 0 and one line when nothing is missing."""
        found = itemtrace("verify", store(one()))
        line = "✓ 1 run in 1 trace: every one is exact\n"
        assert (found.exit_code, found.stdout) == (0, line)

    def test_gaps(self, itemtrace, damaged):
        """Exit code 1 and the gaps by run and cause when something is."""
        found = itemtrace("verify", damaged)
        lines = found.stdout.split("\n")
        assert found.exit_code == 1
        assert lines[0].startswith("✗ run 00000000000000d1  ")
        assert lines[1].split()[0] in ("missing", "cut")
        assert lines[-2].startswith("✗ 2 runs in 2 traces: 1 run not exact, ")

    def test_json(self, itemtrace, damaged):
        """The report as JSON has every gap."""
        found = itemtrace("verify", damaged, "--json")
        report = json.loads(found.stdout)
        assert (found.exit_code, report["exact"], report["exact_runs"]) == (1, False, 1)
        assert len(report["gaps"]) == report["findings"]

    def test_allowed_causes(self, itemtrace, store):
        """Gaps of causes that are expected are listed and do not fail."""
        story = Story()
        story.item("message_output_item", message("x"), redacted=True)
        path = store(story.close())
        strict = itemtrace("verify", path)
        lenient = itemtrace("verify", path, "--allow", "Redacted")
        assert (strict.exit_code, lenient.exit_code) == (1, 0)
        assert lenient.stdout.split("\n")[-2].endswith("(1 redacted), all of them allowed")  # fmt: skip

    def test_unknown_cause(self, itemtrace, store):
        """A cause that there is not is refused with those that there are."""
        found = itemtrace("verify", store(one()), "--allow", "bad luck")
        assert (found.exit_code, "expected one of not captured" in found.stderr) == (2, True)  # fmt: skip

    def test_empty(self, itemtrace, tmp_path):
        """A source without runs is an error, since nothing was checked."""
        path = tmp_path / "empty.db"
        open_store(path, write=True).close()
        found = itemtrace("verify", str(path))
        assert (found.exit_code, found.stderr.startswith("itemtrace: no runs in ")) == (2, True)  # fmt: skip

    def test_source_problems(self, itemtrace, tmp_path):
        """What could not be read of a file is a gap that belongs to the source."""
        path = tmp_path / "spans.jsonl"
        with open_store(path, write=True) as opened:
            opened.write(rows(one()))
        with path.open("ab") as file:
            file.write(b'{"resourceSpans": [{"sco')
        found = itemtrace("verify", str(path))
        lines = found.stdout.split("\n")
        assert (found.exit_code, lines[0]) == (1, "✗ the source")
        assert "half-written" in " ".join(lines)


class TestStats:
    """`itemtrace stats`."""

    def test_numbers(self, itemtrace, store):
        """Runs, turns, tokens, and a table each for items, tools, agents and models."""
        found = itemtrace("stats", store(one(), nested()))
        lines = found.stdout.split("\n")
        assert lines[0] == "2 runs in 1 trace, 1 nested run"
        assert "turns a run  2 to 2, 2.0 on average" in lines
        assert "gaps         none" in lines
        assert "t         2       0  5.0 ms   5.0 ms" in lines

    def test_json(self, itemtrace, store):
        """The same for machines."""
        story = one()
        story.records = story.records[:-2]
        story.item("handoff_call_item", call("transfer_to_b", "h"))
        story.item("handoff_output_item", answer("h", "ok"), extra={"source_agent": "A", "target_agent": "B"})  # fmt: skip
        guardrails = {"input": [{"name": "g", "tripwire": True}]}
        path = store(story.close("failed", guardrails=guardrails))
        found = json.loads(itemtrace("stats", path, "--json").stdout)
        assert (found["runs"], found["status"]) == (1, {"failed": 1})
        assert found["tools"]["t"]["calls"] == 1
        assert found["usage"]["input_tokens"] == 20
        assert found["models"]["m-1"]["usage"]["output_tokens"] == 10
        assert (found["handoffs"], found["tripwires"]) == ({"A → B": 1}, {"g": 1})

    def test_resumed_runs_count_once(self, itemtrace, store):
        """What a resumed run knows from its state is not counted again."""
        first = Story()
        first.responds(call("pay", "c"), types=["tool_call_item"])
        first.close("interrupted")
        then = Story("00000000000000a2", resumed={"run": first.run_id, "decisions": []})
        then.responds(call("pay", "c"), types=["tool_call_item"], recalled=True)
        then.item("tool_call_output_item", answer("c", "paid"), tool={"name": "pay", "start": 0, "end": 9_000})  # fmt: skip
        found = json.loads(itemtrace("stats", store(first, then.close()), "--json").stdout)  # fmt: skip
        assert found["usage"]["requests"] == 1
        assert found["items"]["tool_call_item"] == 1
        assert found["turns"]["max"] == 1

    def test_filters_choose_runs(self, itemtrace, store):
        """Only runs that match are counted."""
        path = store(one(), one("00000000000000c1", agent="Other"))
        found = json.loads(itemtrace("stats", path, "--agent", "Other", "--json").stdout)  # fmt: skip
        assert found["runs"] == 1

    def test_gaps(self, itemtrace, damaged):
        """Gaps are counted by cause."""
        assert json.loads(itemtrace("stats", damaged, "--json").stdout)["gaps"]

    def test_nothing(self, itemtrace, store):
        """Nothing to count is an error."""
        assert itemtrace("stats", store(one()), "--tool", "none").exit_code == 2


class TestRebuild:
    """`itemtrace rebuild`."""

    def test_ledgers_come_back(self, itemtrace, store, tmp_path):
        """The file holds the ledgers, and a line on stderr says how many."""
        out = tmp_path / "out.jsonl"
        found = itemtrace("rebuild", store(one()), "-o", str(out))
        assert (found.exit_code, found.stdout) == (0, "")
        assert found.stderr == f"1 ledger with 1 run and 0 gaps written to {out}\n"
        (ledger,) = io.read(out)
        assert ledger.exact

    def test_json(self, itemtrace, store, tmp_path):
        """The summary as JSON."""
        out = tmp_path / "out.jsonl"
        found = itemtrace("rebuild", store(one()), "-o", str(out), "--json")
        assert json.loads(found.stdout) == {"output": str(out), "ledgers": 1, "runs": 1, "gaps": 0}  # fmt: skip

    def test_stdout(self, itemtrace, store):
        """`-` writes to stdout, where nothing else is."""
        found = itemtrace("rebuild", store(one()), "-o", "-")
        assert io.loads(found.stdout).exact

    def test_ledgers_of_ledgers(self, itemtrace, store, tmp_path):
        """A file of ledgers is a source too, and comes out as it went in."""
        first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
        itemtrace("rebuild", store(one()), "-o", str(first))
        itemtrace("rebuild", str(first), "-o", str(second))
        assert first.read_bytes() == second.read_bytes()

    def test_never_over_another_file(self, itemtrace, store, tmp_path):
        """A file that is there stays, unless --force."""
        path, out = store(one()), tmp_path / "out.jsonl"
        out.write_text("precious")
        refused = itemtrace("rebuild", path, "-o", str(out))
        assert (refused.exit_code, "--force" in refused.stderr) == (2, True)
        assert out.read_text() == "precious"
        assert itemtrace("rebuild", path, "-o", str(out), "--force").exit_code == 0
        assert out.read_text() != "precious"

    @pytest.mark.parametrize("name", ["", "no/such/directory/out.jsonl", "out.parquet"])
    def test_places_that_cannot_be(self, itemtrace, store, tmp_path, name):
        """A directory, a place that is not there and another format are refused."""
        found = itemtrace("rebuild", store(one()), "-o", str(tmp_path / name))
        assert (found.exit_code, found.stderr.count("\n")) == (2, 1)

    def test_a_failure_leaves_nothing(self, itemtrace, tmp_path):
        """When the source fails half-way, no file and no temporary file is there."""
        path = tmp_path / "bad.db"
        with open_store(path, write=True) as opened:
            opened.write(rows(one()))
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE spans SET body = 'x'")
        connection.close()
        before = sorted(tmp_path.iterdir())
        found = itemtrace("rebuild", str(path), "-o", str(tmp_path / "out.jsonl"))
        after = [p for p in sorted(tmp_path.iterdir()) if "bad.db-" not in p.name]
        assert found.exit_code in (2, 70)
        assert after == [p for p in before if "bad.db-" not in p.name]

    def test_total(self, store, tmp_path):
        """How much there is to do is known where the source has an index."""
        path = store(one())
        spans = tmp_path / "spans.jsonl"
        with open_store(spans, write=True) as opened:
            opened.write(rows(one()))
        assert [total(path, Query()), total(str(spans), Query())] == [1, None]


class TestConvert:
    """`itemtrace convert`."""

    def test_input_list(self, itemtrace, store):
        """The run's input list on stdout; what was left out on stderr."""
        path = store(one(), nested())
        found = itemtrace("convert", path, "--to", "input-list")
        assert json.loads(found.stdout)[0] == {"content": "Hello", "role": "user"}
        assert "left out: run 00000000000000b1" in found.stderr

    def test_otlp(self, itemtrace, store, tmp_path):
        """The spans as OTLP JSON lines, which are a source again."""
        out = tmp_path / "spans.jsonl"
        found = itemtrace("convert", store(one()), "--to", "otlp-json", "-o", str(out))
        assert found.stderr == f"1 line written to {out}\n"
        assert itemtrace("verify", str(out)).exit_code == 0

    def test_ledger(self, itemtrace, store):
        """The ledger, whole."""
        found = itemtrace("convert", store(one()), TRACE_ID, "--to", "ledger")
        assert io.loads(found.stdout).exact

    def test_unknown_format(self, itemtrace, store):
        """A format that there is not is refused with those that there are."""
        found = itemtrace("convert", store(one()), "--to", "xml")
        assert (found.exit_code, "expected one of input-list, ledger" in found.stderr) == (2, True)  # fmt: skip


class TestGuard:
    """What a user sees of an error."""

    @pytest.mark.parametrize(
        ("error", "code", "line"),
        [
            (MissingExtra("x", "zstd"), 3, "itemtrace: x is not installed"),
            (GapError("lost"), 1, "itemtrace: lost"),
            (FileNotFoundError(2, "No such file", "a"), 2, "itemtrace: a: No such file"),
            (OSError("odd"), 2, "itemtrace: odd"),
            (KeyboardInterrupt(), 130, ""),
            (RuntimeError("\x1b"), 70, "itemtrace: internal error: RuntimeError: \\x1b;"),
        ],
    )  # fmt: skip
    def test_lines_and_codes(self, capsys, error, code, line):
        """Each error has its line and its exit code."""
        assert guard.told(error) == code
        found = capsys.readouterr().err
        assert (found.startswith(line), found.count("\n") <= 1) == (True, True)

    def test_debug(self, itemtrace, tmp_path):
        """With --debug the traceback is there, too."""
        found = itemtrace("--debug", "runs", str(tmp_path / "none"))
        assert (found.exit_code, "Traceback" in found.stderr) == (2, True)

    def test_bad_arguments(self, itemtrace):
        """Unknown commands and options are bad arguments."""
        codes = [itemtrace(*args).exit_code for args in (["nope"], ["runs", "--nope"])]
        assert codes == [2, 2]

    def test_version(self, itemtrace):
        """The version, and that is all."""
        found = itemtrace("--version")
        assert (found.exit_code, found.stdout.startswith("itemtrace ")) == (0, True)

    def test_main(self, monkeypatch, capsys):
        """The entry point ends the process with the exit code."""
        monkeypatch.setattr("sys.argv", ["itemtrace", "--version"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code, capsys.readouterr().out[:10]) == (0, "itemtrace ")

    def test_no_command(self, itemtrace):
        """Without a command there is help."""
        assert "Commands" in itemtrace().output


def test_progress_for_people(monkeypatch, capsys):
    """On a terminal a bar runs along on stderr, and stdout stays clean."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with output.progress("counting", 3) as advance:
        advance(2)
    found = capsys.readouterr()
    assert (found.out, "counting" in found.err) == ("", True)
