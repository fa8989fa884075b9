"""Separation of the main text of an HTML page from the text around it."""
