"""Span rows to ledgers.

`rebuild(rows)` finds the chunks of records in span attributes (`collect`), checks and orders them
(`evidence`, `assemble`), and names what is missing (`gaps`).
"""

from itemtrace.rebuild.assemble import rebuild


__all__ = ["rebuild"]
