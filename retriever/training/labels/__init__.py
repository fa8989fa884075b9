"""Where labels come from, one kind per file: each reads files and gives rows."""
