"""Requests of a store, on the standard library: timeouts, retries, gzip, no way off the server.

A server that is busy or away (429, 502, 503, 504, a broken connection) is asked again after a growing
pause, or after the one that it names. A redirect is followed only on the same server, so credentials
go nowhere else. Whatever is wrong in the end is one `SourceError`.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from itemtrace.errors import ConfigError, SourceError


if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from itemtrace.stores.http.endpoint import Endpoint


TIMEOUT: Final = 30.0
"""Seconds without any answer after which a request failed; `?timeout=` in the source changes it."""

PAUSES: Final = (0.2, 0.6, 1.8)
"""Seconds before the second, third and fourth attempt."""

LONGEST_PAUSE: Final = 30.0
"""The longest pause that a server may ask for."""

LARGEST: Final = 1 << 30
"""How many bytes an answer may have, unpacked; what is larger is an error rather than no memory."""

BLOCK: Final = 1 << 20
BUSY: Final = frozenset({429, 502, 503, 504})
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered.

    Attributes:
        status: The HTTP status.
        body: The content, unpacked.
        content_type: The media type, without parameters.
    """

    status: int
    body: bytes
    content_type: str = ""


class SameServer(urllib.request.HTTPRedirectHandler):
    """Follows redirects on the same server, and refuses others."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: Any,
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Returns the next request.

        Raises:
            Elsewhere: It would go to another server.
        """
        here, there = urlsplit(req.full_url), urlsplit(newurl)
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            where = f"{there.scheme}://{there.netloc.rpartition('@')[2]}"
            raise Elsewhere(where)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Elsewhere(Exception):
    """A redirect to another server."""


TROUBLES: Final = (
    Elsewhere,
    OSError,  # with URLError, ConnectionError and TimeoutError
    http.client.HTTPException,
)
"""What a request raises."""


