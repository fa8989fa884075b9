"""The public data sets of the benchmarks: fetched from their origins, converted and verified."""
