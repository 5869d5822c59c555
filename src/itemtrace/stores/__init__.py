"""Places where spans are kept, one module per place.

`open_store` gives the store of a path or URL. Each store is a file in this package that registers
itself; `base` holds what they share and what they promise (`itemtrace.testing.store_contract`).
"""

from itemtrace.stores.base import (
    Capabilities,
    Query,
    RunSummary,
    Store,
    WritableStore,
    open_store,
    register,
)


__all__ = [
    "Capabilities",
    "Query",
    "RunSummary",
    "Store",
    "WritableStore",
    "open_store",
    "register",
]