class Http:
    """Asks one server.

    Args:
        endpoint: Where it is.
        timeout: Seconds without any answer after which a request failed.
        sleep: Waits between attempts.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout: float | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoint = endpoint
        self.timeout = timeout_of(endpoint) if timeout is None else timeout
        self._sleep = sleep
        handlers: list[urllib.request.BaseHandler] = [SameServer()]
        if urlsplit(endpoint.base).hostname in LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def get(
        self,
        path: str,
        params: Sequence[tuple[str, str]] = (),
        *,
        accept: str = "application/json",
        allowed: Collection[int] = (),
    ) -> Answer:
        """Returns the answer to a GET request.

        Args:
            path: Appended to the endpoint's base.
            params: The query.
            accept: The media type that is wanted.
            allowed: Statuses beside 2xx that are answers too.

        Raises:
            SourceError: There is no such answer.
        """
        return self.request("GET", path, params, {"Accept": accept}, allowed=allowed)

    def request(
        self,
        method: str,
        path: str,
        params: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        *,
        allowed: Collection[int] = (),
    ) -> Answer:
        """Returns the answer to a request; see `get`."""
        query = f"?{urlencode(params)}" if params else ""
        request = urllib.request.Request(  # noqa: S310 - http or https, by `endpoint_of`
            f"{self.endpoint.base}{path}{query}",
            data=body,
            headers={
                "Accept-Encoding": "gzip",
                "User-Agent": "itemtrace",
                **self.endpoint.headers,
                **(headers or {}),
            },
            method=method,
        )
        pauses = iter(PAUSES)
        while True:
            answer, why, wait = self._once(request, path)
            if answer is not None and (answer.status < 300 or answer.status in allowed):
                return answer
            pause = next(pauses, None)
            if wait is None or pause is None:
                raise self._error(path, why)
            self._sleep(min(max(pause, wait), LONGEST_PAUSE))

    def _once(
        self, request: urllib.request.Request, path: str
    ) -> tuple[Answer | None, str, float | None]:
        """Returns an answer, else what went wrong and the least pause before another attempt."""
        try:
            try:
                reply = self._opener.open(request, timeout=self.timeout)
            except urllib.error.HTTPError as refusal:
                reply = refusal
            with reply:
                answer = self._read(reply, path)
        except TROUBLES as error:
            return None, *self._trouble(error)
        wait = asked_pause(reply.headers) if answer.status in BUSY else None
        return answer, self._refusal(answer.status, answer.body), wait

    def _trouble(self, error: Exception) -> tuple[str, float | None]:
        """Returns what an exception says of the server, and whether to ask again."""
        if isinstance(error, Elsewhere):
            return f"it redirects to another server, {error}", None
        reason: object = error
        if isinstance(error, urllib.error.URLError):
            reason = error.reason
        wait = None if is_final(reason) else 0.0
        if isinstance(reason, TimeoutError):
            return f"it did not answer within {self.timeout:g} seconds", wait
        if isinstance(error, http.client.IncompleteRead):
            return f"its answer broke off after {len(error.partial)} bytes", wait
        if isinstance(error, urllib.error.URLError):
            return f"it cannot be reached ({reason})", wait
        return f"the connection broke ({error!r})", wait

    def _read(self, reply: Any, path: str) -> Answer:
        """Returns an answer with its body unpacked."""
        packed = str(reply.headers.get("Content-Encoding", "")).lower() == "gzip"
        unpack = zlib.decompressobj(wbits=31) if packed else None
        body = bytearray()
        try:
            while block := reply.read(BLOCK):
                body += block if unpack is None else unpack.decompress(block, LARGEST)
                if len(body) > LARGEST or (
                    unpack is not None and unpack.unconsumed_tail
                ):
                    why = f"its answer has more than {LARGEST >> 20} MiB"
                    raise self._error(path, why)
        except zlib.error as error:
            why = f"its answer is not the gzip that it says ({error})"
            raise self._error(path, why) from error
        # read(n) gives what came before a broken end without a word; `length` is what is still due
        if getattr(reply, "length", None) or (unpack is not None and not unpack.eof):
            raise http.client.IncompleteRead(bytes(body))
        kind = str(reply.headers.get("Content-Type", "")).partition(";")[0]
        return Answer(reply.status, bytes(body), kind.strip().lower())

    def _refusal(self, status: int, body: bytes) -> str:
        """Returns what a refusing answer means, with the beginning of what it says."""
        name = http.client.responses.get(status, "")
        why = f"it answered {status} {name}".rstrip()
        if status in (401, 403):
            stem = self.endpoint.variable
            return (
                f"{why}; give credentials as user:password@ in the URL, or set "
                f"{stem}_TOKEN or {stem}_HEADERS"
            )
        said = " ".join(body[:1000].decode(errors="replace").split())[:300]
        return f"{why}: {said}" if said else why

    def _error(self, path: str, why: str) -> SourceError:
        url = self.endpoint.url
        return SourceError(
            f"{url} cannot be read: {why} (asked for {path})", source=url
        )


def asked_pause(headers: Any) -> float:
    """Returns the seconds that a busy server asks to wait; 0 if it does not say."""
    try:
        return max(float(headers.get("Retry-After", 0)), 0.0)
    except ValueError:  # a date
        return 0.0


def is_final(reason: object) -> bool:
    """Whether another attempt cannot help: the name is unknown, the certificate is not trusted."""
    import socket  # noqa: PLC0415 - with ssl, only when something failed
    import ssl  # noqa: PLC0415

    return isinstance(reason, socket.gaierror | ssl.SSLCertVerificationError)


def timeout_of(endpoint: Endpoint) -> float:
    """Returns the timeout that a source asks for.

    Raises:
        ConfigError: It is no number of seconds.
    """
    given = endpoint.options.get("timeout")
    try:
        seconds = TIMEOUT if given is None else float(given)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        msg = (
            f"{endpoint.url} has timeout={given}; expected seconds, such as timeout=60"
        )
        raise ConfigError(msg)
    return seconds
