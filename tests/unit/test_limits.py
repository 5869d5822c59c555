"""Named profiles: each keeps to what its backend takes."""

import pytest

from itemtrace.codec import chunks, record
from itemtrace.limits import PROFILES, Profile, fit


@pytest.mark.parametrize("name", PROFILES)
def test_every_value_fits(name):
    """No attribute value is longer than the profile says, and ASCII profiles are ASCII."""
    profile = PROFILES[name]
    body = '"' + ("x" * 9_000 if profile.ascii else "日" * 3_000) + '"'
    made = record.make("blob", "0123456789abcdef", 0, body)
    values = chunks.split(made, profile)
    assert all(len(value.encode()) <= profile.value_bytes for value in values)
    assert chunks.join(map(record.parse, values)) == made


def test_portable_is_below_what_is_cut():
    """Tempo cuts at 2,048 bytes, OpenTelemetry drops past 128 attributes, gRPC past 4 MiB."""
    portable = PROFILES["portable"]
    assert portable.value_bytes < 2_048
    assert portable.attributes < 128
    assert portable.span_bytes < 4 * 2**20


def test_only_the_value_changes():
    """A live limit changes how long values are, nothing else."""
    profile = Profile("own", value_bytes=900, attributes=3, key="k.", ascii=True)
    assert fit(profile, 500) == Profile(
        "own", value_bytes=500, attributes=3, key="k.", ascii=True
    )
