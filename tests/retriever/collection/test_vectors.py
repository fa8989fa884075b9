"""Vectors in files and in PostgreSQL: the same protocol, and the same behavior."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citewell.core.errors import CollectionError
from citewell.retriever.collection.postgres.schema import make as make_tables
from citewell.retriever.collection.postgres.server import PostgresServer
from citewell.retriever.collection.postgres.vectors import PostgresVectors
from citewell.retriever.collection.vector_files import VectorFiles
from citewell.retriever.collection.vectors import EncodedPage, Encoding, VectorIndex

DIMENSION = 16
ENCODING = Encoding("e", "1", DIMENSION)
Open = Callable[..., VectorIndex]


def page(url: str, *passages: int, digest: str = "d", scale: float = 1.0) -> EncodedPage:
    """A page whose passages are drawn from numbers; the same number is the same text, `scale` its length."""
    drawn = [np.random.default_rng(number).standard_normal(DIMENSION) for number in passages]
    rows = [row / np.linalg.norm(row) * scale for row in drawn]
    vectors = np.array(rows, dtype=np.float16).reshape(len(passages), DIMENSION)
    return EncodedPage(url, digest, tuple(number.to_bytes(16, "big") for number in passages), vectors)


def vector(number: int) -> Any:
    return page("", number).vectors[0].astype(np.float32)


@pytest.fixture(params=["files", "postgres"])
def open_vectors(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open the vectors of an encoder; every call is another connection."""
    opened = ExitStack()
    open_one = _in_files(tmp_path) if request.param == "files" else _in_postgres(request, opened)

    def start(encoding: Encoding = ENCODING, *, make: bool = False) -> VectorIndex:
        vectors = open_one(encoding, make=make)
        opened.callback(vectors.close)
        return vectors

    with opened:
        yield start


def _in_files(folder: Path) -> Open:
    return lambda encoding, make: VectorFiles(folder / "shelf" / "vectors", encoding, make=make)


def _in_postgres(request: pytest.FixtureRequest, opened: ExitStack) -> Open:
    server = PostgresServer(request.getfixturevalue("database"))
    connection = opened.enter_context(server.connect())
    collection = make_tables(connection, server.address, "shelf")
    return lambda encoding, make: PostgresVectors(
        server, "shelf", collection, encoding, connection if make else None, exact_max=100
    )


def test_what_was_put_is_found_best_first(open_vectors: Open) -> None:
    vectors = open_vectors(make=True)
    assert not vectors.is_complete()
    vectors.put([page("a", 1, 2), page("b", 3)])
    vectors.complete()
    assert vectors.is_complete()
    found = open_vectors().search(vector(2), 3)
    assert found[0][:2] == ("a", 1)
    assert len(found) == 3
    expected = sorted((float(vector(n) @ vector(2)) for n in (1, 2, 3)), reverse=True)
    assert [match.score for match in found] == pytest.approx(expected, rel=2e-3)


def test_longer_vectors_come_first(open_vectors: Open) -> None:
    vectors = open_vectors(make=True)
    vectors.put([page("short", 1, scale=0.5), page("long", 1, scale=3.0)])
    vectors.complete()
    short, long = vectors.search(vector(1), 2)[::-1]
    assert (short.url, long.url) == ("short", "long")
    assert long.score == pytest.approx(6 * short.score, rel=2e-3)


def test_pages_are_replaced_and_removed(open_vectors: Open) -> None:
    vectors = open_vectors(make=True)
    vectors.put([page("a", 1, 2), page("b", 3), page("c", 4)])
    vectors.complete()
    vectors.put([page("a", 5, digest="new")])
    vectors.remove(["b", "nowhere"])
    assert vectors.pages() == {"a": "new", "c": "d"}
    assert vectors.count() == 2
    known = vectors.known(["a", "b"])
    assert list(known) == [(5).to_bytes(16, "big")]
    np.testing.assert_array_equal(known[(5).to_bytes(16, "big")], page("", 5).vectors[0])
    # Before and after the index has learned of it, what is gone is not found.
    assert {match.url for match in vectors.search(vector(3), 4)} <= {"a", "c"}
    vectors.complete()
    assert {(match.url, match.passage) for match in vectors.search(vector(3), 4)} == {("a", 0), ("c", 0)}


def test_growing_beyond_the_first_index(open_vectors: Open) -> None:
    vectors = open_vectors(make=True)
    for start in (0, 100, 200):
        vectors.put([page(str(n), 2 * n, 2 * n + 1) for n in range(start, start + 100)])
        vectors.complete()
        reader = open_vectors()
        for n in (start, start + 50, start + 99):
            assert reader.search(vector(2 * n + 1), 1)[0][:2] == (str(n), 1)
    assert len(vectors.search(vector(0), 150)) == 150


def test_an_open_reader_sees_what_comes_later(open_vectors: Open) -> None:
    writer = open_vectors(make=True)
    writer.put([page("a", 1)])
    writer.complete()
    reader = open_vectors()
    assert [match.url for match in reader.search(vector(2), 5)] == ["a"]
    writer.put([page("b", 2)])
    writer.complete()
    assert [match.url for match in reader.search(vector(2), 5)] == ["b", "a"]


def test_no_pages_at_all(open_vectors: Open) -> None:
    vectors = open_vectors(make=True)
    vectors.put([])
    vectors.remove([])
    vectors.complete()
    assert (vectors.count(), vectors.pages(), vectors.known([])) == (0, {}, {})
    assert vectors.search(vector(1), 5) == []
    vectors.put([page("empty"), page("full", 1)])
    vectors.complete()
    assert vectors.pages() == {"empty": "d", "full": "d"}
    assert [match.url for match in vectors.search(vector(1), 5)] == ["full"]


def test_a_transaction_that_fails_leaves_nothing(open_vectors: Open) -> None:
    vectors = open_vectors(make=True)
    vectors.put([page("a", 1)])
    broken = page("b", 2, 3)._replace(texts=(b"only one",))
    with pytest.raises(ValueError, match="zip"):
        vectors.put([page("a", 4, digest="new"), broken])
    assert vectors.pages() == {"a": "d"}
    assert vectors.count() == 1


def test_another_encoder(open_vectors: Open) -> None:
    with pytest.raises(CollectionError, match=r"are missing.*--dense"):
        open_vectors()
    old = open_vectors(make=True)
    old.put([page("a", 1)])
    old.complete()
    newer, other = Encoding("e", "2", DIMENSION), Encoding("other", "3", 8)
    with pytest.raises(
        CollectionError, match=r"from the encoder e \(fingerprint 1\), not from e .*fingerprint 2"
    ):
        open_vectors(newer)
    with pytest.raises(CollectionError, match=r"not from other.*--dense; or use.*--encoder e"):
        open_vectors(other)
    with pytest.raises(CollectionError, match="dimension 16; the encoder e has 24"):
        open_vectors(ENCODING._replace(dimension=24))
    assert [match.url for match in open_vectors().search(vector(1), 1)] == ["a"]

    old.close()
    new = open_vectors(newer, make=True)
    new.put([page("b", 1)])
    assert [match.url for match in open_vectors().search(vector(1), 1)] == ["a"]  # until the new are complete
    new.complete()
    assert [match.url for match in new.search(vector(1), 1)] == ["b"]
    with pytest.raises(CollectionError, match="fingerprint 2"):
        open_vectors()
