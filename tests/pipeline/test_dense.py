"""A collection is dense if its user says so, or, where nobody has, if it is small."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.core.settings import Settings
from citewell.pipeline.dense import Encoded, dense_indexing
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import read_source

Make = Callable[..., Settings]

PASSAGES = 8


def fill(settings: Settings, notes: Path, *, dense: bool | None = None) -> tuple[Encoded | None, list[str]]:
    """Fill the collection `notes`; return what was encoded, and the messages."""
    told: list[str] = []
    with (
        indexing(EmbeddedCatalog(settings.data_dir), "notes") as indexer,
        dense_indexing(indexer.store, settings, dense=dense, tell=told.append) as encode,
    ):
        index_documents(indexer, str(notes), read_source(notes))
        return encode(), told


def is_dense(settings: Settings) -> bool:
    return EmbeddedCatalog(settings.data_dir).open("notes").is_dense()


@pytest.mark.parametrize(("most", "expected"), [(PASSAGES, True), (PASSAGES - 1, False), (0, False)])
def test_a_small_collection_becomes_dense(
    settings: Make, notes: Path, tmp_path: Path, most: int, expected: bool
) -> None:
    chosen = settings(data_dir=tmp_path, collection__dense_up_to=most)
    encoded, told = fill(chosen, notes)
    assert told == []
    assert is_dense(chosen) is expected
    assert (encoded.progress.passages if encoded else 0) == (PASSAGES if expected else 0)


def test_a_choice_stays(settings: Make, notes: Path, tmp_path: Path) -> None:
    chosen = settings(data_dir=tmp_path)
    assert fill(chosen, notes, dense=False) == (None, [])
    assert fill(chosen, notes) == (None, [])
    assert not is_dense(chosen)
    large = settings(data_dir=tmp_path, collection__dense_up_to=1)
    encoded, _ = fill(large, notes, dense=True)
    assert encoded is not None
    assert encoded.progress.passages == PASSAGES
    again, _ = fill(large, notes)
    assert again is not None
    assert again.progress.passages == 0


def test_without_its_encoder_a_small_collection_is_searched_by_words(
    settings: Make, notes: Path, tmp_path: Path
) -> None:
    chosen = settings(data_dir=tmp_path, retriever__encoder="./missing")
    encoded, (told,) = fill(chosen, notes)
    assert encoded is None
    assert "Only the words of notes are searched" in told
    assert "missing" in told
    assert not is_dense(chosen)
