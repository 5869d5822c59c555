"""Runs one job and writes JSON lines; anything a recorder prints goes to standard error."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    job = json.loads(sys.argv[1])
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def emit(event: str = "progress", **fields: Any) -> None:
        lines.write(json.dumps({"event": event, **fields}) + "\n")
        lines.flush()

    from benchmarks.worker.measure import MEASURES  # noqa: PLC0415 - stdout is moved first

    emit("result", **MEASURES[job["measure"]](job, emit))
    lines.close()
    # Some recorders flush to nowhere for seconds at exit; all that is asked for has been said.
    os._exit(0)


if __name__ == "__main__":
    main()
