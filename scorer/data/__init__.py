"""Training data of scorers: votes, comparisons, rankings and the service's own feedback."""
