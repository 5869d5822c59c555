"""What every store has to pass, as a pytest mix-in. Needs pytest.

    class TestMyStore(StoreContract):
        @pytest.fixture
        def source(self, tmp_path):
            return tmp_path / "traces.mine"

`source` is a place that is empty or does not exist yet. A store of another kind than a file
overrides `open`; one that cannot be written overrides `fill`, which puts rows there by other means,
and one that changes values overrides `kept`, which says how.
What a store declares in its `capabilities` decides which tests apply.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from itemtrace import semconv
from itemtrace.codec.spans import SpanRow
from itemtrace.errors import ConfigError
from itemtrace.stores import Capabilities, Query, RunSummary, Store, open_store
from itemtrace.stores.base import EVERYTHING, plain_row


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


SECOND: Final = 1_000_000_000
START: Final = 1_790_000_000 * SECOND


def row(trace: int, span: int, name: str = "step", **fields: Any) -> SpanRow:
    """Returns a row: of trace and span by number, one second long, a second apart."""
    start = START + (trace * 100 + span) * SECOND
    made = SpanRow(
        trace_id=f"{trace:032x}",
        span_id=f"{trace:08x}{span:08x}",
        name=name,
        start_ns=start,
        end_ns=start + SECOND,
    )
    return replace(made, **fields)


def run_rows(number: int, *, end: bool = True, **more: str) -> list[SpanRow]:
    """Returns the spans of a recorded run in a trace of its own, as capture makes them.

    Args:
        number: The number of the trace and of the run.
        end: Whether the run got to its end.
        more: `group`, `agent`, `tool`, `model`, `status`, `parent` where they are to differ.
    """
    said = {
        "group": f"group-{number}",
        "agent": f"Agent {number}",
        "tool": f"tool_{number}",
        "model": f"model-{number}",
        "status": "completed",
        **more,
    }
    run: dict[str, Any] = {
        semconv.ITEMTRACE_RUN_ID: f"{number:016x}",
        semconv.GEN_AI_CONVERSATION_ID: said["group"],
    }
    if "parent" in said:
        run[semconv.ITEMTRACE_RUN_PARENT] = said["parent"]
    agent = {semconv.GEN_AI_AGENT_NAME: said["agent"]}
    rows = [
        row(number, 1, "run_start", attributes={**run, **agent}),
        row(
            number,
            2,
            f"chat {said['model']}",
            kind="CLIENT",
            attributes={**run, **agent, semconv.GEN_AI_REQUEST_MODEL: said["model"]},
        ),
        row(
            number,
            3,
            f"execute_tool {said['tool']}",
            attributes={**run, **agent, semconv.GEN_AI_TOOL_NAME: said["tool"]},
        ),
        row(
            number,
            4,
            "run_end",
            attributes={
                **run,
                semconv.ITEMTRACE_RUN_STATUS: said["status"],
                semconv.ITEMTRACE_RUN_ITEMS: 3,
                semconv.ITEMTRACE_USAGE_INPUT_TOKENS: 100 + number,
                semconv.ITEMTRACE_USAGE_OUTPUT_TOKENS: 10 + number,
            },
        ),
    ]
    return rows if end else rows[:-1]


def run_summary(number: int) -> RunSummary:
    """Returns what a store has to say of `run_rows(number)`."""
    return RunSummary(
        run_id=f"{number:016x}",
        trace_id=f"{number:032x}",
        group=f"group-{number}",
        agent=f"Agent {number}",
        agents=(f"Agent {number}",),
        tools=(f"tool_{number}",),
        models=(f"model-{number}",),
        status="completed",
        started_ns=START + (number * 100 + 1) * SECOND,
        ended_ns=START + (number * 100 + 5) * SECOND,
        items=3,
        input_tokens=100 + number,
        output_tokens=10 + number,
    )


def by_span(rows: Iterable[SpanRow]) -> list[SpanRow]:
    """Returns rows in an order of their own, since a store may give them in any."""
    return sorted((plain_row(row) for row in rows), key=repr)


class StoreContract:
    """The tests; see the module."""

    def open(self, source: Any) -> Store:
        """Opens the store to read."""
        return open_store(source)

    def fill(self, source: Any, rows: Iterable[SpanRow]) -> None:
        """Puts rows into the store."""
        with open_store(source, write=True) as store:
            store.write(rows)

    def kept(self, row: SpanRow) -> SpanRow:
        """Returns what the store makes of a row."""
        return row

    def as_kept(self, rows: Iterable[SpanRow]) -> list[SpanRow]:
        """Returns what the store makes of rows, in the order of `by_span`."""
        return by_span(map(self.kept, rows))

    def abilities(self, source: Any) -> Capabilities:
        """Returns what the store can do, of its writer where it has one."""
        with self.open(source) as store:
            abilities = store.capabilities
        if not abilities.write:
            return abilities
        with open_store(source, write=True) as writer:
            return writer.capabilities

    def stored(
        self, source: Any, query: Query = EVERYTHING
    ) -> dict[str, list[SpanRow]]:
        """Returns the rows that the store gives, by trace."""
        with self.open(source) as store:
            self.refuses(store.traces, store.capabilities, query)
            return {trace: by_span(rows) for trace, rows in store.traces(query)}

    def listed(self, source: Any, query: Query = EVERYTHING) -> list[RunSummary]:
        """Returns the runs that the store lists."""
        with self.open(source) as store:
            if not store.capabilities.list_runs:
                pytest.skip("the store does not list runs")
            self.refuses(store.runs, store.capabilities, query)
            return list(store.runs(query))

    def refuses(
        self, ask: Callable[[Query], Iterable[object]], can: Capabilities, query: Query
    ) -> None:
        """Skips the test where the store refuses a query, as it must what it cannot apply."""
        try:
            can.check(query, "the store")
        except ConfigError as refusal:
            with pytest.raises(ConfigError):
                list(ask(query))
            pytest.skip(str(refusal))

    # --- rows ---

    def test_what_was_written_is_read(self, source: Any) -> None:
        """Every field of a row comes back, after the store was closed and opened again."""
        full = row(
            1,
            2,
            "everything",
            parent_id=f"{1:08x}{1:08x}",
            kind="CLIENT",
            status="ERROR",
            status_message="it broke",
            attributes={"text": "value", "yes": True, "number": 7, "many": ["a", "b"]},
            events=({"name": "e", "time_ns": START, "attributes": {"k": "v"}},),
            links=({"trace_id": "a" * 32, "span_id": "b" * 16, "attributes": {}},),
            resource={"service.name": "desk"},
            scope="itemtrace",
            scope_version="1.2",
            dropped_attributes=3,
        )
        plain = row(1, 1, resource={"service.name": "desk"}, scope="itemtrace")
        self.fill(source, [full, plain])
        assert self.stored(source) == {full.trace_id: self.as_kept([full, plain])}

    def test_traces_are_apart(self, source: Any) -> None:
        """Rows that interleave come back trace by trace, the newest first."""
        rows = [row(trace, span) for span in range(1, 4) for trace in (1, 2, 3)]
        self.fill(source, rows)
        found = self.stored(source)
        assert list(found) == [f"{trace:032x}" for trace in (3, 2, 1)]
        assert found == {
            trace_id: self.as_kept(r for r in rows if r.trace_id == trace_id)
            for trace_id in found
        }

    def test_one_trace_by_its_id(self, source: Any) -> None:
        """A trace is found by its id, and nothing else comes with it."""
        self.fill(source, [row(1, 1), row(2, 1), row(2, 2)])
        wanted = f"{2:032x}"
        assert self.stored(source, Query(trace_ids=(wanted,))) == {
            wanted: self.as_kept([row(2, 1), row(2, 2)])
        }

    def test_an_unknown_id_gives_nothing(self, source: Any) -> None:
        """An id that is not there is no error of the store."""
        self.fill(source, [row(1, 1)])
        assert self.stored(source, Query(trace_ids=("f" * 32,))) == {}

    def test_doubles_do_no_harm(self, source: Any) -> None:
        """A span that arrives twice is kept once or twice, and changes no summary."""
        rows = run_rows(1)
        self.fill(source, rows)
        self.fill(source, rows)
        (found,) = self.stored(source).values()
        assert {repr(r) for r in found} == {repr(r) for r in self.as_kept(rows)}
        assert self.listed(source) == [run_summary(1)]

    def test_a_trace_grows(self, source: Any) -> None:
        """Rows of a trace that come later belong to it."""
        self.fill(source, [row(1, 1), row(2, 1)])
        self.fill(source, [row(1, 2)])
        assert self.stored(source)[f"{1:032x}"] == self.as_kept([row(1, 1), row(1, 2)])

    def test_a_needle_among_other_services(self, source: Any) -> None:
        """A trace of a hundred services keeps all its spans and lists its one run."""
        others = [
            replace(row(1, span), resource={"service.name": f"service-{span}"})
            for span in range(100, 200)
        ]
        self.fill(source, [*others[:50], *run_rows(1), *others[50:]])
        assert self.stored(source) == {
            f"{1:032x}": self.as_kept([*others, *run_rows(1)])
        }
        assert [run.run_id for run in self.listed(source)] == [f"{1:016x}"]

    # --- values ---

    def test_a_huge_value(self, source: Any) -> None:
        """A value of 5 MB is not cut."""
        huge = row(1, 1, attributes={"huge": "0123456789" * 500_000})
        self.fill(source, [huge])
        assert self.stored(source) == {huge.trace_id: self.as_kept([huge])}

    def test_text_of_any_script(self, source: Any) -> None:
        """Text outside ASCII comes back: names, keys, values, control characters."""
        text = '日本語 \u2028 😀 \x01\x7f \ufeff \\ud800 "quoted" it1;item;$it'
        odd = row(1, 1, text, attributes={text: text, "$it": "$it"})
        self.fill(source, [odd])
        assert self.stored(source) == {odd.trace_id: self.as_kept([odd])}

    def test_lone_surrogates(self, source: Any) -> None:
        """A lone surrogate comes back where the store says so, and never stops a write."""
        torn = row(1, 1, "torn \ud83d", attributes={"k\udc00": ["\ud800 x"]})
        self.fill(source, [torn, row(1, 2)])
        found = self.stored(source)[torn.trace_id]
        if self.abilities(source).surrogates:
            assert found == self.as_kept([torn, row(1, 2)])
        else:
            assert len(found) == 2

    def test_odd_values(self, source: Any) -> None:
        """Types, nesting and order of keys survive where the store says so."""
        values: dict[str, Any] = {
            "int": 1,
            "float": 1.0,
            "minus": -0.0,
            "nan": float("nan"),
            "infinite": float("-inf"),
            "large": 2**63 - 1,
            "empty": "",
            "none": None,
            "bytes": b"\x00\xff",
            "nested": {"b": [1, "x", None, {"c": True}], "a": {}},
            "list": [],
        }
        odd = row(1, 1, attributes=values)
        self.fill(source, [odd])
        if not self.abilities(source).exact:
            pytest.skip("the store does not keep types")
        ((found,),) = self.stored(source).values()
        assert repr(found) == repr(plain_row(odd))

    # --- runs ---

    def test_runs_newest_first(self, source: Any) -> None:
        """Runs are listed whole, the one that started last first; other spans are no runs."""
        for number in (2, 3, 1):
            self.fill(source, run_rows(number))
        self.fill(source, [row(9, 1)])
        assert self.listed(source) == [run_summary(number) for number in (3, 2, 1)]

    def test_limit(self, source: Any) -> None:
        """A limit gives the newest, of runs and of traces."""
        self.fill(source, [r for number in (1, 2, 3) for r in run_rows(number)])
        assert self.listed(source, Query(limit=2)) == [run_summary(3), run_summary(2)]
        assert list(self.stored(source, Query(limit=1))) == [f"{3:032x}"]

    def test_a_run_that_never_ended(self, source: Any) -> None:
        """A run without an end is unsealed, and what is not known of it is None."""
        self.fill(source, run_rows(1, end=False))
        assert self.listed(source) == [
            replace(
                run_summary(1),
                status="unsealed",
                ended_ns=START + 104 * SECOND,
                items=None,
                input_tokens=None,
                output_tokens=None,
            )
        ]

    def test_a_run_in_pieces(self, source: Any) -> None:
        """A run whose spans arrive one by one, the end first, is listed as if at once."""
        for piece in reversed(run_rows(1)):
            self.fill(source, [piece])
        assert self.listed(source) == [run_summary(1)]

    def test_a_nested_run(self, source: Any) -> None:
        """A nested run names its parent."""
        self.fill(source, run_rows(2, parent=f"{1:016x}"))
        assert self.listed(source) == [
            replace(run_summary(2), parent=f"{1:016x}", nested=True)
        ]

    @pytest.mark.parametrize("first", [True, False])
    def test_a_named_workflow(self, source: Any, *, first: bool) -> None:
        """The name on a trace's root span is that of its runs, whenever it arrives."""
        root = row(1, 8, attributes={semconv.GEN_AI_WORKFLOW_NAME: "Order desk"})
        for rows in ([root], run_rows(1)) if first else (run_rows(1), [root]):
            self.fill(source, rows)
        assert self.listed(source) == [replace(run_summary(1), workflow="Order desk")]

    @pytest.mark.parametrize(
        ("query", "numbers"),
        [
            ({"run_id": f"{2:016x}"}, [2]),
            ({"trace_ids": (f"{1:032x}", f"{3:032x}")}, [3, 1]),
            ({"group": "group-1"}, [1]),
            ({"agent": "Agent 3"}, [3]),
            ({"tool": "tool_1"}, [1]),
            ({"model": "model-2"}, [2]),
            ({"status": "completed"}, [3, 2, 1]),
            ({"status": "failed"}, []),
            ({"since_ns": START + 201 * SECOND}, [3, 2]),
            ({"until_ns": START + 201 * SECOND}, [1]),
            ({"tool": "tool_1", "agent": "Agent 2"}, []),
        ],
    )
    def test_filters(
        self, source: Any, query: dict[str, Any], numbers: Sequence[int]
    ) -> None:
        """Each criterion selects its runs, and the traces that hold them."""
        self.fill(source, [r for number in (1, 2, 3) for r in run_rows(number)])
        self.fill(source, [row(4, 1)])
        assert self.listed(source, Query(**query)) == [run_summary(n) for n in numbers]
        about_others = set(query) <= {"since_ns"}
        assert list(self.stored(source, Query(**query))) == [
            f"{n:032x}" for n in ([4] if about_others else []) + list(numbers)
        ]

    # --- the store itself ---

    def test_close_twice(self, source: Any) -> None:
        """Closing again does nothing."""
        self.fill(source, [row(1, 1)])
        store = self.open(source)
        store.close()
        store.close()

    def test_new_rows_are_seen(self, source: Any) -> None:
        """A store that stays open sees what is written meanwhile."""
        self.fill(source, [row(1, 1)])
        with self.open(source) as store:
            first = [trace for trace, _ in store.traces()]
            self.fill(source, [row(2, 1)])
            assert first == [f"{1:032x}"]
            assert [trace for trace, _ in store.traces()] == [f"{2:032x}", *first]

    def test_nothing_is_a_problem(self, source: Any) -> None:
        """A whole store has no problems to report, and names itself."""
        self.fill(source, run_rows(1))
        with self.open(source) as store:
            for _, rows in store.traces():
                list(rows)
            assert store.problems == []
            assert str(source) in store.url

    def test_writers_at_once(self, source: Any) -> None:
        """Several writers lose nothing, where the store allows them."""
        self.fill(source, [row(1, 1)])
        if not self.abilities(source).concurrent_writers:
            pytest.skip("the store has one writer")

        def write(trace: int) -> None:
            for span in range(20):
                self.fill(source, [row(trace, span)])

        with ThreadPoolExecutor() as pool:
            list(pool.map(write, (2, 3, 4)))
        found = {trace: len(rows) for trace, rows in self.stored(source).items()}
        assert found == {f"{n:032x}": 20 if n > 1 else 1 for n in (4, 3, 2, 1)}
