"""How well policies browse, and what it costs."""
