"""What is asked of ClickHouse, and the table that it is asked of.

The table is the one that the Collector's exporter makes, of any release: attributes as maps of
strings or as JSON, scope columns or none. Everything that a user gives is a query parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from itemtrace import semconv
from itemtrace.stores.base import EVERYTHING


if TYPE_CHECKING:
    from collections.abc import Mapping

    from itemtrace.stores.base import Query


COLUMNS: Final = "SELECT name, type FROM system.columns WHERE database = {db:String} AND table = {table:String}"
NEEDED: Final = (
    "Timestamp",
    "TraceId",
    "SpanId",
    "SpanName",
    "SpanAttributes",
    "Duration",
)
"""The columns without which a table is not the exporter's."""

PAGE: Final = 20_000
"""How many traces are listed at a time."""

SECOND: Final = 10**9

TELLING: Final = tuple(
    str(key)
    for key in (
        semconv.ITEMTRACE_RUN_ID,
        semconv.ITEMTRACE_RUN_PARENT,
        semconv.ITEMTRACE_RUN_STARTED_NS,
        semconv.ITEMTRACE_RUN_STATUS,
        semconv.ITEMTRACE_RUN_ITEMS,
        semconv.ITEMTRACE_USAGE_INPUT_TOKENS,
        semconv.ITEMTRACE_USAGE_OUTPUT_TOKENS,
        semconv.GEN_AI_CONVERSATION_ID,
        semconv.GEN_AI_WORKFLOW_NAME,
        semconv.GEN_AI_AGENT_NAME,
        semconv.GEN_AI_TOOL_NAME,
        semconv.GEN_AI_REQUEST_MODEL,
        semconv.GEN_AI_RESPONSE_MODEL,
    )
)
"""The attributes that tell of a run."""

CRITERIA: Final[Mapping[str, tuple[str, ...]]] = {
    "run_id": (str(semconv.ITEMTRACE_RUN_ID),),
    "group": (str(semconv.GEN_AI_CONVERSATION_ID),),
    "agent": (str(semconv.GEN_AI_AGENT_NAME),),
    "tool": (str(semconv.GEN_AI_TOOL_NAME),),
    "model": (str(semconv.GEN_AI_REQUEST_MODEL), str(semconv.GEN_AI_RESPONSE_MODEL)),
    "status": (str(semconv.ITEMTRACE_RUN_STATUS),),
}
"""Fields of a `Query` and the attributes of which one has the asked value somewhere in the trace."""


