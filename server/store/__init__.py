"""What must never be lost: answers, feedback, comparisons, ratings, keys and jobs."""
