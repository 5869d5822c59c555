"""Records onto spans: last, within the live limits, the rest on continuation spans."""

import pytest
from opentelemetry.sdk.trace import SpanLimits
from opentelemetry.trace import NonRecordingSpan, SpanContext

from itemtrace.capture.writer import Writer
from itemtrace.codec import chunks, record
from itemtrace.errors import CodecError
from itemtrace.limits import PROFILES, Profile
from itemtrace.testing.recorder import SpanRecorder


RUN = "0123456789abcdef"


def records(*sizes):
    """Returns records with bodies of some sizes."""
    return [
        record.make("item", RUN, n, f'"{"x" * size}"') for n, size in enumerate(sizes)
    ]


def written(made, profile, *, limits=None, before=()):
    """Puts records on a span; returns the spans' ledger attributes in order, and all spans."""
    with SpanRecorder(limits=limits) as recorder:
        tracer = recorder.provider.get_tracer("t")
        span = tracer.start_span("work", attributes=dict.fromkeys(before, 1))
        Writer(tracer, profile).put(span, made, {"kept": "yes"})
        span.end()
        spans = sorted(recorder.spans(), key=lambda span: span.context.span_id)
    values = [
        value
        for span in spans
        for key, found in span.attributes.items()
        if key.startswith(profile.key)
        for value in (found if isinstance(found, tuple) else [found])
    ]
    return values, spans


def read(values):
    """Returns the records in attribute values."""
    parsed = [record.parse(value) for value in values]
    seqs = sorted({chunk.seq for chunk in parsed})
    return [chunks.join(c for c in parsed if c.seq == seq) for seq in seqs]


def test_one_span():
    """What fits is on the span itself, numbered from zero, after what was there."""
    made = records(10, 3_000)
    values, (span,) = written(made, PROFILES["portable"], before=["a"])
    assert list(span.attributes) == ["a", *(f"itemtrace.r.{n}" for n in range(3))]
    assert read(values) == made


@pytest.mark.parametrize("count", [4, 12, 128])
@pytest.mark.parametrize("length", [None, 256])
def test_live_limits(count, length):
    """Nothing is evicted or cut, at any limit; continuation spans are children and say whose."""
    limits = SpanLimits(max_span_attributes=count, max_span_attribute_length=length)
    made = records(20_000, 5)
    before = [f"own {n}" for n in range(min(count, 3))]
    values, (span, *more) = written(
        made, PROFILES["portable"], limits=limits, before=before
    )
    assert read(values) == made
    assert all(one.dropped_attributes == 0 for one in (span, *more))
    assert {one.name for one in more} <= {"continuation"}
    assert all(one.parent.span_id == span.context.span_id for one in more)
    assert all(one.attributes["kept"] == "yes" for one in more)


def test_a_span_that_is_full():
    """A span without room is left as it is; everything goes on continuation spans."""
    limits = SpanLimits(max_span_attributes=2)
    values, (span, *_) = written(
        records(5), PROFILES["portable"], limits=limits, before=["a", "b"]
    )
    assert dict(span.attributes) == {"a": 1, "b": 1}
    assert read(values) == records(5)


def test_an_array():
    """All chunks of a span in one string array."""
    made = records(5_000, 7)
    values, (span,) = written(made, PROFILES["tempo-array"])
    assert list(span.attributes) == ["itemtrace.r.0"]
    assert len(span.attributes["itemtrace.r.0"]) == len(values) == 4
    assert read(values) == made


def test_bytes_of_a_span():
    """A span is not filled past its bytes; one value too large for them still has a place."""
    small = Profile("small", span_bytes=2_500)
    values, spans = written(records(*[1_000] * 5), small)
    assert len(spans) == 3
    assert read(values) == records(*[1_000] * 5)
    values, spans = written(
        records(50_000), Profile("one", value_bytes=60_000, span_bytes=10)
    )
    assert (len(values), len(spans)) == (1, 1)


def test_nothing_is_written_for_no_records():
    """No attribute, no continuation."""
    assert written([], PROFILES["portable"])[0] == []


def test_values_too_short():
    """Where no record fits the caller hears of it."""
    limits = SpanLimits(max_span_attribute_length=40)
    with pytest.raises(CodecError, match="leave no room"):
        written(records(100), PROFILES["portable"], limits=limits)


def test_a_span_of_another_sdk():
    """Without the SDK's private limits the documented defaults hold."""
    with SpanRecorder() as recorder:
        writer = Writer(recorder.provider.get_tracer("t"), PROFILES["portable"])
        writer.put(NonRecordingSpan(SpanContext(1, 1, is_remote=False)), records(5), {})
    assert recorder.spans() == ()
