"""Where Citewell keeps things: caches that can be deleted, and data that cannot."""

from __future__ import annotations

from pathlib import Path

import platformdirs


def cache_dir() -> Path:
    """The folder for things that can be built again, such as converted weights."""
    return platformdirs.user_cache_path("citewell", appauthor=False)


def data_dir() -> Path:
    """The folder for things that the user made, such as collections."""
    return platformdirs.user_data_path("citewell", appauthor=False)
