"""Search, fetch, extract and rank: from a question to its references."""
