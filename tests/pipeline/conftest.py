"""A small collection to ask."""

from __future__ import annotations

from tests.notes import notes, settings, shared_data

__all__ = ["notes", "settings", "shared_data"]
