"""Sources of labels, one kind per file: each reads files and returns rows."""
