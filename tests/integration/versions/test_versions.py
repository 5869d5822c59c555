"""Every supported minor release of openai-agents: recorded, rebuilt, replayed, and on each other's tapes.

Where an environment cannot be made the tests of that version are skipped with the reason;
`ITEMTRACE_REQUIRE_BACKENDS=1` makes that a failure. `docs/versions.md` has the outcome, which is
checked here; `ITEMTRACE_WRITE_DOCS=1` writes it.
"""

import contextlib
import importlib.util
import json
import os
import re
import subprocess
import threading
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import pytest


HERE = Path(__file__).parent
SPEC = importlib.util.spec_from_file_location("environments", HERE / "environments.py")
environments = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(environments)

ROOT, VERSIONS = environments.ROOT, environments.VERSIONS
PAGE = ROOT / "docs" / "versions.md"
REQUIRED = os.environ.get("ITEMTRACE_REQUIRE_BACKENDS") == "1"
SECONDS = 300
"""How long one version may take; it needs about 10."""

NEWEST = version("openai-agents")
ALL = (*VERSIONS, *({NEWEST} - set(VERSIONS)))
OLDEST = VERSIONS[0]
PAIRS = [
    pair
    for one, other in [*pairwise(VERSIONS), (OLDEST, VERSIONS[-1])]
    for pair in ((one, other), (other, one))
]
"""Who recorded and who replays."""

KEPT_OF_A_FAILURE = {"len(new_items)", "len(raw_responses)"}
RETRIED = {"usage", "raw_responses[0]"}


def allowed(case, on):
    """Returns which facts of a replay may differ from the recording.

    What the SDK keeps of a turn in which a tool raised is another thing from release to release. An SDK
    before 0.21 has no place where a stream could say what the failed attempts of a call used.
    """
    if case.startswith("tool_that_raises"):
        return KEPT_OF_A_FAILURE
    if case == "retries, streamed" and on.startswith("0.20."):
        return RETRIED
    return set()