@dataclass(frozen=True)
class Statement:
    """A query and its parameters."""

    sql: str
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Table:
    """A table of the exporter.

    Attributes:
        database: Its database.
        name: Its name.
        types: Column -> type.
        lookup: Whether the table beside it that knows the times of each trace is there.
    """

    database: str
    name: str
    types: Mapping[str, str]
    lookup: bool

    @property
    def json(self) -> bool:
        """Whether attributes are JSON rather than maps of strings."""
        return self.types["SpanAttributes"].startswith("JSON")

    def attribute(self, key: str) -> str:
        """Returns the SQL of an attribute as text; empty where a span has it not."""
        if self.json:
            path = ".".join(f"`{part}`" for part in key.split("."))
            return f"ifNull(toString(SpanAttributes.{path}), '')"
        return f"SpanAttributes['{key}']"

    def header(self) -> str:
        """Returns the SQL of the beginning of a span's first record chunk; empty without one."""
        if self.json:
            found = "extract(toString(SpanAttributes), ':\"(it1;[a-z]+;[0-9a-f]{16};[^\"]{1,99};)')"
            return f"replaceAll({found}, '\\\\/', '/')"  # ClickHouse escapes slashes
        texts = "arrayFirst(v -> startsWith(v, 'it1;'), mapValues(SpanAttributes))"
        return f"substring({texts}, 1, 120)"

    def column(self, name: str, otherwise: str = "''") -> str:
        """Returns the SQL of a column that old tables lack."""
        return name if name in self.types else otherwise

    def traces(self, query: Query, after: tuple[int, str] | None) -> Statement:
        """Returns what lists traces, newest start first; those after a given one."""
        where, parameters = self.narrowed(query)
        having = ""
        if after is not None:
            having = "HAVING (start, trace_id) < ({start:Int64}, {id:String}) "
            parameters |= {"start": after[0], "id": after[1]}
        return Statement(
            "SELECT TraceId AS trace_id, toUnixTimestamp64Nano(min(Timestamp)) AS start "  # noqa: S608 - names are quoted
            f"FROM {quoted(self.database, self.name)} WHERE {where} GROUP BY trace_id "
            f"{having}ORDER BY start DESC, trace_id DESC LIMIT {PAGE}",
            parameters,
        )

    def runs(self, query: Query) -> Statement:
        """Returns what gives the spans that tell of runs, with what they tell."""
        where, parameters = self.narrowed(query)
        if self.json:
            pairs = ", ".join(f"'{key}', {self.attribute(key)}" for key in TELLING)
            told = f"mapFilter((k, v) -> v != '', map({pairs}))"
        else:
            keys = ", ".join(f"'{key}'" for key in TELLING)
            told = f"mapFilter((k, v) -> k IN ({keys}), SpanAttributes)"
        return Statement(
            "SELECT TraceId AS trace_id, SpanName AS name, "  # noqa: S608 - names are quoted
            "toUnixTimestamp64Nano(Timestamp) AS start, Duration AS duration, "
            f"{self.header()} AS header, {told} AS told "
            f"FROM {quoted(self.database, self.name)} "
            f"WHERE {where} AND (header != '' OR notEmpty(told['{TELLING[0]}']) "
            f"OR notEmpty(told['{semconv.GEN_AI_WORKFLOW_NAME}']))",
            parameters,
        )

    def narrowed(self, query: Query) -> tuple[str, dict[str, Any]]:
        """Returns a condition that all wanted traces fulfil, and few others."""
        conditions, parameters = ["TraceId != ''"], dict[str, Any]()
        if query.trace_ids:
            conditions.append("TraceId IN {trace_ids:Array(String)}")
            parameters["trace_ids"] = list(query.trace_ids)
        for name, keys in CRITERIA.items():
            value = getattr(query, name)
            if value is None or value == "unsealed":
                continue
            found = [f"{self.attribute(key)} = {{{name}:String}}" for key in keys]
            if name == "run_id":
                found.append(
                    f"splitByChar(';', {self.header()})[3] = {{run_id:String}}"
                )
            conditions.append(self.somewhere(" OR ".join(found)))
            parameters[name] = value
        if query.since_ns is not None:
            later = "Timestamp >= fromUnixTimestamp64Nano({since:Int64})"
            conditions.append(self.somewhere(later))
            parameters["since"] = query.since_ns
        return " AND ".join(conditions), parameters

    def somewhere(self, condition: str) -> str:
        """Returns the condition that a span of the trace fulfils another one."""
        table = quoted(self.database, self.name)
        return f"TraceId IN (SELECT TraceId FROM {table} WHERE {condition})"  # noqa: S608 - quoted

    def times(self, trace_id: str) -> Statement:
        """Returns what gives the seconds between which the spans of a trace start."""
        return Statement(
            "SELECT count() AS known, toUnixTimestamp(min(Start)) AS first, "  # noqa: S608 - quoted
            "toUnixTimestamp(max(End)) AS last "
            f"FROM {quoted(self.database, lookup_of(self.name))} WHERE TraceId = {{id:String}}",
            {"id": trace_id},
        )

    def spans(self, trace_id: str, between: tuple[int, int] | None) -> Statement:
        """Returns what gives the spans of a trace, which start in certain seconds if known."""
        parameters: dict[str, Any] = {"id": trace_id}
        bounds = ""
        if between is not None:
            bounds = (  # with a DateTime, `<` prunes wrongly: the key is in whole seconds
                " AND Timestamp >= fromUnixTimestamp64Nano({first:Int64})"
                " AND Timestamp <= fromUnixTimestamp64Nano({last:Int64})"
            )
            parameters |= {
                "first": between[0] * SECOND,
                "last": between[1] * SECOND + SECOND - 1,
            }
        columns = ", ".join(
            f"{sql} AS {name}" for name, sql in self.selection().items()
        )
        return Statement(
            f"SELECT {columns} "  # noqa: S608 - names are quoted
            f"FROM {quoted(self.database, self.name)} WHERE TraceId = {{id:String}}{bounds}",
            parameters,
        )

    def selection(self) -> dict[str, str]:
        """Returns the columns of `spans` and the SQL of each."""
        return {
            "trace_id": "TraceId",
            "span_id": "SpanId",
            "parent_id": self.column("ParentSpanId"),
            "name": "SpanName",
            "kind": self.column("SpanKind"),
            "start": "toUnixTimestamp64Nano(Timestamp)",
            "duration": "Duration",
            "status": self.column("StatusCode"),
            "status_message": self.column("StatusMessage"),
            "attributes": "SpanAttributes",
            "resource": self.column("ResourceAttributes", "map()"),
            "scope": self.column("ScopeName"),
            "scope_version": self.column("ScopeVersion"),
            "event_times": self.nested(
                "Events", "Timestamp", "toUnixTimestamp64Nano(x)"
            ),
            "event_names": self.nested("Events", "Name"),
            "event_attributes": self.nested("Events", "Attributes"),
            "link_traces": self.nested("Links", "TraceId"),
            "link_spans": self.nested("Links", "SpanId"),
            "link_attributes": self.nested("Links", "Attributes"),
        }

    def nested(self, group: str, name: str, changed: str = "x") -> str:
        """Returns the SQL of a column of a nested table, each value `x` changed."""
        column = f"{group}.{name}"
        if column not in self.types:
            return "[]"
        return column if changed == "x" else f"arrayMap(x -> {changed}, {column})"


def about_runs(query: Query) -> bool:
    """Whether runs have to be looked at to select traces."""
    timed = (query.since_ns, query.until_ns) != (
        EVERYTHING.since_ns,
        EVERYTHING.until_ns,
    )
    return query.about_runs or timed


def lookup_of(table: str) -> str:
    """Returns the name of the table beside another that knows the times of traces."""
    return f"{table}_trace_id_ts"


def quoted(*names: str) -> str:
    """Returns an identifier of one or more names."""
    escaped = (name.replace("\\", "\\\\").replace("`", "\\`") for name in names)
    return ".".join(f"`{name}`" for name in escaped)
