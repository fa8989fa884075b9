"""Dense collections: what is encoded and when, hybrid search, other encoders, damage and interruptions."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from citewell.core.errors import CollectionError, ModelError
from citewell.core.text import encoded_text
from citewell.retriever.collection.dense import drop_page
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.search.query import Query

if TYPE_CHECKING:
    from conftest import BagOfWords, Library

TEXTS = {
    "https://a.example/pet": "Pets\n\nThe cat sleeps on the sofa all day.\n\nThe dog waits at the door.",
    "https://a.example/road": "Roads\n\nThe car stands in the rain without a driver.",
    "https://a.example/sea": "Seas\n\nThe whale sings songs that last half an hour.",
}
KITTEN = "A kitten?"


@pytest.fixture
def encoded(library: Library, bag: BagOfWords) -> BagOfWords:
    library.shelve(TEXTS)
    library.encode(bag)
    return bag


async def urls(library: Library, encoder: BagOfWords, text: str) -> list[str]:
    collection = library.open_dense(encoder)
    return [hit.url for hit in await collection.search(Query(text, 3))]


async def test_passages_are_found_that_share_no_word_with_the_question(
    library: Library, encoded: BagOfWords
) -> None:
    assert await library.search("kitten") == []
    hits = await library.open_dense(encoded).search(Query("kitten", 3))
    assert hits[0].url == "https://a.example/pet"
    assert hits[0].snippet == "The cat sleeps on the sofa all day."
    assert encoded.questions == ["kitten"]


async def test_few_vectors_need_no_faiss(
    library: Library, bag: BagOfWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)  # importing it raises ImportError
    library.shelve(TEXTS)
    library.encode(bag)
    assert (await urls(library, bag, "kitten"))[0] == "https://a.example/pet"


async def test_words_and_vectors_both_count(library: Library, encoded: BagOfWords) -> None:
    assert (await urls(library, encoded, "whale songs"))[0] == "https://a.example/sea"
    assert (await urls(library, encoded, "automobile driver"))[0] == "https://a.example/road"


@pytest.mark.parametrize("text", ["", "  ", "?!", "zyzzyva " * 3000])
async def test_questions_that_say_nothing(library: Library, encoded: BagOfWords, text: str) -> None:
    assert set(await urls(library, encoded, text)) <= set(TEXTS)


async def test_only_the_sites_that_are_wanted(library: Library, encoded: BagOfWords) -> None:
    collection = library.open_dense(encoded)
    assert await collection.search(Query("kitten", 3, exclude_sites=("a.example",))) == []


async def test_a_collection_without_vectors_loads_no_encoder(library: Library, bag: BagOfWords) -> None:
    library.shelve(TEXTS)
    assert await urls(library, bag, "whale") == ["https://a.example/sea"]
    assert bag.questions == []


def test_stored_vectors_are_known_until_the_page_changes(library: Library, encoded: BagOfWords) -> None:
    collection = library.open_dense(encoded)
    page = collection.page("https://a.example/pet")
    assert page
    texts = [encoded_text(passage.title, passage.text) for passage in page.passages]
    vectors = collection.vectors(page)
    assert vectors is not None
    assert np.allclose(vectors, encoded.encode_passages(texts), rtol=1e-3)
    passages = (*page.passages[:-1], replace(page.passages[-1], text="The wolf waits at the door."))
    assert collection.vectors(replace(page, passages=passages)) is None
    assert collection.vectors(replace(page, url="https://a.example/other")) is None


def test_a_passage_is_encoded_once_with_its_title(library: Library, encoded: BagOfWords) -> None:
    assert sorted(encoded.encoded) == [
        "Pets. The cat sleeps on the sofa all day.",
        "Pets. The dog waits at the door.",
        "Roads. The car stands in the rain without a driver.",
        "Seas. The whale sings songs that last half an hour.",
    ]
    again = replace(encoded, encoded=[])
    assert library.encode(again).passages == 0
    assert again.encoded == []


async def test_only_what_changed_is_encoded(library: Library, encoded: BagOfWords) -> None:
    changed = TEXTS | {"https://a.example/pet": TEXTS["https://a.example/pet"].replace("dog", "wolf")}
    del changed["https://a.example/sea"]
    library.shelve(changed | {"https://a.example/new": "New\n\nA feline of another kind is the lynx."})
    encoded.encoded.clear()
    done = library.encode(encoded)
    assert sorted(encoded.encoded) == [
        "New. A feline of another kind is the lynx.",
        "Pets. The wolf waits at the door.",
    ]
    assert (done.passages, done.reused, done.pages_removed) == (2, 1, 1)
    found = await urls(library, encoded, "cat whale")
    assert "https://a.example/sea" not in found
    assert {"https://a.example/new", "https://a.example/pet"} <= set(found)


class Broken:
    """Stops after so many batches, as a power cut does, or gives what is no vector."""

    def __init__(self, encoder: BagOfWords, batches: int, broken: Callable[[Vectors], Vectors]) -> None:
        self.name, self.fingerprint, self.dimension = encoder.name, encoder.fingerprint, encoder.dimension
        self._encoder, self._left, self._broken = encoder, batches, broken

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        return self._encoder.encode_questions(questions)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        self._left -= 1
        vectors = self._encoder.encode_passages(passages)
        return vectors if self._left >= 0 else self._broken(vectors)


def interrupted(vectors: Vectors) -> Vectors:
    raise KeyboardInterrupt


async def test_an_interrupted_run_is_taken_up(library: Library, bag: BagOfWords) -> None:
    library.shelve({f"https://a.example/{n}": f"Page {n}\n\nText number {n} of many." for n in range(1500)})
    with pytest.raises(KeyboardInterrupt):
        library.encode(Broken(bag, 1, interrupted))  # type: ignore[arg-type]
    collection = library.open_dense(bag)
    [notice] = collection.notices(Query("q"))
    assert "searched by words only until all its passages are encoded: citewell index" in notice
    assert (await collection.search(Query("1234", 1)))[0].url == "https://a.example/1234"
    first = len(bag.encoded)
    assert first < 1500
    bag.encoded.clear()
    done = library.encode(bag)
    assert done.passages == len(bag.encoded) <= 1500 - 512
    assert collection.notices(Query("q")) == []
    assert len(await collection.search(Query("Text number", 50))) == 50


async def test_a_killed_run_loses_and_repeats_nothing(
    library: Library, bag: BagOfWords, command: Callable[..., list[str]], environment: dict[str, str]
) -> None:
    library.shelve({f"https://a.example/{n}": f"Page {n}\n\nText number {n} of many." for n in range(2000)})
    run = command("encode_slowly.py", library.place)
    process = subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "512\n"
    assert process.stdout.readline() == "1024\n"
    process.kill()
    process.communicate(timeout=60)
    done = library.encode(bag)
    assert (done.pages, done.passages) in [(976, 976), (464, 464)]  # the third batch may have been kept
    assert len(await library.open_dense(bag).search(Query("Text number", 50))) == 50


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda vectors: vectors * np.nan, "values that are not finite"),
        (lambda vectors: vectors * 1e9, "exceed 65,504"),
        (lambda vectors: vectors[:, :8], r"shape \(4, 8\) for 4 passages, not \(4, 32\)"),
    ],
)
def test_what_is_no_vector_is_not_stored(
    library: Library, bag: BagOfWords, broken: Callable[[Vectors], Vectors], message: str
) -> None:
    library.shelve(TEXTS)
    with pytest.raises(ModelError, match=message):
        library.encode(Broken(bag, 0, broken))  # type: ignore[arg-type]
    assert library.encode(bag).passages == 4


async def test_another_encoder_searches_words_until_all_is_encoded_again(
    library: Library, encoded: BagOfWords
) -> None:
    newer = replace(encoded, fingerprint="2", dimension=8, encoded=[])
    other = library.open_dense(newer)
    [notice] = other.notices(Query("q"))
    assert re.search(r"by words only.*fingerprint 2.*index --collection shelf --dense", notice)
    assert [hit.url for hit in await other.search(Query("whale", 1))] == ["https://a.example/sea"]
    assert await other.search(Query("kitten", 3)) == []
    with pytest.raises(KeyboardInterrupt):
        library.encode(Broken(newer, 0, interrupted))  # type: ignore[arg-type]
    assert (await urls(library, encoded, KITTEN))[
        0
    ] == "https://a.example/pet"  # the old ones are there still
    assert library.encode(newer).passages == 4
    assert (await urls(library, newer, KITTEN))[0] == "https://a.example/pet"
    assert len(library.catalog.open("shelf").encodings()) == 1
    assert "fingerprint 1" in library.open_dense(encoded).notices(Query("q"))[0]
    assert (await other.search(Query("kitten", 3)))[0].url == "https://a.example/pet"
    assert other.notices(Query("q")) == []


@pytest.mark.parametrize("length", [0, 100, -1])
async def test_a_damaged_index_is_named_and_built_again(
    library: Library, encoded: BagOfWords, length: int
) -> None:
    [file] = (library.folder / "vectors").glob("*.index")
    whole = file.read_bytes()
    file.write_bytes(whole[:length])
    with pytest.raises(CollectionError, match=r"truncated.*index --collection shelf --rebuild"):
        await urls(library, encoded, KITTEN)
    assert file.read_bytes() == whole[:length]
    encoded.encoded.clear()
    library.encode(encoded, repair=True)
    assert encoded.encoded == []
    assert (await urls(library, encoded, KITTEN))[0] == "https://a.example/pet"


async def test_an_index_that_is_gone_is_built_by_any_run(library: Library, encoded: BagOfWords) -> None:
    for file in (library.folder / "vectors").glob("*.index"):
        file.unlink()
    with pytest.raises(CollectionError, match=r"No such file.*--rebuild"):
        await urls(library, encoded, KITTEN)
    library.encode(encoded)
    assert (await urls(library, encoded, KITTEN))[0] == "https://a.example/pet"


async def test_damaged_vectors_are_named_and_encoded_again(library: Library, encoded: BagOfWords) -> None:
    [file] = (library.folder / "vectors").glob("*.db")
    for other in file.parent.glob(f"{file.name}-*"):
        other.unlink()
    content = b"SQLite format 3\x00" + b"\xab" * 5000
    file.write_bytes(content)
    for use in (library.open_dense, library.encode):
        with pytest.raises(CollectionError, match=r"vectors.*'shelf' are damaged.*--rebuild"):
            use(encoded)
    assert file.read_bytes() == content
    assert library.encode(encoded, repair=True).passages == 4
    assert (await urls(library, encoded, KITTEN))[0] == "https://a.example/pet"


async def test_half_a_vector_is_noticed(library: Library, encoded: BagOfWords) -> None:
    [file] = (library.folder / "vectors").glob("*.db")
    with sqlite3.connect(file) as db:
        db.execute("UPDATE vectors SET vector = x'0000' WHERE id = 1")
    for index in file.parent.glob("*.index"):
        index.unlink()
    with pytest.raises(CollectionError, match=r"damaged: a vector has dimension 1\..*--rebuild"):
        library.encode(encoded)
    assert library.encode(encoded, repair=True).passages == 4


async def test_a_collection_becomes_dense_while_it_is_searched(library: Library, bag: BagOfWords) -> None:
    library.shelve(TEXTS)
    collection = library.open_dense(bag)
    assert await collection.search(Query("kitten", 3)) == []
    library.encode(bag)
    assert (await collection.search(Query("kitten", 3)))[0].url == "https://a.example/pet"
    with library.indexing() as indexer:
        indexer.store.set_dense(False)
    assert await collection.search(Query("kitten", 3)) == []


async def test_forgetting_the_vectors(library: Library, encoded: BagOfWords) -> None:
    with library.indexing() as indexer:
        indexer.store.set_dense(False)
    assert not (library.folder / "vectors").exists()
    assert await urls(library, encoded, "kitten") == []


def test_a_dropped_page_leaves_no_vector(library: Library, encoded: BagOfWords) -> None:
    pet, *others = TEXTS
    with library.indexing() as indexer:
        drop_page(indexer.store, pet)
        [encoding] = indexer.store.encodings()
        with closing(indexer.store.vectors(encoding)) as vectors:
            assert set(vectors.pages()) == set(indexer.store.digests()) == set(others)
            assert vectors.count() == 2


def test_removing_the_folder_removes_the_vectors(library: Library, encoded: BagOfWords) -> None:
    shutil.rmtree(library.folder)
    library.shelve(TEXTS)
    encoded.encoded.clear()
    assert library.encode(encoded).passages == 4
