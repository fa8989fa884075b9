"""A collection that a person names is searched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_collection(flags: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the flags so that a collection among them is searched.

    That is so whatever providers the file and the environment name, and beside those among the flags.
    """
    if flags.get("search.collection") is None:
        return flags
    named = flags.get("search.providers") or "auto"
    providers = named.replace(",", " ").split() if isinstance(named, str) else list(named)
    is_searched = {"auto", "collection"}.intersection(providers)
    return {**flags, "search.providers": providers if is_searched else ["collection", *providers]}
