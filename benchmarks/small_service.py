"""What a service of a benchmark starts with: its environment, a collection of four notes, and its keys."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from citewell.server.access.keys import NewKey
from citewell.server.store.database import open_store

BATS = "How do bats find their way in the dark?"
_NOTES = {
    "Bats": "Bats find their way in the dark by echolocation. A bat sends out short calls that are too high "
    "for human ears, and it listens to the echoes that come back from trees and insects.",
    "Tides": "The tides are caused by the gravity of the Moon and, to a lesser degree, of the Sun. Most "
    "coasts have two high tides and two low tides each day.",
    "Honey": "Bees make honey from nectar, which they thicken by fanning it with their wings.",
    "Kites": "The wind that flows over a kite lifts it, and the line that holds it keeps it at an angle.",
}


def environment(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the variables of a service with these settings alone, such as `SERVER__QUEUE`."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CITEWELL_") or name == "CITEWELL_CACHE_DIR"
    }
    return inherited | {f"CITEWELL_{name.upper()}": str(value) for name, value in settings.items()}


def index_notes(data: Path, collection: str) -> None:
    """Index the notes in a data folder."""
    documents = [
        SourceDocument(f"https://notes.example/{title.lower()}", text.encode(), "text/plain", title)
        for title, text in _NOTES.items()
    ]
    with indexing(EmbeddedCatalog(data), collection) as indexer:
        index_documents(indexer, collection, documents)


async def store_keys(database: str, keys: Iterable[NewKey]) -> None:
    """Store new keys in a database, by its URL."""
    async with open_store(database) as store:
        for each in keys:
            await store.keys.add(each.key)
