"""HTTP for stores, against a real server on loopback that answers as it is told."""

import gzip
import socket

import pytest

from itemtrace.errors import ConfigError, SourceError
from itemtrace.stores.http import Found, Http, Page, Paging, endpoint_of, newest_first


OK = (200, {"Content-Type": "application/json; charset=utf-8"}, b"{}")


def client(server, environ=None, user="", **options):
    """Returns a client of the server and the pauses that it makes."""
    pauses = []
    endpoint = endpoint_of(
        f"jaeger://{user}{server.where}/base", port=1, environ=environ or {}
    )
    return Http(endpoint, sleep=pauses.append, **options), pauses


class TestEndpoint:
    def test_parts(self):
        """Host, port, prefix and options come from the URL; TLS changes the default port."""
        plain = endpoint_of("jaeger://host/a/?page=3&x=", port=16686, environ={})
        assert (plain.base, plain.kind, plain.options, plain.headers) == (
            "http://host:16686/a",
            "jaeger",
            {"page": "3", "x": ""},
            {},
        )
        secure = endpoint_of("jaeger+https://[::1]", port=16686, environ={})
        assert secure.base == "https://[::1]:443"

    @pytest.mark.parametrize(
        ("user", "environ", "expected"),
        [
            ("me:p%40ss@", {}, {"Authorization": "Basic bWU6cEBzcw=="}),
            (":tok@", {}, {"Authorization": "Bearer tok"}),
            ("", {"ITEMTRACE_JAEGER_TOKEN": "t"}, {"Authorization": "Bearer t"}),
            (
                "me:pw@",
                {"ITEMTRACE_JAEGER_TOKEN": "t"},
                {"Authorization": "Basic bWU6cHc="},
            ),
            (
                "",
                {"ITEMTRACE_JAEGER_HEADERS": "X-Org=one%20two, b = c ,"},
                {"X-Org": "one two", "b": "c"},
            ),
        ],
    )
    def test_credentials(self, user, environ, expected):
        """Credentials come from the URL or the environment, and are in nothing that is printed."""
        endpoint = endpoint_of(f"jaeger://{user}host", port=1, environ=environ)
        assert endpoint.headers == expected
        assert endpoint.url == "jaeger://host"
        assert not any(value in repr(endpoint) for value in expected.values())

    def test_the_environment_of_the_process(self, monkeypatch):
        """Without another environment, the process's is used."""
        monkeypatch.setenv("ITEMTRACE_JAEGER_TOKEN", "mine")
        endpoint = endpoint_of("jaeger://host", port=1)
        assert endpoint.headers == {"Authorization": "Bearer mine"}

    @pytest.mark.parametrize(
        "source", ["jaeger://", "jaeger://host:port", "jaeger+ftp://host"]
    )
    def test_no_server(self, source):
        """A URL that names no server is refused with what was expected."""
        with pytest.raises(ConfigError, match="names no server; expected jaeger://"):
            endpoint_of(source, port=1, environ={})

    @pytest.mark.parametrize("value", ["no-sign", "a=b%0Ac"])
    def test_bad_headers(self, value):
        """Headers that cannot be sent are refused without showing them."""
        with pytest.raises(ConfigError, match="ITEMTRACE_JAEGER_HEADERS") as refused:
            endpoint_of(
                "jaeger://host", port=1, environ={"ITEMTRACE_JAEGER_HEADERS": value}
            )
        assert value not in str(refused.value)

    @pytest.mark.parametrize("value", ["soon", "0", "-1", "nan"])
    def test_bad_timeout(self, value):
        """A timeout that is no time is refused."""
        endpoint = endpoint_of(f"jaeger://host?timeout={value}", port=1, environ={})
        with pytest.raises(ConfigError, match=f"timeout={value}; expected seconds"):
            Http(endpoint)

    def test_timeout(self):
        """The timeout can be given in the URL."""
        endpoint = endpoint_of("jaeger://host?timeout=1.5", port=1, environ={})
        assert Http(endpoint).timeout == 1.5


