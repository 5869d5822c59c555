"""What tokens cost, by a table that the user supplies: nothing here knows a price.

    {"currency": "EUR", "per_tokens": 1000000, "as_of": "2026-11-01",
     "models": {"desk-large": {"input": 2.5, "cache_read": 0.25, "output": 10}}}

A model is found by its whole name, else by the longest key that it starts with (`gpt-x` prices
`gpt-x-2026-05-01`). Where `cache_read` or `cache_write` is left out, such tokens cost as `input`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from itemtrace.errors import ConfigError


KINDS = ("input", "output", "cache_read", "cache_write")


@dataclass(frozen=True)
class Prices:
    """A price table.

    Attributes:
        currency: Of all prices.
        models: Model or prefix -> kind of tokens -> price of one token.
    """

    currency: str
    models: Mapping[str, Mapping[str, float]]

    def cost(self, model: str, tokens: Mapping[str, int]) -> float | None:
        """Returns what a model call costs; None for a model that has no price.

        Args:
            model: The model's name.
            tokens: `input` and `output`, and `cache_read` and `cache_write`, which are parts of `input`.
        """
        price = self._of(model)
        if price is None:
            return None
        cached = {kind: tokens.get(kind, 0) for kind in ("cache_read", "cache_write")}
        fresh = max(tokens.get("input", 0) - sum(cached.values()), 0)
        total = fresh * price["input"] + tokens.get("output", 0) * price["output"]
        return total + sum(
            count * price.get(kind, price["input"]) for kind, count in cached.items()
        )

    def _of(self, model: str) -> Mapping[str, float] | None:
        if model in self.models:
            return self.models[model]
        known = [name for name in self.models if model.startswith(name)]
        return self.models[max(known, key=len)] if known else None


def read_prices(source: str | Path | Mapping[str, Any]) -> Prices:
    """Returns the price table of a JSON file or of its content.

    Raises:
        ConfigError: It cannot be read, or is no price table.
    """
    if isinstance(source, Mapping):
        return _parsed(source, "prices=")
    try:
        value = json.loads(Path(source).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"the price table {source} cannot be read ({error}); give the path of a JSON file"
        raise ConfigError(msg) from error
    return _parsed(value, str(source))


def _parsed(value: Any, where: str) -> Prices:
    table = cast("dict[str, Any]", value) if isinstance(value, Mapping) else {}
    currency, models = table.get("currency"), table.get("models")
    if not isinstance(currency, str) or not isinstance(models, Mapping):
        msg = f'{where} is no price table; it needs "currency" and "models" (docs/metrics.md)'
        raise ConfigError(msg)
    per = table.get("per_tokens", 1_000_000)
    found: dict[str, dict[str, float]] = {}
    for model, prices in cast("dict[str, Any]", models).items():
        wrong = _wrong(prices, per)
        if wrong:
            msg = f"{where}, model {model!r}: {wrong}"
            raise ConfigError(msg)
        found[model] = {kind: price / per for kind, price in prices.items()}
    return Prices(currency, found)


def _wrong(prices: Any, per: Any) -> str | None:
    if not isinstance(per, int) or per <= 0:
        return f"per_tokens is {per!r}; give the number of tokens that a price is for"
    table = cast("dict[str, Any]", prices) if isinstance(prices, Mapping) else {}
    if not {"input", "output"} <= set(table):
        return 'there is no price for both "input" and "output"'
    for kind, price in table.items():
        if kind not in KINDS:
            return f"{kind!r} is not known; choose of {', '.join(KINDS)}"
        if isinstance(price, bool) or not isinstance(price, int | float) or price < 0:
            return f"the price of {kind} is {price!r}; give a number"
    return None
