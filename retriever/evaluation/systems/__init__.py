"""The systems to evaluate: each reads a corpus, then ranks passages for one question at a time."""
