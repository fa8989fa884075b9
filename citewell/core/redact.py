"""Removes local folders and passwords from names that model cards and data sets show."""

from __future__ import annotations

from pathlib import Path

from yarl import URL

_PREFIXES = ("openai", "self", "writer", "nli")


def published_name(name: str) -> str:
    """Return the name of a model, collection or teacher; of a path, only the last part.

    Prefixes as in `openai:MODEL` and hub ids such as `org/model` stay as they are.
    """
    prefix, colon, inner = name.partition(":")
    if colon and prefix in _PREFIXES:
        return f"{prefix}:{published_name(inner)}"
    path = Path(name)
    if path.is_absolute() or name.startswith((".", "~")) or path.exists():
        return path.expanduser().absolute().name or name
    return name


def published_address(address: str) -> str:
    """Return a URL without user, password and query, which may be secret; empty if it is not a URL."""
    try:
        url = URL(address)
        if not url.user and not url.password and not url.query_string:
            return address
        return str(url.with_user(None).with_query(None)) if url.raw_host else ""
    except (ValueError, IndexError):  # yarl raises both
        return ""
