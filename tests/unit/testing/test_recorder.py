"""The span recorder, its fixed ids and its clock."""

from opentelemetry.sdk.trace import SpanLimits
from opentelemetry.trace import SpanKind

from itemtrace.codec.spans import SpanRow
from itemtrace.testing.recorder import START_NS, FixedIds, SpanRecorder, fixed_clock


def test_spans_become_rows():
    """A span that ended is a row, as a store would give it back."""
    with SpanRecorder(resource={"service.name": "shop"}) as recorded:
        tracer = recorded.provider.get_tracer("shop.orders", "1.2")
        with tracer.start_as_current_span("POST /ask", kind=SpanKind.SERVER):
            inner = tracer.start_span("SELECT", attributes={"rows": 2}, start_time=5)
            inner.end(7)
    select, post = recorded.rows()
    assert select == SpanRow(
        trace_id=f"{1:032x}",
        span_id=f"{2:016x}",
        parent_id=f"{1:016x}",
        name="SELECT",
        kind="INTERNAL",
        start_ns=5,
        end_ns=7,
        attributes={"rows": 2},
        resource={"service.name": "shop"},
        scope="shop.orders",
        scope_version="1.2",
    )
    assert (post.name, post.kind, post.parent_id) == ("POST /ask", "SERVER", "")


def test_spans_by_name():
    """Spans can be asked for by name, and forgotten."""
    with SpanRecorder() as recorded:
        for name in ("a", "b", "a"):
            recorded.provider.get_tracer("t").start_span(name).end()
        assert [span.name for span in recorded.spans()] == ["a", "b", "a"]
        assert len(recorded.spans("a")) == 2
        recorded.clear()
        assert recorded.rows() == []


def test_limits_hold():
    """A recorder may have the span limits that a test is about."""
    with SpanRecorder(limits=SpanLimits(max_span_attributes=1)) as recorded:
        span = recorded.provider.get_tracer("t").start_span("s")
        span.set_attributes({"a": 1, "b": 2})
        span.end()
    (row,) = recorded.rows()
    assert (dict(row.attributes), row.dropped_attributes) == ({"b": 2}, 1)


def test_foreign_spans_give_an_empty_ledger():
    """Spans of others hold no run."""
    with SpanRecorder() as recorded:
        recorded.provider.get_tracer("t").start_span("s").end()
        assert recorded.ledger().runs == ()


def test_fixed_ids_count():
    """Ids count up from where they are told to start."""
    ids = FixedIds(start=41)
    assert [ids.generate_span_id(), ids.generate_span_id()] == [41, 42]
    assert [ids.generate_trace_id(), ids.generate_trace_id()] == [41, 42]


def test_fixed_clock_steps():
    """A fixed clock steps by the same amount at each reading, or stands still."""
    clock, stopped = fixed_clock(), fixed_clock(start_ns=7, step_ns=0)
    assert [clock(), clock()] == [START_NS, START_NS + 1_000_000]
    assert [stopped(), stopped()] == [7, 7]
