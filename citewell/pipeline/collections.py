"""The collections of the settings: in the data folder or in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.core.settings import Settings

if TYPE_CHECKING:
    from citewell.retriever.collection.postgres.catalog import PostgresCatalog
    from citewell.retriever.collection.protocol import Catalog

HANDBOOK = "handbook"
"""The collection of Citewell's own documentation, which is in the data folder of each computer."""


def catalog_of(settings: Settings, name: str) -> Catalog:
    """Return the catalog that has, or is to have, the collection `name`."""
    from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog

    url = settings.collection.store.get_secret_value()
    if url and name != HANDBOOK:
        return _postgres(url)
    return EmbeddedCatalog(settings.data_dir, settings.threads)


def collection_names(settings: Settings) -> Sequence[str]:
    """Return the names of all collections, sorted."""
    handbook = catalog_of(settings, HANDBOOK)
    own = [HANDBOOK] if handbook.version(HANDBOOK) else []
    return sorted({*catalog_of(settings, "").names(), *own})


@lru_cache(maxsize=8)
def _postgres(url: str) -> PostgresCatalog:
    """Return the catalog at `url`, one per process, so that all share its connections."""
    from citewell.retriever.collection.postgres.catalog import PostgresCatalog

    return PostgresCatalog(url)
