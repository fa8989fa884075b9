"""Training of a cross-encoder on groups of a question with labeled passages."""
