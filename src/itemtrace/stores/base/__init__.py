"""What all stores share: the contract, what can be asked, how a source finds its store."""

from itemtrace.stores.base.contract import Capabilities, Store, WritableStore
from itemtrace.stores.base.fetched import FetchedStore, lookback_of, started
from itemtrace.stores.base.index import (
    RunDraft,
    index_runs,
    run_of,
    selects_trace,
    workflow_of,
)
from itemtrace.stores.base.query import (
    CRITERIA,
    EVERYTHING,
    Query,
    RunSummary,
    matches,
)
from itemtrace.stores.base.registry import (
    local_store,
    open_store,
    path_of,
    redact,
    register,
    schemes,
)
from itemtrace.stores.base.spool import SpooledStore
from itemtrace.stores.base.values import as_int, plain_row, stamps


__all__ = [
    "CRITERIA",
    "EVERYTHING",
    "Capabilities",
    "FetchedStore",
    "Query",
    "RunDraft",
    "RunSummary",
    "SpooledStore",
    "Store",
    "WritableStore",
    "as_int",
    "index_runs",
    "local_store",
    "lookback_of",
    "matches",
    "open_store",
    "path_of",
    "plain_row",
    "redact",
    "register",
    "run_of",
    "schemes",
    "selects_trace",
    "stamps",
    "started",
    "workflow_of",
]
