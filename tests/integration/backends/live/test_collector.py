"""Through the real Collector: batches, its files in every format, its queue on disk, doubles."""

import hashlib
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

import itemtrace
from itemtrace.stores import open_store
from itemtrace.testing import servers
from itemtrace.testing.store_contract import by_span


pytestmark = pytest.mark.backend("collector")

OTLP = {
    "protocols": {
        "grpc": {"endpoint": "${env:OTLP_GRPC_ENDPOINT}"},
        "http": {"endpoint": "${env:OTLP_HTTP_ENDPOINT}"},
    }
}


def config(exporters, *, processors=None, extensions=None):
    """Returns a configuration that sends spans to some exporters."""
    return {
        "extensions": {
            "health_check": {"endpoint": "${env:HEALTH_ENDPOINT}"},
            **(extensions or {}),
        },
        "receivers": {"otlp": OTLP},
        "processors": processors or {},
        "exporters": exporters,
        "service": {
            "extensions": ["health_check", *(extensions or {})],
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {
                "traces": {
                    "receivers": ["otlp"],
                    "processors": list(processors or {}),
                    "exporters": list(exporters),
                }
            },
        },
    }


def stored(source):
    """Returns the rows that a source has, by trace, and what could not be read."""
    with open_store(source) as store:
        rows = {trace_id: by_span(rows) for trace_id, rows in store.traces()}
        return rows, store.problems


def expected(*sent):
    """Returns the same of what was sent."""
    return {
        trace_id: by_span(rows) for one in sent for trace_id, rows in one.rows.items()
    }


def values_of(ledger):
    """Returns the values of a ledger's one run, as text: NaN equals nothing."""
    (run,) = ledger.runs
    return [repr(item.raw["value"]) for item in run.items]


def until(condition, seconds=30):
    """Waits until a condition holds, and returns whether it does."""
    end = time.monotonic() + seconds
    while not (held := condition()) and time.monotonic() < end:
        time.sleep(0.1)
    return held


def noise(number):
    """Returns half a megabyte that does not get much smaller."""
    return hashlib.shake_256(b"%d" % number).hexdigest(250_000)


FORMATS = {
    "json": {},
    "json-zstd": {"compression": "zstd"},
    "proto": {"format": "proto"},
    "proto-zstd": {"format": "proto", "compression": "zstd"},
}


class TestFiles:
    """The file exporter, read back by `load`."""

    @pytest.mark.parametrize("form", FORMATS)
    async def test_every_format(
        self, collector_binary, tmp_path, send_demo, send_values, hard_values, form
    ):
        """The demo and the hard values come back from a file in each format, byte for byte."""
        path = tmp_path / "traces"
        exporters = {"file": {"path": str(path), **FORMATS[form]}}
        with servers.collector(collector_binary, config(exporters)) as collector:
            demo = await send_demo(collector)
            values, run = send_values(collector, "grpc")
        assert stored(path) == (expected(demo, values), [])
        ledgers = [itemtrace.load(path, trace_id=id_) for id_ in demo.trace_ids]
        assert demo.differences(ledgers) == []
        ledger = itemtrace.load(path, run_id=run.run_id)
        assert ledger.exact
        assert values_of(ledger) == [repr(value) for value in hard_values]

    @pytest.mark.parametrize("form", FORMATS)
    def test_rotation(self, collector_binary, tmp_path, send_values, form):
        """A file that was rotated is read together with those before it."""
        path = tmp_path / "traces.data"
        rotation = {"rotation": {"max_megabytes": 1, "max_backups": 100}}
        exporters = {"file": {"path": str(path), **FORMATS[form], **rotation}}
        with servers.collector(collector_binary, config(exporters)) as collector:
            sent = [
                send_values(collector, values=[noise(number)])[0]
                for number in range(12)
            ]
        assert len(list(tmp_path.iterdir())) > 1
        rows, problems = stored(tmp_path)
        assert problems == []
        assert rows == expected(*sent)