class TestRequests:
    def test_an_answer(self, serving):
        """A request carries its query and headers, and the answer its type."""
        with serving(OK) as server:
            http, _ = client(server, user="me:pw@")
            answer = http.get("/x", [("a", "1 & 2")])
        assert (answer.status, answer.body, answer.content_type) == (
            200,
            b"{}",
            "application/json",
        )
        ((path, headers),) = server.asked
        assert path == "/base/x?a=1+%26+2"
        assert headers["Authorization"] == "Basic bWU6cHc="
        assert headers["Accept-Encoding"] == "gzip"

    def test_gzip(self, serving):
        """A packed answer is unpacked."""
        packed = (200, {"Content-Encoding": "gzip"}, gzip.compress(b"long " * 99))
        with serving(packed) as server:
            assert client(server)[0].get("/").body == b"long " * 99

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    def test_busy_servers_are_asked_again(self, serving, status):
        """A server that is busy is asked again, after the pause that it names or a growing one."""
        busy = (status, {}, b"")
        patient = (status, {"Retry-After": "7"}, b"")
        dated = (status, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, b"")
        with serving(busy, patient, dated, OK) as server:
            http, pauses = client(server)
            assert http.get("/").status == 200
        assert pauses == [0.2, 7.0, 1.8]

    def test_broken_connections_are_tried_again(self, serving):
        """A server that hangs up, also within an answer, is asked again."""
        short = (200, {"Content-Length": "99"}, b"half")
        cut = (200, {"Content-Encoding": "gzip"}, gzip.compress(b"x" * 999)[:-9])
        with serving(None, short, cut, OK) as server:
            http, pauses = client(server)
            assert http.get("/").body == b"{}"
        assert pauses == [0.2, 0.6, 1.8]

    @pytest.mark.parametrize(
        ("answer", "why"),
        [
            ((500, {}, b"it\nbroke"), "answered 500 Internal Server Error: it broke"),
            ((404, {}, b""), "answered 404 Not Found \\(asked for /x\\)"),
            ((599, {}, b""), "answered 599 \\("),
            ((401, {}, b"who?"), "ITEMTRACE_JAEGER_TOKEN or ITEMTRACE_JAEGER_HEADERS"),
            ((503, {"Retry-After": "99"}, b""), "answered 503 Service Unavailable"),
            (None, "the connection broke"),
            ((200, {"Content-Length": "9"}, b"12"), "broke off after 2 bytes"),
            ((200, {"Content-Encoding": "gzip"}, b"plain"), "not the gzip"),
            ((302, {"Location": "http://other.test/y"}, b""), "http://other.test "),
            ((302, {"Location": "http://me:pw@b.test/"}, b""), "another server"),
        ],
    )
    def test_what_goes_wrong(self, serving, answer, why):
        """What goes wrong in the end is one error with the source, the reason and the request."""
        with serving(answer) as server:
            http, pauses = client(server, user="me:secret@")
            with pytest.raises(SourceError, match=why) as failed:
                http.get("/x")
        assert failed.value.source == f"jaeger://{server.where}/base"
        assert str(failed.value).startswith(f"{failed.value.source} cannot be read: ")
        assert "secret" not in str(failed.value)
        assert "pw" not in str(failed.value)
        assert all(pause <= 30 for pause in pauses)

    def test_allowed_statuses(self, serving):
        """A status that the caller expects is an answer."""
        with serving((404, {}, b"none")) as server:
            assert client(server)[0].get("/", allowed=(404,)).body == b"none"

    def test_redirects_on_the_same_server(self, serving):
        """A redirect that stays on the server is followed."""
        with serving((302, {"Location": "/other"}, b""), OK) as server:
            assert client(server)[0].get("/x").status == 200
        assert [path for path, _ in server.asked] == ["/base/x", "/other"]

    def test_nobody_there(self, serving):
        """A port that nobody listens on is tried again and then named."""
        with serving(OK) as server:
            http, pauses = client(server)
        with pytest.raises(SourceError, match=r"cannot be reached .*refused"):
            http.get("/")
        assert pauses == [0.2, 0.6, 1.8]

    def test_unknown_hosts(self):
        """A host that does not exist is not tried again."""
        pauses = []
        endpoint = endpoint_of("jaeger://nobody.invalid", port=1, environ={})
        http = Http(endpoint, sleep=pauses.append, timeout=5)
        with pytest.raises(SourceError, match="cannot be reached"):
            http.get("/")
        assert pauses == []

    def test_timeouts(self):
        """A server that says nothing is given up."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            where = f"jaeger://127.0.0.1:{silent.getsockname()[1]}"
            endpoint = endpoint_of(where, port=1, environ={})
            http = Http(endpoint, sleep=lambda _: None, timeout=0.05)
            with pytest.raises(SourceError, match=r"not answer within 0\.05 seconds"):
                http.get("/")

    @pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}])
    def test_huge_answers(self, serving, monkeypatch, headers):
        """An answer that would not fit into memory is refused, packed or not."""
        monkeypatch.setattr("itemtrace.stores.http.session.LARGEST", 1 << 20)
        body = b"x" * (3 << 20)
        sent = gzip.compress(body) if headers else body
        with serving((200, headers, sent)) as server:
            http, _ = client(server)
            with pytest.raises(SourceError, match="more than 1 MiB"):
                http.get("/")


class TestWindows:
    """A store of points in time, searched with a limit."""

    def walk(self, points, *, limit=4, most=50, lo=0, hi=10_000, seen_at=None):
        """Returns the keys that come, the number of searches and the complaints."""
        complaints, asked = [], []

        def search(first, last, limit):
            asked.append((first, last))
            inside = [
                Found(-start * 1000, key)
                for key, start in points.items()
                if any(first <= at <= last for at in (seen_at or {}).get(key, (start,)))
            ]
            return Page(len(inside[:limit]), inside[:limit])

        paging = Paging(limit, most, complaints.append)
        keys = [found.key for found in newest_first(search, lo, hi, paging)]
        return keys, len(asked), complaints

    def test_all_newest_first(self):
        """Everything comes, once, the newest first, however little a search gives."""
        points = {f"{n:03}": (n * 7919) % 10_000 for n in range(200)}
        keys, searches, complaints = self.walk(points)
        assert keys == sorted(points, key=points.__getitem__, reverse=True)
        assert complaints == []
        assert searches < 400

    def test_few_need_one_search(self):
        """What fits a page is one search."""
        assert self.walk({"a": 1, "b": 9}) == (["b", "a"], 1, [])

    def test_nothing(self):
        """A time that ends before it begins holds nothing, and is not asked for."""
        assert self.walk({"a": 1}, lo=5, hi=4) == ([], 0, [])

    def test_found_by_something_late(self):
        """A result that is found by a later part of it comes when it is its turn."""
        points = {"early": 10, **{f"p{n}": n for n in range(100, 120)}}
        keys, _, _ = self.walk(points, seen_at={"early": (115,)})
        assert keys == [*[f"p{n}" for n in range(119, 99, -1)], "early"]

    def test_all_found_by_something_late(self):
        """Results that all start before the time that is searched are still told apart."""
        points = {f"{n:02}": n for n in range(30)}
        seen = {key: (5_000 + 100 * start,) for key, start in points.items()}
        keys, _, complaints = self.walk(points, seen_at=seen, lo=1_000)
        assert keys == sorted(points, reverse=True)
        assert complaints == []

    def test_many_at_once(self):
        """What cannot be split by time is asked for with a larger limit."""
        points = {f"{n:02}": 77 for n in range(30)}
        keys, _, complaints = self.walk(points)
        assert keys == sorted(points)
        assert complaints == []

    def test_too_many_at_once(self):
        """What even that leaves out is reported."""
        points = {f"{n:02}": 77 for n in range(60)}
        keys, _, complaints = self.walk(points)
        assert len(keys) == 50
        assert complaints
        assert complaints[0].startswith("more than 50 traces within ")
