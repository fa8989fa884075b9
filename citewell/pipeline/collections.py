"""The collections of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.settings import Settings

if TYPE_CHECKING:
    from citewell.retriever.collection.protocol import Catalog


def open_catalog(settings: Settings) -> Catalog:
    """Return the catalog of the collections of the settings."""
    from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog

    return EmbeddedCatalog(settings.data_dir, settings.threads)