class TestOnTheWay:
    """What the pipeline does to batches."""

    async def test_batches(self, collector_binary, tmp_path, send_demo, protocol):
        """Runs that are cut into small batches and joined to others come back exact."""
        exporters = {"file": {"path": str(tmp_path / "traces.jsonl")}}
        small = {
            "batch": {"send_batch_size": 7, "send_batch_max_size": 7, "timeout": "50ms"}
        }
        limited = {
            "memory_limiter": {"check_interval": "1s", "limit_mib": 512},
            **small,
        }
        made = config(exporters, processors=limited)
        with servers.collector(collector_binary, made) as collector:
            demo = await send_demo(collector, protocol)
        assert stored(tmp_path) == (expected(demo), [])
        ledgers = [itemtrace.load(tmp_path, trace_id=id_) for id_ in demo.trace_ids]
        assert demo.differences(ledgers) == []

    async def test_doubles(self, collector_binary, tmp_path, send_demo):
        """Spans that arrive twice are one ledger, exact."""
        exporters = {
            "file/a": {"path": str(tmp_path / "a.jsonl")},
            "file/b": {"path": str(tmp_path / "b.bin"), "format": "proto"},
        }
        with servers.collector(collector_binary, config(exporters)) as collector:
            demo = await send_demo(collector)
        rows, problems = stored(tmp_path)
        assert problems == []
        assert {id_: len(found) for id_, found in rows.items()} == {
            id_: 2 * len(found) for id_, found in demo.rows.items()
        }
        ledgers = [itemtrace.load(tmp_path, trace_id=id_) for id_ in demo.trace_ids]
        assert demo.differences(ledgers) == []

    async def test_doubles_of_retries(self, collector_binary, tmp_path, send_demo):
        """A backend that keeps a batch and then says that it failed gets it again: still exact."""
        inbox = tmp_path / "inbox"
        inbox.mkdir()
        with forgetful(inbox) as url:
            exporters = {
                "otlphttp": {
                    "endpoint": url,
                    "compression": "none",
                    "retry_on_failure": {"initial_interval": "100ms"},
                }
            }
            with servers.collector(collector_binary, config(exporters)) as collector:
                demo = await send_demo(collector)
                assert until(lambda: len(list(inbox.iterdir())) >= 2)
        ledgers = [itemtrace.load(inbox, trace_id=id_) for id_ in demo.trace_ids]
        assert demo.differences(ledgers) == []
        rows, _ = stored(inbox)
        assert sum(map(len, rows.values())) > sum(map(len, demo.rows.values()))


class TestQueue:
    """The queue on disk."""

    async def test_a_crash_in_the_middle(self, collector_binary, tmp_path, send_demo):
        """Runs in the queue of a Collector that is killed arrive after it starts again."""
        queue, arrived = tmp_path / "queue", tmp_path / "arrived"
        arrived.mkdir()
        exporters = {
            "otlphttp": {
                "endpoint": "${env:NEXT}",
                "retry_on_failure": {"initial_interval": "100ms", "max_interval": "1s"},
                "sending_queue": {"storage": "file_storage"},
            }
        }
        storage = {"file_storage": {"directory": str(queue), "create_directory": True}}
        ports = servers.free_ports(["otlp_http"])
        made = config(exporters, extensions=storage)
        address = {"NEXT": f"http://127.0.0.1:{ports['otlp_http']}"}
        with servers.collector(collector_binary, made, environ=address) as first:
            before = await send_demo(first)
            first.kill()
            first.start()
            after = await send_demo(first, "grpc")
            file = {"file": {"path": str(arrived / "traces.jsonl")}}
            with servers.collector(collector_binary, config(file), ports=ports):
                ids = {*before.trace_ids, *after.trace_ids}
                assert until(lambda: ids <= sealed(arrived))
        for sent in (before, after):
            ledgers = [itemtrace.load(arrived, trace_id=id_) for id_ in sent.trace_ids]
            assert sent.differences(ledgers) == []


def sealed(directory):
    """Returns the traces in a directory whose ledgers have no gap."""
    if not any(file.stat().st_size for file in directory.iterdir()):
        return set()
    return {
        trace_id
        for ledger in itemtrace.iter_ledgers(directory)
        if ledger.exact
        for trace_id in ledger.trace_ids
    }


class Inbox(ThreadingHTTPServer):
    """A backend with a directory."""

    def __init__(self, inbox):
        super().__init__(("127.0.0.1", 0), Forgetful)
        self.inbox = inbox


class Forgetful(BaseHTTPRequestHandler):
    """Keeps what it is sent, and says of every other batch that it could not."""

    server: "Inbox"  # pyright: ignore[reportIncompatibleVariableOverride] - it makes this

    def do_POST(self):
        """Writes the body into a file."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        inbox = self.server.inbox
        number = len(list(inbox.iterdir()))
        (inbox / f"{number:04}.pb").write_bytes(body)
        self.send_response(503 if number % 2 == 0 else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format, *args):  # noqa: A002 - its name there
        """Keeps the terminal quiet."""


class forgetful:  # noqa: N801 - used as a function
    """Runs such a backend."""

    def __init__(self, inbox):
        self.server = Inbox(inbox)
        self.thread = Thread(target=self.server.serve_forever, args=(0.01,))

    def __enter__(self):
        self.thread.start()
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
