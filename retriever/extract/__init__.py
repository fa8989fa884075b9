"""Reading of pages: from bytes to a title and paragraphs."""
