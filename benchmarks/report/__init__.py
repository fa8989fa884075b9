"""The report of all headline figures beside published ones, docs/results.md: `python -m benchmarks.report`.

Our figures are read from `benchmarks/results/`, published ones from `benchmarks/published.json`.
"""
