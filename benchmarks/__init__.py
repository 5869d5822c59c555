"""What recording costs: itemtrace and its peers, measured side by side.

`python -m benchmarks` builds one environment per recorder, runs every measurement in a fresh process,
prints a table and writes `benchmarks/results.md`.
"""