class Running:
    """A process that has a version of the SDK, and what it told.

    Attributes:
        out: Where its ledgers are.
        proved: What it found of its own programs.
        played: Recording version -> what it found of those tapes.
    """

    def __init__(self, wanted, out):
        self.wanted = wanted
        self.out = out
        self.proved = {}
        self.played = {}
        out.mkdir()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ITEMTRACE_", "OPENAI_", "OTEL_"))
        }
        with (out / "stderr").open("w") as errors:
            self.process = subprocess.Popen(
                [
                    environments.python_with(wanted),
                    "-W",
                    "error",
                    HERE / "version_run.py",
                    out,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=kept | {"PYTHONPATH": str(ROOT / "src")},
            )
        self.watchdog = threading.Timer(SECONDS, self.process.kill)
        self.watchdog.start()

    def told(self):
        """Returns the next thing that it says."""
        line = self.process.stdout.readline()
        assert line, f"{self.wanted}: {(self.out / 'stderr').read_text()[-2_000:]}"
        return json.loads(line)

    def ask(self, *directories):
        """Hands it ledgers to play."""
        self.process.stdin.writelines(f"{each}\n" for each in directories)
        self.process.stdin.close()

    def end(self):
        """Ends the process."""
        self.watchdog.cancel()
        self.process.kill()
        with contextlib.suppress(OSError):  # it may have ended before it was asked
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Version -> what was found with it, or the reason why it could not be had; all run at once."""
    out = tmp_path_factory.mktemp("versions")
    found = {}
    for wanted in ALL:
        try:
            found[wanted] = Running(wanted, out / wanted)
        except environments.NoEnvironment as error:
            found[wanted] = str(error)
    running = {v: one for v, one in found.items() if isinstance(one, Running)}
    try:
        for one in running.values():
            one.proved = one.told()
        theirs = {
            on: [of for of, player in PAIRS if player == on and of in running]
            for on in running
        }
        for on, one in running.items():
            one.ask(*(running[of].out for of in theirs[on]))
        for on, one in running.items():
            one.played = {of: one.told() for of in theirs[on]}
        yield found
    finally:
        for one in running.values():
            one.end()


def having(measured, wanted):
    """Returns what was found with a version; skips where it could not be had."""
    one = measured[wanted]
    if isinstance(one, str):
        (pytest.fail if REQUIRED else pytest.skip)(f"openai-agents {wanted}: {one}")
    return one


def named(differences):
    """Returns the names of what differs."""
    return {text.partition(": expected")[0] for text in differences}


def test_the_oldest_is_what_the_package_asks_for():
    """The lowest release that the package's requirements allow is the first that is tested."""
    bounds = environments.lower_bounds(ROOT / "pyproject.toml")
    (bound,) = (each for each in bounds if each.startswith("openai-agents=="))
    assert bound.removeprefix("openai-agents==") + ".0" == OLDEST


@pytest.mark.parametrize("wanted", ALL)
def test_recorded_is_rebuilt(wanted, measured):
    """Every program's ledger has no gap and is equal to what that SDK returned; the SDK is put back."""
    proved = having(measured, wanted).proved
    assert proved["openai-agents"] == wanted
    ran = {
        c: found for c, found in proved["programs"].items() if "lacking" not in found
    }
    assert {
        case: {
            key: found[key] for key in ("gaps", "differences", "self_check", "health")
        }
        for case, found in ran.items()
    } == {
        case: {"gaps": [], "differences": [], "self_check": [], "health": {}}
        for case in ran
    }
    assert [case for case, found in ran.items() if not found["put_back"]] == []
    assert min(found["items"] for found in ran.values()) > 0


@pytest.mark.parametrize("wanted", ALL)
def test_replayed_on_its_own(wanted, measured):
    """The same program on its own tape, verified: the same results, and nothing is sent."""
    for case, found in having(measured, wanted).proved["programs"].items():
        if "lacking" not in found:
            replay = found["replay"]
            assert replay["stopped"] is None, case
            assert named(replay["differences"]) <= allowed(case, wanted), case
            assert (replay["clean"], replay["requests"]) == (True, 0), case


@pytest.mark.parametrize(("of", "on"), PAIRS)
def test_tape_of_another_version(of, on, measured):
    """A tape that another version recorded, verified: the same results as were recorded."""
    recorded, played = having(measured, of), having(measured, on).played[of]
    assert set(played) == {path.stem for path in recorded.out.glob("*.jsonl")}
    for case, found in played.items():
        if "lacking" not in found:
            assert found["stopped"] is None, case
            assert named(found["differences"]) <= allowed(case, on), case
            assert (found["clean"], found["requests"]) == (True, 0), case


# --- the page ----------------------------------------------------------------------------


def lacking(proved):
    """Returns the programs that a version cannot run."""
    names = (c for c, found in proved["programs"].items() if "lacking" in found)
    return sorted({f"`{case.partition(',')[0]}`" for case in names})


def table_of_versions(measured):
    """Yields a line for each version."""
    yield "| openai-agents | with | programs, whole and streamed | run items | equal to the SDK | replay |"
    yield "|---|---|---|---|---|---|"
    for wanted in VERSIONS:
        proved = measured[wanted].proved
        ran = {c: f for c, f in proved["programs"].items() if "lacking" not in f}
        beside = ", ".join(
            f"{name} {proved[name]}" for name in ("openai", "opentelemetry-sdk")
        )
        if wanted != OLDEST:
            beside = f"openai {proved['openai'].partition('.')[0]}, newest of the rest"
        differing = [
            c for c, f in ran.items() if named(f["replay"]["differences"]) & RETRIED
        ]
        less = f"; not here: {', '.join(lacking(proved))}" if lacking(proved) else ""
        exact = f"equal but `{'`, `'.join(differing)}`" if differing else "equal"
        items = sum(found["items"] for found in ran.values())
        yield f"| {wanted} | {beside} | {len(ran)}{less} | {items} | all | {exact} |"


def table_of_tapes(measured):
    """Yields a line for each recording version, with a column for each replaying one."""
    yield "| tape of | " + " | ".join(f"on {on}" for on in VERSIONS) + " |"
    yield "|---" * (len(VERSIONS) + 1) + "|"
    for of in VERSIONS:
        cells = [cell(measured, of, on) for on in VERSIONS]
        yield f"| {of} | " + " | ".join(cells) + " |"


def cell(measured, of, on):
    """Returns how many tapes of a version were exact on another."""
    if of == on:
        played = {
            case: found["replay"]
            for case, found in measured[on].proved["programs"].items()
            if "lacking" not in found
        }
    elif (of, on) in PAIRS:
        played = {
            case: found
            for case, found in measured[on].played[of].items()
            if "lacking" not in found
        }
    else:
        return ""
    # what is kept of a turn in which a tool raised differs from run to run on one version too
    judged = {c: f for c, f in played.items() if not c.startswith("tool_that_raises")}
    exact = sum(not found["differences"] for found in judged.values())
    return f"{exact} of {len(judged)}"


def test_the_page_says_so(measured):
    """The tables of docs/versions.md are what was found here."""
    for wanted in VERSIONS:
        having(measured, wanted)
    text = PAGE.read_text(encoding="utf-8")
    for name, table in (("versions", table_of_versions), ("tapes", table_of_tapes)):
        lines = "\n".join(table(measured))
        text = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)",
            lambda found, lines=lines: f"{found[1]}{lines}\n{found[2]}",
            text,
            flags=re.DOTALL,
        )
    if os.environ.get("ITEMTRACE_WRITE_DOCS") == "1":
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, (
        "run this test with ITEMTRACE_WRITE_DOCS=1 and look at what has changed"
    )
