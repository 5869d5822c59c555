# pyright: basic, reportMissingTypeStubs=false
"""The connection to ClickHouse: what a URL names, and the lines that a query gives.

    clickhouse://user:password@host:8123/database?table=otel_traces
    clickhouse+https://host/database

User and password may also come from `CLICKHOUSE_USER` and `CLICKHOUSE_PASSWORD`.
"""

from __future__ import annotations

import json
import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from itemtrace.errors import MissingExtra, NotATrace, SourceError
from itemtrace.stores.clickhouse.statements import (
    COLUMNS,
    NEEDED,
    Statement,
    Table,
    lookup_of,
)
from itemtrace.stores.http import Http, endpoint_of


if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


PORT: Final = 8123
SECURE_PORT: Final = 8443
DATABASE: Final = "default"
TABLE: Final = "otel_traces"

SETTINGS: Final = {
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_quote_denormals": 1,
    "output_format_json_named_tuples_as_objects": 1,
}


# What the driver logs comes as an exception too; without a handler it would be printed.
logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())


def driver() -> Any:
    """Returns the module `clickhouse_connect`.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import clickhouse_connect as module
    except ImportError as error:
        package = "clickhouse-connect"
        raise MissingExtra(package, "clickhouse") from error
    return module


def connect(source: str) -> Any:
    """Returns a client of the driver for a URL.

    Raises:
        ConfigError: The URL names no server.
        MissingExtra: The driver is not installed.
        SourceError: The server cannot be reached, or refuses.
    """
    parts = urlsplit(source)
    secure = parts.scheme.endswith("+https")
    endpoint = endpoint_of(source, port=SECURE_PORT if secure else PORT)
    timeout = Http(endpoint).timeout
    module = driver()
    with errors(endpoint.url):
        return module.get_client(
            host=parts.hostname,
            port=parts.port or (SECURE_PORT if secure else PORT),
            username=unquote(parts.username or "") or os.environ.get("CLICKHOUSE_USER"),
            password=unquote(parts.password or "")
            or os.environ.get("CLICKHOUSE_PASSWORD", ""),
            database=unquote(parts.path.strip("/")) or DATABASE,
            secure=secure,
            connect_timeout=timeout,
            send_receive_timeout=timeout,
            autogenerate_session_id=False,  # queries may run side by side
            client_name="itemtrace",
        )


@contextmanager
def errors(url: str) -> Generator[None]:
    """Turns the driver's errors into ours.

    Raises:
        SourceError: The server cannot be reached, or refuses.
    """
    module = driver()
    try:
        yield
    except (module.driver.exceptions.ClickHouseError, OSError) as error:
        said = " ".join(str(error).split())[:300]
        msg = (
            f"{url} cannot be read: {said}; look at host, port, database and table, and give "
            "credentials as user:password@ in the URL or as CLICKHOUSE_USER and CLICKHOUSE_PASSWORD"
        )
        raise SourceError(msg, source=url) from error


def lines(client: Any, url: str, statement: Statement) -> Iterator[dict[str, Any]]:
    """Gives what a query answers, all of it or an error.

    Raises:
        SourceError: The server cannot be reached, or refuses.
    """
    with errors(url):
        answer: bytes = client.raw_query(
            statement.sql,
            parameters=statement.parameters,
            settings={
                **SETTINGS,
                "wait_end_of_query": 1,
            },  # an error never comes half-way
            fmt="JSONEachRow",
        )
    for line in answer.split(b"\n"):
        if line:
            yield json.loads(line.decode(errors="replace"))


def table_of(client: Any, url: str, database: str, name: str) -> Table:
    """Returns the table as it is.

    Raises:
        NotATrace: It is not the exporter's, or is not there.
        SourceError: The server cannot be reached, or refuses.
    """

    def columns(table: str) -> dict[str, str]:
        asked = Statement(COLUMNS, {"db": database, "table": table})
        return {line["name"]: line["type"] for line in lines(client, url, asked)}

    types = columns(name)
    missing = [column for column in NEEDED if column not in types]
    if missing:
        msg = (
            f"{url} has no table {name} of the Collector's ClickHouse exporter in database "
            f"{database}: no {', '.join(missing)}; name it with ?table="
        )
        raise NotATrace(msg, source=url)
    return Table(database, name, types, lookup=bool(columns(lookup_of(name))))
