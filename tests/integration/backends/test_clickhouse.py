"""ClickHouse: what the Collector's exporter would have written there comes back exact."""

import pytest

import itemtrace
from itemtrace.rebuild import rebuild
from itemtrace.stores import Query
from itemtrace.stores.clickhouse import ClickHouseStore
from itemtrace.testing.otel_traces import Layout, create, embedded, insert


@pytest.fixture(params=list(Layout), ids=lambda layout: layout.name)
def fill(request):
    """Makes a table in one layout and gives a function that fills it and opens it."""
    create(embedded(), "whole", request.param)

    def filled(rows):
        insert(embedded(), "whole", rows, request.param)
        return ClickHouseStore("clickhouse://host/whole", client=embedded())

    yield filled
    embedded().command("DROP DATABASE whole")


def test_the_demo_comes_back(recorded_demo, fill):
    """The ledger of the demo is exact; each run is found by its group, agents and tools."""
    with fill(recorded_demo.rows) as store:
        assert itemtrace.load(store) == recorded_demo.ledger
        roots = [
            run for run in store.runs(Query(group="customer-4711")) if not run.nested
        ]
        assert {run.run_id for run in roots} >= {
            run.run_id for run in recorded_demo.ledger.runs
        }
        for run in roots:
            for tool in run.tools:
                found = {found.run_id for found in store.runs(Query(tool=tool))}
                assert run.run_id in found


def test_hard_values_come_back(hard_rows, fill):
    """No value that is hard to store changes a ledger; doubles neither."""
    with fill([*hard_rows, *hard_rows[:3]]) as store:
        found = itemtrace.load(store)
    assert found == rebuild(hard_rows)
    assert found.exact
