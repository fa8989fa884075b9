"""From bytes to a title and paragraphs."""
