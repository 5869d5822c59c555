"""Who serves a model, from its endpoint or prefix."""

import pytest

from itemtrace.capture.spans.provider import Endpoint, endpoint, prefix_of


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.openai.com/v1/", Endpoint("openai", "api.openai.com", 443)),
        (
            "https://me.openai.azure.com/",
            Endpoint("azure.ai.openai", "me.openai.azure.com", 443),
        ),
        ("https://api.x.ai/v1", Endpoint("x_ai", "api.x.ai", 443)),
        ("http://localhost:11434/v1", Endpoint("localhost", "localhost", 11434)),
        ("http://llm.example/v1", Endpoint("llm.example", "llm.example", 80)),
        ("ws://llm.example/v1", Endpoint("llm.example", "llm.example", None)),
        ("", Endpoint("openai", None, None)),
        ("/v1", Endpoint("openai", None, None)),
        ("http://host:notaport/", Endpoint("openai", None, None)),
    ],
)
def test_provider_of_an_endpoint(url, expected):
    """A known host has its registered name, another is its own name, none is the default."""
    assert endpoint(url, "", "openai") == expected


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [("gemini", "gcp.gemini"), ("anthropic", "anthropic"), ("acme", "acme")],
)
def test_provider_of_a_prefix(prefix, expected):
    """A prefix goes before the host, under its registered name where it has one."""
    assert endpoint("http://proxy:1", prefix, "openai") == Endpoint(
        expected, "proxy", 1
    )


@pytest.mark.parametrize(
    ("model", "config", "expected"),
    [
        ("anthropic/claude", {"model_impl": "litellm"}, "anthropic"),
        ("claude", {"model_impl": "litellm"}, ""),
        (None, {"model_impl": "litellm"}, ""),
        ("claude", {"model_impl": "any-llm", "provider": "anthropic"}, "anthropic"),
        ("openai/gpt-oss", {"base_url": "http://localhost"}, ""),
        ("openai/gpt-oss", None, ""),
    ],
)
def test_prefix_only_where_a_router_serves(model, config, expected):
    """A slash in a model's name is a prefix only for LiteLLM and any-llm."""
    assert prefix_of(model, config) == expected
