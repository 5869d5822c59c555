"""`gen_ai.provider.name`, `server.address` and `server.port` from what a model's span says."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple, cast
from urllib.parse import urlsplit


UNKNOWN: Final = "unknown"
"""Provider of a model that names neither an endpoint nor a prefix."""

HOSTS: Final[dict[str, str]] = {
    "openai.com": "openai",
    "openai.azure.com": "azure.ai.openai",
    "cognitiveservices.azure.com": "azure.ai.openai",
    "services.ai.azure.com": "azure.ai.inference",
    "inference.ai.azure.com": "azure.ai.inference",
    "anthropic.com": "anthropic",
    "amazonaws.com": "aws.bedrock",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "aiplatform.googleapis.com": "gcp.vertex_ai",
    "cohere.com": "cohere",
    "cohere.ai": "cohere",
    "deepseek.com": "deepseek",
    "groq.com": "groq",
    "cloud.ibm.com": "ibm.watsonx.ai",
    "mistral.ai": "mistral_ai",
    "moonshot.ai": "moonshot_ai",
    "moonshot.cn": "moonshot_ai",
    "perplexity.ai": "perplexity",
    "x.ai": "x_ai",
}
"""End of a host's name -> the conventions' name of the provider."""

PREFIXES: Final[dict[str, str]] = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "cohere_chat": "cohere",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex_ai": "gcp.vertex_ai",
    "vertexai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""LiteLLM or any-llm prefix -> the conventions' name, where the two differ."""


class Endpoint(NamedTuple):
    """Who serves a model, and where."""

    provider: str
    address: str | None
    port: int | None


@lru_cache(maxsize=256)
def endpoint(base_url: str, prefix: str, default: str) -> Endpoint:
    """Returns provider and server of a model.

    Args:
        base_url: The endpoint's URL, or an empty string.
        prefix: The model's LiteLLM or any-llm prefix, or an empty string.
        default: The provider when neither says more.
    """
    address, port = _server(base_url)
    if prefix:
        return Endpoint(PREFIXES.get(prefix, prefix), address, port)
    return Endpoint(_of_host(address) if address else default, address, port)


def prefix_of(model: str | None, config: object) -> str:
    """Returns the prefix of a model that LiteLLM or any-llm serves, else an empty string."""
    if not isinstance(config, dict) or "model_impl" not in config:
        return ""
    provider = cast("dict[str, Any]", config).get("provider")
    if isinstance(provider, str) and provider:
        return provider
    head, slash, _ = (model or "").partition("/")
    return head if slash else ""


def _of_host(host: str) -> str:
    labels = host.split(".")
    for start in range(len(labels)):
        known = HOSTS.get(".".join(labels[start:]))
        if known:
            return known
    return host


def _server(base_url: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None, None
    if not host:
        return None, None
    return host, port or {"http": 80, "https": 443}.get(parts.scheme)
