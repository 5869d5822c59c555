"""Each backend's rules, on one span that has a value of every kind."""

import math

import pytest

from itemtrace.codec.spans import SpanRow
from itemtrace.rebuild import rebuild
from itemtrace.testing.degrade import DEGRADERS, MODULES, degrade
from itemtrace.testing.degrade.outcome import Outcome, judge, outcome
from itemtrace.testing.synthetic import RunWriter, rows_of


VALUES = {
    "s": "text",
    "json": "[1]",
    "i": 2**53 + 1,
    "f": 1.0,
    "yes": True,
    "none": None,
    "list": ["a", "b"],
    "mixed": ["a", 1],
    "map": {"z": 1, "a": "x"},
    "a..b": 1,
}
ROW = SpanRow(
    "0" * 31 + "1",
    "0" * 15 + "1",
    kind="CLIENT",
    start_ns=1_796_024_138_759_076_641,
    end_ns=1_796_024_138_759_076_999,
    attributes=VALUES,
    events=({"name": "b", "time_ns": 1_999, "attributes": {"n": 1}}, {"name": "a", "time_ns": 2_001, "attributes": {}}),
    links=({"trace_id": "2" * 32, "span_id": "3" * 16, "attributes": {"n": 1}},),
    resource={"service.name": "desk"},
    scope="itemtrace",
)  # fmt: skip


def after(name, **fields):
    """What a backend gives back of the span, or of one with other attributes."""
    row = SpanRow(**{**{f: getattr(ROW, f) for f in ROW.__slots__}, **fields})
    [found] = degrade(name, [row])
    return found


EXPECTED = {
    "tempo": VALUES,
    "jaeger_es": {
        "a..b": 1, "f": 1.0, "i": 2**53 + 1, "json": "[1]", "list": '["a","b"]', "map": '{"a":"x","z":1}',
        "mixed": '["a",1]', "none": "", "s": "text", "yes": True,
    },
    "clickhouse_map": {
        "s": "text", "json": "[1]", "i": "9007199254740993", "f": "1", "yes": "true", "none": "",
        "list": '["a","b"]', "mixed": '["a",1]', "map": '{"a":"x","z":1}', "a..b": "1",
    },
    "signoz": {
        "s": "text", "json": "[1]", "i": float(2**53), "f": 1.0, "yes": True, "none": "", "list": '["a","b"]',
        "mixed": '["a",1]', "map.z": 1.0, "map.a": "x", "a..b": 1.0,
    },
    "phoenix": {
        "a.b": 1, "f": 1.0, "i": 2**53 + 1, "json": "[1]", "list": ["a", "b"], "map.a": "x", "map.z": 1,
        "mixed": ["a", 1], "s": "text", "yes": True,
    },
    "mlflow": {**VALUES, "json": [1]},
    "datadog": {
        "service.name": "desk", "s": "text", "json": "[1]", "i": float(2**53), "f": 1.0, "yes": "true", "none": "",
        "list": '["a","b"]', "mixed": '["a",1]', "map": '{"a":"x","z":1}', "a..b": 1.0,
        "events": '[{"attributes":{"n":1},"name":"b","time_ns":1999},{"attributes":{},"name":"a","time_ns":2001}]',
        "_dd.span_links": '[{"attributes":{"n":1},"span_id":"3333333333333333","trace_id":"22222222222222222222222222222222"}]',
    },
    "honeycomb": {
        **VALUES, "none": "", "list": '["a","b"]', "mixed": '["a",1]', "map": '{"a":"x","z":1}',
    },
    "elastic_apm": {
        "s": "text", "json": "[1]", "i": 2**53 + 1, "f": 1.0, "yes": "true", "list": ["a", "b"], "mixed": ["a"],
        "a__b": 1,
    },
    "azure": {
        "s": "text", "json": "[1]", "i": "9007199254740993", "f": "1.0", "yes": "True", "list": "['a', 'b']",
        "mixed": "['a', 1]", "map": "{'z': 1, 'a': 'x'}", "a..b": "1",
    },
    "new_relic": VALUES,
    "google_cloud": VALUES,
    "xray": VALUES,
    "langfuse": {},
    "zipkin": {
        "service.name": "desk", "s": "text", "json": "[1]", "i": "9007199254740993", "f": "1", "yes": "true",
        "none": "", "list": '["a","b"]', "mixed": '["a",1]', "map": '{"a":"x","z":1}', "a..b": "1",
        "otel.scope.name": "itemtrace",
        "otlp.link.0": "2" * 32 + "|" + "3" * 16 + '||{"n":1}|0',
    },
    "dash0": VALUES,
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_values(name):
    """Attributes come back as the backend's rules say, in its order."""
    found = after(name).attributes
    assert list(found.items()) == list(EXPECTED[name].items())


def test_every_backend_is_tested():
    """Each degrader but those of the way there has its line above."""
    assert set(DEGRADERS) - set(EXPECTED) == {"duplicates", "reorder", "late"}


def test_every_module_registers():
    """Every degrader comes from a module of the package, with a source and limits."""
    names = {module.__name__ for module in MODULES}
    assert {found.function.__module__ for found in DEGRADERS.values()} == names
    assert all(found.sources and found.limits for found in DEGRADERS.values())


CUTS = {
    "tempo": "é" * 1_024,
    "datadog": "é" * 12_500 + "...",
    "honeycomb": "é" * 32_767 + "\ufffd",
    "elastic_apm": "é" * 1_024,
    "azure": "é" * 8_192,
    "new_relic": "é" * 4_095,
    "google_cloud": "é" * 32_768,
    "dash0": "é" * 2_048,
}


@pytest.mark.parametrize("name", CUTS)
def test_long_text_is_cut(name):
    """Each cuts in its unit and with its mark."""
    assert after(name, attributes={"s": "é" * 40_000}).attributes["s"] == CUTS[name]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("azure", {"gen_ai.input.messages": "x" * 9_000}, {"gen_ai.input.messages": "x" * 9_000}),
        ("azure", {"k" * 151: 1}, {}),
        ("new_relic", {"list": ["x"] * 65, "k" * 256: 1}, {"list": ["x"] * 64}),
        ("datadog", {"k" * 201: "v"}, {"service.name": "desk", "k" * 200 + "...": "v"}),
        ("dash0", {f"k{n}": n for n in range(40)}, {f"k{n}": n for n in range(32)}),
        ("google_cloud", {f"k{n}": n for n in range(1_030)}, {f"k{n}": n for n in range(1_024)}),
        ("langfuse", {"gen_ai.x": 1, "itemtrace.r.0": "gone"}, {"gen_ai.x": 1}),
        ("signoz", {"n": math.nan, "list": [math.nan]}, {"list": ""}),
        ("phoenix", {"n": math.nan, " a . b ": 1, "e": {}}, {"a.b": 1}),
        ("clickhouse_map", {"a": math.nan, "b": math.inf, "c": -math.inf, "d": b"\x01", "e": 0.5, "f": False},
         {"a": "NaN", "b": "+Inf", "c": "-Inf", "d": "AQ==", "e": "0.5", "f": "false"}),
        ("clickhouse_map", {"n": {"b": b"\x01"}}, {"n": '{"b":"AQ=="}'}),
        ("mlflow", {"b": b"\x01"}, {"b": "b'\\x01'"}),
        ("jaeger_es", {"b": b"\x01"}, {"b": "01"}),
        ("elastic_apm", {"b": b"\x01", "e": []}, {"e": []}),
    ],
)  # fmt: skip
def test_edges(name, value, expected):
    """Keys, counts, NaN and bytes go as each backend has it."""
    found = dict(after(name, attributes=value, events=(), links=()).attributes)
    assert found == expected


