"""Settings by the names that Python callers use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.core.collection_flag import with_collection
from citewell.core.settings import Settings, load_settings

_SHORT = {
    "collection": "search.collection",
    "search": "search.providers",
    "language": "search.language",
    "k": "retriever.k",
    "encoder": "retriever.encoder",
    "generator": "generator.name",
    "best_of": "generator.best_of",
    "scorer": "scorer.name",
}
"""The settings that have a name of their own, as they have one on the command line."""


def named_settings(named: Mapping[str, Any]) -> Settings:
    """Load the settings, changed by short names or by full ones with two underscores for the dot.

    Raises `SettingsError`.
    """
    flags = {_SHORT.get(name, name).replace("__", "."): value for name, value in named.items()}
    return load_settings(with_collection(flags))
