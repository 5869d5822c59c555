"""The contract fits stores that can do little, as long as they say so."""

import pytest

from itemtrace.stores import Capabilities, Store
from itemtrace.stores.base import EVERYTHING, index_runs, matches, plain_row
from itemtrace.testing.store_contract import StoreContract


class Shelf(Store):
    """Rows in a list, for reading only; keeps neither types nor surrogates."""

    def __init__(self, rows, capabilities):
        self.rows = rows
        self.capabilities = capabilities
        self.url = str(rows)
        self.problems = []

    def traces(self, query=EVERYTHING):
        """Gives all traces, newest first, or some by their ids."""
        self.capabilities.check(query, "the shelf")
        starts = {}
        for row in self.rows:
            starts[row.trace_id] = min(
                row.start_ns, starts.get(row.trace_id, row.start_ns)
            )
        for trace_id in sorted(starts, key=starts.__getitem__, reverse=True):
            if not query.trace_ids or trace_id in query.trace_ids:
                yield (
                    trace_id,
                    [plain_row(r) for r in self.rows if r.trace_id == trace_id],
                )

    def runs(self, query=EVERYTHING):
        """Gives all runs, newest first."""
        self.capabilities.check(query, "the shelf")
        runs = [draft.summary() for draft in index_runs(self.rows)]
        runs.sort(key=lambda run: -run.started_ns)
        yield from (run for run in runs if matches(run, query))

    def close(self):
        """Holds nothing."""


class Shelves(StoreContract):
    """What the two kinds of shelf have in common."""

    capabilities = Capabilities()

    @pytest.fixture
    def source(self):
        """Gives an empty shelf."""
        return []

    def open(self, source):
        """Opens the shelf."""
        return Shelf(source, self.capabilities)

    def fill(self, source, rows):
        """Puts rows on the shelf."""
        source.extend(rows)


class TestWithoutFilters(Shelves):
    """A store that finds traces by id and applies nothing else."""

    capabilities = Capabilities(filters=frozenset({"trace_ids"}))

    def test_url(self, source):
        """The shelf is its own name."""
        assert self.open(source).url == "[]"


class TestWithoutRuns(Shelves):
    """A store that cannot list runs."""

    capabilities = Capabilities(list_runs=False, filters=frozenset({"trace_ids"}))
