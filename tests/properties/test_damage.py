"""Whatever happens to spans on their way, a ledger is the original one or says what it lacks.

The limit: where everything that mentions a run is gone, nobody can know of it.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itemtrace.limits import Profile
from itemtrace.rebuild import rebuild
from itemtrace.testing.synthetic import RunWriter, ref, rows_of


if TYPE_CHECKING:
    from itemtrace.codec.spans import SpanRow
    from itemtrace.ledger import Ledger


EXAMPLES = 3_000 if os.environ.get("HYPOTHESIS_PROFILE") == "ci" else 300

SLOW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]

TEXT = st.text(max_size=120) | st.sampled_from(
    ["", "it1;", "潮の満ち引き" * 20, "\ud800 alone", '{"$it":"ref"}']
)


# --- runs -------------------------------------------------------------------------


@st.composite
def traces(draw: st.DrawFn) -> list[RunWriter]:
    """Draws the runs of one trace: roots in order, some with nested runs."""
    numbers = iter(range(1, 100))
    written: list[RunWriter] = []
    roots: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        more = {"after": roots[-1]} if roots else {}
        root = write_run(draw, numbers, written, depth=0, **more)
        roots.append(root.run_id)
    trace = RunWriter("00000000000000ff")
    trace.add("trace", id="trace_1", runs=roots)
    return [*written, trace]


def write_run(
    draw: st.DrawFn, numbers: Any, written: list[RunWriter], *, depth: int, **begin: Any
) -> RunWriter:
    """Writes one run with some turns; a turn may call a tool that starts a nested run."""
    run = RunWriter(f"{next(numbers):016x}")
    written.append(run)
    run.add(
        "begin", started=10**18 + int(run.run_id, 16), agent="Desk", input=draw(TEXT),
        trace={"id": "trace_1", "name": "Orders"}, **begin,
    )  # fmt: skip
    items: list[int] = []
    children: list[str] = []
    new: list[Any] = [{"role": "user", "content": draw(TEXT)}]
    known = 0
    for turn in range(draw(st.integers(0, 3))):
        call_id = f"call_{turn}"
        raw: dict[str, Any] = {
            "type": "function_call",
            "call_id": call_id,
            "name": "look",
            "arguments": draw(TEXT),
        }
        if draw(st.booleans()):
            raw["status"] = run.blob(draw(TEXT))
        asked = run.add("item", type="tool_call_item", agent="Desk", call=turn, raw=raw)
        known += len(new)
        run.add(
            "call", n=turn, agent="Desk", start=1, end=2,
            input={"new": new, "list": [[0, known]]},
            response={"id": f"r{turn}", "usage": [1, 2, 3, 5, {}, {}], "output": [asked]},
        )  # fmt: skip
        if depth < 2 and draw(st.integers(0, 3)) == 0:
            parent = {"run": run.run_id, "call": call_id, "n": 0}
            child = write_run(draw, numbers, written, depth=depth + 1, parent=parent)
            children.append(child.run_id)
        output = {
            "type": "function_call_output",
            "call_id": call_id,
            "output": draw(TEXT),
        }
        answered = run.add(
            "item", type="tool_call_output_item", agent="Desk", raw=output
        )
        items += [asked, answered]
        new = [ref(asked), ref(answered)]
    more = {"children": children} if children else {}
    run.add("end", status="completed", items=items, usage=[1, 2, 3, 5, {}, {}], **more)
    run.seal()
    return run


@st.composite
def recorded(draw: st.DrawFn) -> list[SpanRow]:
    """Draws the rows of a trace, cut at random sizes and spread over spans."""
    profile = Profile("test", value_bytes=draw(st.integers(170, 900)))
    per_span = draw(st.integers(1, 6))
    return [
        replace(row, attributes={"itemtrace.item.type": "any", **row.attributes})
        for run in draw(traces())
        for row in rows_of(run.records, profile=profile, per_span=per_span)
    ]


# --- damage -----------------------------------------------------------------------


def drop(draw: st.DrawFn, rows: list[SpanRow], place: int) -> None:
    """A span is lost."""
    del rows[place]


def drop_many(draw: st.DrawFn, rows: list[SpanRow], place: int) -> None:
    """A batch of spans is lost."""
    del rows[place : place + draw(st.integers(2, 12))]


def double(draw: st.DrawFn, rows: list[SpanRow], place: int) -> None:
    """A span is exported twice."""
    rows.insert(draw(st.integers(0, len(rows))), rows[place])


def change(draw: st.DrawFn, rows: list[SpanRow], place: int, new: Any) -> None:
    """One value of a span becomes another one."""
    attributes = dict(rows[place].attributes)
    key = draw(st.sampled_from(sorted(attributes)))
    value = attributes[key]
    if isinstance(value, str):
        attributes[key] = new(value)
    rows[place] = replace(rows[place], attributes=attributes)


def cut(draw: st.DrawFn, rows: list[SpanRow], place: int) -> None:
    """A backend cuts a value, some with a mark of their own."""
    suffix = draw(st.sampled_from(["", "...", "[truncated]"]))
    change(
        draw,
        rows,
        place,
        lambda value: value[: draw(st.integers(0, len(value)))] + suffix,
    )


def alter(draw: st.DrawFn, rows: list[SpanRow], place: int) -> None:
    """A character becomes another one, in the header or the body."""

    def new(value: str) -> str:
        at = draw(st.integers(0, max(len(value) - 1, 0)))
        other = draw(st.sampled_from("0123456789abcdef;/AZé\x00"))
        return value[:at] + other + value[at + 1 :]

    change(draw, rows, place, new)


def alter_twice(draw: st.DrawFn, rows: list[SpanRow], place: int) -> None:
    """A copy of a span comes back altered beside the sound one."""
    rows.append(rows[place])
    alter(draw, rows, len(rows) - 1)


def retype(draw: st.DrawFn, rows: list[SpanRow], place: int) -> None:
    """A value changes its type; some of these types still hold the text."""
    wrap = draw(
        st.sampled_from(
            [
                lambda value: [value],
                lambda value: (value, 1, None),
                lambda value: json.dumps([value]),
                lambda value: json.dumps([value], ensure_ascii=False)[:-3],
                lambda value: {"inner": value},
                lambda _: 7,
                lambda _: None,
                lambda value: value.encode("utf-8", "surrogatepass"),
            ]
        )
    )
    change(draw, rows, place, wrap)


def rename(draw: st.DrawFn, rows: list[SpanRow], place: int) -> None:
    """Keys change, and with them the order of attributes."""
    attributes = {
        f"x.{key}": value for key, value in reversed([*rows[place].attributes.items()])
    }
    rows[place] = replace(
        rows[place], attributes=attributes, span_id="", parent_id="f" * 16
    )


def lose_attribute(draw: st.DrawFn, rows: list[SpanRow], place: int) -> None:
    """An attribute is dropped, as the SDK does past its limit."""
    attributes = dict(rows[place].attributes)
    if attributes:
        del attributes[draw(st.sampled_from(sorted(attributes)))]
    rows[place] = replace(rows[place], attributes=attributes)


DAMAGE = (
    drop,
    drop_many,
    double,
    cut,
    alter,
    alter_twice,
    retype,
    rename,
    lose_attribute,
)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[list[SpanRow], list[SpanRow]]:
    """Draws the rows of a trace, and what is left of them."""
    original = draw(recorded())
    rows = list(original)
    for _ in range(draw(st.integers(0, 4))):
        if rows:
            harm = draw(st.sampled_from(DAMAGE))
            place = draw(st.integers(0, len(rows) - 1))
            if rows[place].attributes:
                harm(draw, rows, place)
    if draw(st.booleans()):
        rows = draw(st.permutations(rows))
    return original, rows


# --- properties -------------------------------------------------------------------


def mentions(rows: list[SpanRow], run_id: str) -> bool:
    """Whether anything in the rows names a run."""
    return any(
        run_id in str(value) for row in rows for value in row.attributes.values()
    )


def all_records(ledger: Ledger) -> set[Any]:
    """Every record of a ledger."""
    return {record for run in ledger.all_runs() for record in run.records}


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
@given(damaged())
def test_damage_is_named_or_does_no_harm(
    case: tuple[list[SpanRow], list[SpanRow]],
) -> None:
    """A ledger of damaged spans is the original one, or it has a gap; it never has other content."""
    original_rows, rows = case
    original, ledger = rebuild(original_rows), rebuild(rows)
    assert original.exact
    assert all_records(ledger) <= all_records(original)
    assert ledger.self_check() == []
    if ledger.exact:
        for run in original.all_runs():
            if run.run_id in ledger.book.runs:
                assert ledger.run(run.run_id).records == run.records
            else:
                assert not mentions(rows, run.run_id)


@settings(max_examples=EXAMPLES // 3, deadline=None, suppress_health_check=SLOW)
@given(recorded(), st.data())
def test_order_and_doubles_change_nothing(
    rows: list[SpanRow], data: st.DataObject
) -> None:
    """Rows in any order, some of them twice, give the same ledger."""
    again = [*rows, *data.draw(st.lists(st.sampled_from(rows), max_size=5))]
    assert rebuild(data.draw(st.permutations(again))) == rebuild(rows)


@settings(max_examples=EXAMPLES // 3, deadline=None, suppress_health_check=SLOW)
@given(recorded(), st.data())
def test_each_lost_span_is_a_gap(rows: list[SpanRow], data: st.DataObject) -> None:
    """Losing any one span of a run gives a gap, unless another span had all of it."""
    place = data.draw(st.integers(0, len(rows) - 1))
    ledger = rebuild([*rows[:place], *rows[place + 1 :]])
    kept = {
        value
        for row in rows[:place] + rows[place + 1 :]
        for value in row.attributes.values()
    }
    lost = [value for value in rows[place].attributes.values() if value not in kept]
    assert ledger.exact == all(value.startswith("it1;trace;") for value in lost)
