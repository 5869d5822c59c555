"""What all tests share: hypothesis profiles, the SDK without its uploader, a recording."""

import os
import sys
from typing import Any

import pytest
from agents import set_trace_processors
from agents.tracing import get_trace_provider
from hypothesis import settings

import itemtrace
from itemtrace.capture.guard import HEALTH
from itemtrace.testing.recorder import SpanRecorder


settings.register_profile("dev", deadline=None)
settings.register_profile(
    "ci", deadline=None, max_examples=500, derandomize=True, print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session", autouse=True)
def no_uploader():
    """Takes the SDK's own exporter out: no test may reach it."""
    set_trace_processors([])


@pytest.fixture(scope="module", autouse=True)
def fresh_brokers():
    """Gives each module Kafka brokers of its own: older ones were seen to take no more messages."""
    kafka = sys.modules.get("itemtrace.testing.kafka")
    if kafka is not None:
        kafka.cluster.cache_clear()


@pytest.fixture
def sdk_processors():
    """Starts a test without trace processors, and leaves none of it behind."""
    provider: Any = get_trace_provider()
    before = list(provider._multi_processor._processors)  # no public way to read them
    set_trace_processors([])
    yield
    set_trace_processors(before)


@pytest.fixture
def recorded(sdk_processors):
    """itemtrace, installed on an in-memory provider of its own and taken out afterwards."""
    HEALTH.reset()
    with SpanRecorder() as recorder:
        itemtrace.install(tracer_provider=recorder.provider)
        yield recorder
        itemtrace.uninstall()
