"""OpenInference's attributes beside the GenAI ones, for the pages of Phoenix and Arize.

    itemtrace.install(conventions=("genai", "openinference"))

They are made from what the span handlers said in the GenAI vocabulary, so whatever those withheld,
redacted or shortened is so here too. Messages are flattened, one attribute per leaf, as far as there
is room beside the ledger; `input.value` and `output.value` have them whole.
"""

from __future__ import annotations

from itemtrace.capture.openinference.messages import more
from itemtrace.capture.openinference.scalars import end, start
from itemtrace.capture.spans.base import Vocabulary, register_vocabulary


__all__ = ["end", "more", "start"]

register_vocabulary("openinference", Vocabulary(start, end, more))
