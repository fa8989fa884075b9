"""The handbook: Citewell's own documentation, which is the collection of the quick start."""

from __future__ import annotations

from pathlib import Path

import citewell
from citewell.core.errors import CollectionError
from citewell.core.settings import Settings
from citewell.pipeline.collections import HANDBOOK, catalog_of


def handbook_folder() -> Path | None:
    """Return the folder of the documentation, which comes with the package."""
    folder = Path(citewell.__file__).resolve().parent / "docs"
    return folder.resolve() if (folder / "index.md").is_file() else None


def is_of_handbook(url: str) -> bool:
    """Return whether a URL is that of a page of the documentation."""
    folder = handbook_folder()
    return folder is not None and url.startswith(f"{folder.as_uri()}/")


def ensure_handbook(settings: Settings) -> None:
    """Bring the collection `handbook` up to date with the documentation; cheap when nothing changed."""
    from citewell.retriever.collection.indexing import index_documents, indexing
    from citewell.retriever.collection.sources import read_source

    folder = handbook_folder()
    if folder is None:
        raise CollectionError(
            "The handbook is not installed with this copy of Citewell.",
            "Index something of your own: citewell index SOURCE --collection NAME",
        )
    with indexing(catalog_of(settings, HANDBOOK), HANDBOOK) as indexer:
        index_documents(indexer, HANDBOOK, read_source(folder))
