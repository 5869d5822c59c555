"""The recorders that are compared: what to install for each, and what it leaves out of an export.

How each one is switched on is in `benchmarks.worker.switches`, which runs in that environment.
"""

from __future__ import annotations

from dataclasses import dataclass


BASE = ("openai-agents==0.24.0", "openai==3.57.0", "opentelemetry-sdk==1.45.2")
"""The same ground for everybody."""

ENCODER = "opentelemetry-exporter-otlp-proto-common==1.45.2"
"""Counts OTLP bytes after the clock has stopped."""

CHECKOUT = "--editable=."
"""This repository, as it stands."""


@dataclass(frozen=True)
class Peer:
    """One way to record a run, or not to.

    Attributes:
        name: Short name, on the command line and in tables.
        label: What a reader knows it by.
        requirements: What its environment holds beside the common ground.
        environment: Name of the environment, shared by peers that need the same.
        variables: What its environment variables say beside the machine's.
        note: What a reader has to know to judge its numbers.
    """

    name: str
    label: str
    requirements: tuple[str, ...] = ()
    environment: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    note: str = ""

    @property
    def env(self) -> str:
        """Name of the environment it runs in."""
        return self.environment or self.name


PEERS = {
    peer.name: peer
    for peer in (
        Peer("off", "tracing off", environment="itemtrace", requirements=(CHECKOUT,)),
        Peer(
            "noop",
            "a processor that does nothing",
            environment="itemtrace",
            requirements=(CHECKOUT,),
        ),
        Peer(
            "itemtrace-off",
            'itemtrace, messages="off"',
            environment="itemtrace",
            requirements=(CHECKOUT,),
        ),
        Peer(
            "itemtrace-delta",
            'itemtrace, messages="delta"',
            environment="itemtrace",
            requirements=(CHECKOUT,),
        ),
        Peer(
            "openinference",
            "openinference-instrumentation-openai-agents",
            ("openinference-instrumentation-openai-agents==2.6.0",),
            note="measured on a plain TracerProvider with 128 attributes a span, like everybody; its own class allows 10,000",
        ),
        Peer(
            "traceloop",
            "opentelemetry-instrumentation-openai-agents",
            ("opentelemetry-instrumentation-openai-agents==0.62.4",),
        ),
        Peer(
            "contrib-v2",
            "opentelemetry-instrumentation-openai-agents-v2",
            ("opentelemetry-instrumentation-openai-agents-v2==0.1.0",),
        ),
        Peer(
            "genai",
            "opentelemetry-instrumentation-genai-openai-agents",
            (
                "opentelemetry-instrumentation-genai-openai-agents==1.3b0",
                "opentelemetry-instrumentation-genai-openai==1.3b0",
            ),
            variables=(
                ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY"),
            ),
            note="makes its chat spans in the patched OpenAI client, which a stub model never calls: "
            "here it records agents and tools only",
        ),
        Peer("logfire", "logfire", ("logfire==5.4.0",)),
        Peer(
            "oa-otel",
            "openai-agents-opentelemetry",
            ("openai-agents-opentelemetry==0.4.1",),
        ),
    )
}


OFF = "off"
NOOP = "noop"
OURS = ("itemtrace-off", "itemtrace-delta")
OTHERS = tuple(name for name in PEERS if name not in (OFF, NOOP, *OURS))
RECORDERS = (*OURS, *OTHERS)
