"""The benchmarks behind every number of the documentation, one command each: `python -m benchmarks.NAME`."""
