"""Makes the benchmarks importable however pytest is started: they are no part of the package."""

import sys
from pathlib import Path


ROOT = str(Path(__file__).parents[3])
if ROOT not in sys.path:
    sys.path.append(ROOT)
