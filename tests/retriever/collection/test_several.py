"""Several collections as one store of pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.settings import load_settings
from citewell.pipeline.providers import open_search
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.search.query import Query

_PAGES = {
    "one": {"Echidna": "An echidna eats ants, and no sugar."},
    "two": {"Mitochondria": "Mitochondria burn sugar."},
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, pages in _PAGES.items():
        documents = [
            SourceDocument(f"https://{name}.example/{title}", text.encode(), "text/plain", title)
            for title, text in pages.items()
        ]
        with indexing(EmbeddedCatalog(tmp_path), name) as indexer:
            index_documents(indexer, name, documents)
    return tmp_path


async def test_the_pages_of_all_are_found_read_and_counted(data: Path) -> None:
    named = {"data_dir": data, "search.providers": "collection:one collection:two"}
    async with open_search(load_settings(named)) as search:
        found = await search.find(Query("sugar"))
        assert {hit.url for hit in found.hits} == {
            "https://one.example/Echidna",
            "https://two.example/Mitochondria",
        }
        assert search.metasearch.name == "collection:one, collection:two"
        assert search.count() == 2
        assert search.pages is not None
        for hit in found.hits:
            page = search.pages.page(hit.url)
            assert page is not None
            assert page.title == hit.title
        assert search.pages.page("https://three.example/") is None


async def test_a_name_is_corrected_by_the_titles_of_all(data: Path) -> None:
    named = {"data_dir": data, "search.providers": "collection:one,collection:two"}
    async with open_search(load_settings(named)) as search:
        asked = "Does an echinda need mitochondrya?"
        assert search.spelled(asked) == "Does an echidna need mitochondria?"


async def test_the_collection_of_the_settings_is_searched_once(data: Path) -> None:
    named = {"data_dir": data, "search.collection": "one", "search.providers": "collection,collection:one"}
    async with open_search(load_settings(named)) as search:
        assert search.metasearch.name == "collection:one"
