"""Price tables: what a call costs, and what is no price table."""

import json
from pathlib import Path

import pytest

from itemtrace.capture.metrics import read_prices
from itemtrace.errors import ConfigError


TABLE = {
    "currency": "EUR",
    "per_tokens": 1000,
    "models": {
        "desk": {"input": 1, "output": 2},
        "desk-large": {"input": 10, "output": 20, "cache_read": 1, "cache_write": 12},
    },
}


@pytest.mark.parametrize(
    ("model", "tokens", "cost"),
    [
        ("desk", {"input": 1000, "output": 500}, 2.0),
        ("desk-mini-2026", {"input": 1000, "cache_read": 400}, 1.0),
        (
            "desk-large",
            {"input": 1000, "cache_read": 300, "cache_write": 200, "output": 10},
            5.0 + 0.3 + 2.4 + 0.2,
        ),
        ("desk-large-2026", {"input": 100}, 1.0),
        ("other", {"input": 1000}, None),
    ],
)
def test_cost(model, tokens, cost):
    """Cached tokens are parts of the input; the longest key that a name starts with is its price."""
    found = read_prices(TABLE).cost(model, tokens)
    assert found == (None if cost is None else pytest.approx(cost))


def test_example():
    """The example that is shipped prices every model of the demo."""
    path = Path(__file__).parents[4] / "dashboards" / "prices.example.json"
    prices = read_prices(path)
    models = ("desk-large", "desk-mini", "translate-mini")
    assert all(prices.cost(model, {"input": 1}) for model in models)


def test_file(tmp_path):
    """A table is read from a file; prices are for a million tokens if it does not say."""
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({k: v for k, v in TABLE.items() if k != "per_tokens"}))
    assert read_prices(path).cost("desk", {"output": 1_000_000}) == pytest.approx(2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"currency": None}, 'needs "currency" and "models"'),
        ({"models": []}, 'needs "currency" and "models"'),
        ({"per_tokens": 0}, "per_tokens is 0"),
        ({"models": {"m": {"input": 1}}}, "model 'm': there is no price for both"),
        ({"models": {"m": 3}}, "model 'm': there is no price for both"),
        ({"models": {"m": {"input": 1, "output": -1}}}, "the price of output is -1"),
        ({"models": {"m": {"input": True, "output": 1}}}, "the price of input is True"),
        (
            {"models": {"m": {"input": 1, "output": 1, "audio": 2}}},
            "'audio' is not known; choose of input, output, cache_read, cache_write",
        ),
    ],
)
def test_no_table(change, said):
    """What is wrong is said, with the model."""
    with pytest.raises(ConfigError, match=said):
        read_prices({**TABLE, **change})


def test_no_json(tmp_path):
    """A file that is no JSON is named."""
    path = tmp_path / "prices.json"
    path.write_text("EUR")
    with pytest.raises(ConfigError, match=r"prices\.json cannot be read"):
        read_prices(path)
    path.write_text("[]")
    with pytest.raises(ConfigError, match="is no price table"):
        read_prices(path)
