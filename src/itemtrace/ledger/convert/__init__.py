"""Ledgers in other formats, one module each; every conversion says what it left out.

`convert(run, to="input_list")` finds them by name. `sdk` makes real objects of the Agents SDK and
is called by its own functions.
"""

from itemtrace.ledger.convert.base import Converted, convert, formats, register


__all__ = ["Converted", "convert", "formats", "register"]
