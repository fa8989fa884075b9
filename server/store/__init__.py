"""The database of answers, feedback, comparisons, ratings, keys and jobs."""
