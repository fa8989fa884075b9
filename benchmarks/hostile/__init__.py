"""Attacks on Citewell, by class: `python -m benchmarks.hostile.NAME` counts those that break a promise."""
