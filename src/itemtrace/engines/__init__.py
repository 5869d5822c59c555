"""The same rebuild in several places: in this process, and on other engines.

`local` reads a store and rebuilds here; it is `itemtrace.load` and `itemtrace.iter_ledgers`.
"""

from itemtrace.engines.local import iter_ledgers, load


__all__ = ["iter_ledgers", "load"]
