"""Every number of the documentation, one command each: `python -m benchmarks.NAME`."""
