"""Collections: local pages, stored in SQLite and searched with Tantivy's BM25 and optionally with vectors."""
