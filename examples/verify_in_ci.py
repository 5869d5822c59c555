"""A check for a pipeline: exits with 1 when a trace lost something on its way to where it is kept.

    python examples/verify_in_ci.py traces.db

`itemtrace verify` does the same from a shell; this is for a check with rules of its own. Here a
run that waits for approval, and content that was withheld on purpose, are fine.
"""

import sys

import itemtrace
from itemtrace import GapCause


ON_PURPOSE = {GapCause.WITHHELD, GapCause.REDACTED}


def main(source: str) -> int:
    runs = 0
    lost = []
    for ledger in itemtrace.iter_ledgers(source):
        runs += len(ledger.runs)
        lost += [gap for gap in ledger.gaps if gap.cause not in ON_PURPOSE]
    for gap in lost:
        print(gap)
    print(f"{runs} runs, {len(lost)} losses")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