def test_phoenix_loses_a_span_with_bytes():
    """Bytes anywhere lose the whole span; times come back as float seconds."""
    bad = SpanRow("0" * 31 + "1", "0" * 15 + "2", attributes={"n": {"b": b"\x01"}})
    [kept] = degrade("phoenix", [ROW, bad])
    assert (kept.start_ns, kept.kind, kept.links) == (
        1796024138759076000,
        "INTERNAL",
        (),
    )


def test_jaeger_sorts_and_drops_doubles():
    """Events come by name, times in microseconds, and a double is one span."""
    [kept] = degrade("jaeger_es", [ROW, ROW])
    assert [(event["name"], event["time_ns"]) for event in kept.events] == [
        ("a", 2_000),
        ("b", 1_000),
    ]
    assert kept.start_ns == 1_796_024_138_759_076_000


def test_sizes():
    """Spans and traces past a size are refused or dropped; others of the trace stay."""
    big = SpanRow("0" * 31 + "1", "0" * 15 + "2", attributes={"s": "x" * 70_000})
    assert degrade("xray", [big, ROW]) == [ROW]
    part = [
        SpanRow("0" * 32, f"{n:016x}", attributes={"s": "x" * 60_000}) for n in range(9)
    ]
    assert degrade("xray", part) == part[:8]
    huge = SpanRow("0" * 32, "0" * 16, attributes={"s": "x" * 1_000_000})
    assert degrade("honeycomb", [huge]) == []
    many = [SpanRow("0" * 32, f"{n:016x}") for n in range(2_001)]
    assert degrade("dash0", many) == many[:2_000]


def written():
    """Rows of one run."""
    run = RunWriter("00000000000000a1")
    run.add("begin", started=1, agent="Desk", input="Hello")
    run.add("end", status="completed", items=[])
    run.seal()
    return rows_of(run.records, per_span=1)


def test_an_outcome_tells_exact_from_gaps():
    """Doubled spans are exact; late ones leave a run unsealed."""
    assert str(outcome("duplicates", written())) == "exact"
    late = outcome("late", written())
    assert late == Outcome(exact=False, gaps=("unsealed",), wrong=())
    assert str(late) == "gaps: unsealed"


def test_an_outcome_names_what_is_wrong():
    """Runs that are gone, cut short or made up without a gap are wrong."""
    rows = written()
    whole, none = rebuild(rows), rebuild([])
    assert judge(whole, none, rows).wrong == (
        "run 00000000000000a1 is gone, and no gap says so",
    )
    assert judge(whole, none, []) == Outcome(exact=False, gaps=(), wrong=())
    assert judge(none, whole, rows).wrong == (
        "run 00000000000000a1 has records that were never written",
    )
    shorter = rebuild(rows)
    shorter.runs[0].records = shorter.runs[0].records[:1]
    assert judge(whole, shorter, rows).wrong == (
        "run 00000000000000a1 lacks records, and no gap says so",
    )
