"""The Model Context Protocol: Citewell as tools of other programs' language models."""
