"""Who Citewell says it is."""

USER_AGENT = "Citewell/0.1 (+https://github.com/citewell/citewell)"
"""The header `User-Agent` (RFC 9110 §10.1.5) of every request: a name, a version and where to complain."""
