"""Runs one job and writes JSON lines; anything a recorder prints goes to standard error."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any


OURS = ("fill", "rebuild")
"""Measurements that need itemtrace itself."""


def main() -> None:
    job = json.loads(sys.argv[1])
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def emit(event: str = "progress", **fields: Any) -> None:
        lines.write(json.dumps({"event": event, **fields}) + "\n")
        lines.flush()

    # Only now, so that what an import prints goes to standard error too.
    module = "ours" if job["measure"] in OURS else "measure"
    importlib.import_module(f"benchmarks.worker.{module}")
    from benchmarks.worker.registry import MEASURES

    emit("result", **MEASURES[job["measure"]](job, emit))
    lines.close()
    # Some recorders flush to nowhere for seconds at exit; all that is asked for has been said.
    os._exit(0)


if __name__ == "__main__":
    main()
