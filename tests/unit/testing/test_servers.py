"""Starting and stopping servers, with a small one written here in place of a real one."""

import socket
import stat
import sys

import pytest

from itemtrace.testing import servers
from itemtrace.testing.servers import Server, ServerError


PROGRAM = f"""#!{sys.executable}
import http.server, json, os, pathlib, signal, sys
arguments = sys.argv[1:]
print("arguments", json.dumps(arguments), flush=True)
modes = [json.loads(pathlib.Path(a).read_text()).get("mode") for a in arguments if a != "--config"]
mode = next(filter(None, modes), "")
if mode == "ends":
    sys.exit("it cannot go on")
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mode == "taken":
    sys.exit("listen: address already in use")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if mode == "never" else 200)
        self.end_headers()
        self.wfile.write(json.dumps(dict(os.environ)).encode())
    def log_message(self, *_):
        pass
host, port = os.environ["HEALTH_ENDPOINT"].split(":")
http.server.HTTPServer((host, int(port)), Handler).serve_forever()
"""


@pytest.fixture
def program(tmp_path):
    """Gives a program that is ready when a GET is answered."""
    path = tmp_path / "program"
    path.write_text(PROGRAM)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize("run", [servers.jaeger, servers.collector])
def test_it_runs_and_ends(program, run, tmp_path):
    """A server is ready when the context begins, on ports of its own, and gone when it ends."""
    file = tmp_path / "own.json"
    file.write_text("{}")
    with run(program, file, {"a": 1}, environ={"MORE": "yes"}) as server:
        assert servers.is_ready(server.url("health"))
        assert len(set(server.ports.values())) == len(server.names)
        assert f'["--config", "{file}", "--config", "config-1.yaml"]' in server.log()
        assert (server.directory / "config-1.yaml").read_text() == '{"a":1}'
        assert server.environ["MORE"] == "yes"
        process = server.process
    assert process is not None
    assert process.returncode is not None
    assert not server.directory.exists()


def test_again_on_the_same_ports(program, tmp_path):
    """A server that was stopped or killed starts again where it was."""
    with servers.collector(program, {}, ports={"health": free()}) as server:
        first = dict(server.ports)
        server.stop()
        server.stop()
        server.start()
        server.kill()
        server.kill()
        assert not servers.is_ready(server.url("health"))
        server.start()
        assert server.ports == first


def free():
    """Returns a free port."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


def test_jaeger_keeps_spans_in_memory_unless_told_otherwise(program):
    """Without a configuration, Jaeger gets one of ours."""
    with servers.jaeger(program) as server:
        assert '"max_traces":100000' in (server.directory / "config-0.yaml").read_text()


def test_one_that_ends(program):
    """A server that ends at once is an error with what it said."""
    with (
        pytest.raises(
            ServerError, match=r"ended; its log ends with:.*\n.*\n?it cannot go on"
        ),
        servers.collector(program, {"mode": "ends"}),
    ):
        pass


def test_one_that_is_never_ready(program, monkeypatch):
    """A server that is not ready in time is stopped, and an error."""
    monkeypatch.setattr(servers, "READY_SECONDS", 0.5)
    with (
        pytest.raises(ServerError, match=r"was not ready after 0\.5 s"),
        servers.collector(program, {"mode": "never"}),
    ):
        pass


def test_a_port_that_is_taken(program, tmp_path):
    """When a port was taken meanwhile others are tried, and then it is an error."""
    (tmp_path / "config.json").write_text('{"mode": "taken"}')
    command = [str(program), "--config", str(tmp_path / "config.json")]
    server = Server(command, tmp_path, ["health"], ("health", "/"))
    with pytest.raises(ServerError, match="already in use"):
        server.start()
    assert server.log().count("already in use") == 3


def test_one_that_does_not_stop(program, monkeypatch):
    """A server that ignores the request to end is killed."""
    monkeypatch.setattr(servers, "STOP_SECONDS", 0.2)
    with servers.collector(program, {"mode": "stubborn"}) as server:
        process = server.process
    assert process is not None
    assert process.returncode == -9


class TestRequire:
    def test_there(self, program):
        """A program that is there is given."""
        assert servers.require_backend("Thing", program) == program

    @pytest.mark.parametrize("missing", [None, "nowhere"])
    def test_not_there(self, tmp_path, monkeypatch, missing):
        """Without it, the test is skipped and says what to do."""
        monkeypatch.delenv(servers.REQUIRE, raising=False)
        path = missing and tmp_path / missing
        with pytest.raises(pytest.skip.Exception, match="make backends"):
            servers.require_backend("Thing", path)

    def test_required(self, monkeypatch):
        """Where it is required, that is a failure."""
        monkeypatch.setenv(servers.REQUIRE, "1")
        with pytest.raises(pytest.fail.Exception, match=f"{servers.REQUIRE} is 1"):
            servers.require_backend("Thing", None)
