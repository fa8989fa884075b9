"""The quality of cited answers: citation recall and precision, claim recall, and counts."""
