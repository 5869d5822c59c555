"""Parquet: what was recorded comes back from a file and from a directory."""

import pytest

import itemtrace
from itemtrace.rebuild import rebuild
from itemtrace.stores import open_store


@pytest.mark.parametrize("place", ["one.parquet", "lake/"])
def test_the_demo_comes_back(recorded_demo, tmp_path, place):
    """The ledger of the demo is the same out of Parquet."""
    source = f"parquet:{tmp_path}/{place}"
    with open_store(source, write=True) as store:
        assert store.write(recorded_demo.rows) == len(recorded_demo.rows)
    assert itemtrace.load(source) == recorded_demo.ledger


def test_hard_values_come_back(hard_rows, tmp_path):
    """No value that is hard to store changes a ledger."""
    source = tmp_path / "one.parquet"
    with open_store(source, write=True) as store:
        store.write(hard_rows)
    assert itemtrace.load(source) == rebuild(hard_rows)
    assert itemtrace.load(source).exact
