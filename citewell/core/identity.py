"""How Citewell identifies itself."""

USER_AGENT = "Citewell/0.1 (+https://github.com/citewell/citewell)"
"""The `User-Agent` header (RFC 9110 §10.1.5) of every request: name, version and contact."""
