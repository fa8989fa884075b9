"""Names as cards and data sets may show them: without folders of this computer, and without passwords."""

from __future__ import annotations

from pathlib import Path

from yarl import URL

_PREFIXES = ("openai", "self")


def published_name(name: str) -> str:
    """The name of a model, a collection or a teacher; of one that is named by its path, the last part.

    What stands before a colon, as in `openai:MODEL` and `self:MODEL`, is kept. Hub ids such as `org/model`
    are names already.
    """
    prefix, colon, inner = name.partition(":")
    if colon and prefix in _PREFIXES:
        return f"{prefix}:{published_name(inner)}"
    path = Path(name)
    if path.is_absolute() or name.startswith((".", "~")) or path.exists():
        return path.expanduser().absolute().name or name
    return name


def published_address(address: str) -> str:
    """An address without what may be secret in it: user, password and query; empty where it is none."""
    try:
        url = URL(address)
    except ValueError:
        return ""
    if not url.user and not url.password and not url.query_string:
        return address
    return str(url.with_user(None).with_query(None)) if url.host else ""
