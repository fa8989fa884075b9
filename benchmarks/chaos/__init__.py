"""The service under faults: `python -m benchmarks.chaos`."""
