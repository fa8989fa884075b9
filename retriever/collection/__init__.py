"""Collections: pages on this machine, kept in SQLite and searched with Tantivy's BM25."""
