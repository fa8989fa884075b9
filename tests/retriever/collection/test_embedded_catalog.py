"""The folders of collections: what is not removed, and what is said of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from citewell.core.errors import CollectionError
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import indexing


def test_a_collection_that_is_written_is_not_removed(tmp_path: Path) -> None:
    catalog = EmbeddedCatalog(tmp_path)
    with indexing(catalog, "notes"), pytest.raises(CollectionError, match="Another run is writing"):
        EmbeddedCatalog(tmp_path).remove("notes")
    assert catalog.names() == ["notes"]
    catalog.remove("notes")
    assert catalog.names() == []


def test_a_link_to_a_collection_is_not_removed(tmp_path: Path) -> None:
    catalog = EmbeddedCatalog(tmp_path)
    with indexing(catalog, "notes"):
        pass
    moved = tmp_path / "moved"
    catalog.folder("notes").rename(moved)
    catalog.folder("notes").symlink_to(moved, target_is_directory=True)
    with pytest.raises(CollectionError, match="is a link to") as raised:
        catalog.remove("notes")
    assert str(moved) in raised.value.message
    assert (moved / "pages.db").is_file()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_without_rights_is_named(tmp_path: Path) -> None:
    catalog = EmbeddedCatalog(tmp_path)
    with indexing(catalog, "notes"):
        pass
    (tmp_path / "collections").chmod(0)
    try:
        for ask in (catalog.names, lambda: catalog.version("notes")):
            with pytest.raises(CollectionError, match="is not readable: Permission denied"):
                ask()
    finally:
        (tmp_path / "collections").chmod(0o700)
