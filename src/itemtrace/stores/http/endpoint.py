"""A server as a source names it: `kind://user:password@host:port/prefix?option=value`.

`kind+https://` asks over TLS. Credentials come from the URL (`user:password@`, or `:token@` for a bearer
token) or, for a source of kind `jaeger`, from `ITEMTRACE_JAEGER_TOKEN` and from `ITEMTRACE_JAEGER_HEADERS`
(`name=value,name=value`, as `OTEL_EXPORTER_OTLP_HEADERS`). They are never part of what is printed.
"""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from itemtrace.errors import ConfigError
from itemtrace.stores.base import redact


if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server is, and what to send with each request.

    Attributes:
        url: The source, without credentials.
        base: What request paths are appended to, without credentials.
        kind: The first word of the scheme.
        options: The query of the source.
        headers: Credentials and other headers; not in `repr`.
    """

    url: str
    base: str
    kind: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def variable(self) -> str:
        """The stem of the environment variables for this kind of source."""
        return f"ITEMTRACE_{self.kind.upper()}"


def endpoint_of(
    source: str, *, port: int, environ: Mapping[str, str] | None = None
) -> Endpoint:
    """Returns the endpoint that a source's URL names.

    Args:
        source: The URL.
        port: The port where the URL has none; with `+https` it is 443 then.
        environ: Where credentials may be; the process's environment if not given.

    Raises:
        ConfigError: The URL has no host, or its port is no number.
    """
    shown = redact(source)
    parts = urlsplit(source)
    kind, _, transport = parts.scheme.partition("+")
    secure = transport == "https"
    try:
        number = parts.port or (443 if secure else port)
    except ValueError:
        number = None
    if not parts.hostname or number is None or transport not in ("", "http", "https"):
        msg = f"{shown} names no server; expected {kind}://host:port or {kind}+https://host"
        raise ConfigError(msg)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    prefix = parts.path.rstrip("/")
    return Endpoint(
        url=shown,
        base=f"{'https' if secure else 'http'}://{host}:{number}{prefix}",
        kind=kind,
        options=dict(parse_qsl(parts.query, keep_blank_values=True)),
        headers=headers_of(
            kind, parts, shown, os.environ if environ is None else environ
        ),
    )


def headers_of(
    kind: str, parts: SplitResult, shown: str, environ: Mapping[str, str]
) -> dict[str, str]:
    """Returns the headers from the environment and the URL; the URL wins."""
    stem = f"ITEMTRACE_{kind.upper()}"
    headers: dict[str, str] = {}
    for pair in environ.get(f"{stem}_HEADERS", "").split(","):
        name, equals, value = pair.partition("=")
        if equals:
            headers[unquote(name).strip()] = unquote(value).strip()
        elif name.strip():
            msg = f"{stem}_HEADERS has an entry without '='; expected name=value,name=value"
            raise ConfigError(msg)
    token = environ.get(f"{stem}_TOKEN")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if user:
        pair = base64.b64encode(f"{user}:{password}".encode()).decode()
        headers["Authorization"] = f"Basic {pair}"
    elif password or token:
        headers["Authorization"] = f"Bearer {password or token}"
    if any(not value.isprintable() for value in headers.values()):
        msg = f"a header for {shown} has control characters; look at {stem}_HEADERS and {stem}_TOKEN"
        raise ConfigError(msg)
    return headers
