"""Array, flat, IVF and HNSW: the same file format, nearly the same answers, and damage that is noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from citewell.retriever.collection.neighbor_index import (
    DamagedIndexError,
    Kind,
    NeighborIndex,
    kind_for,
    lists_for,
)

DIMENSION = 24
KINDS: tuple[Kind, ...] = ("array", "flat", "ivf", "hnsw")


def made(count: int) -> np.ndarray:
    """Vectors in clusters, of lengths from a half to one and a half."""
    random = np.random.default_rng(1)
    centres = random.standard_normal((20, DIMENSION))
    rows = centres[random.integers(20, size=count)] + 0.7 * random.standard_normal((count, DIMENSION))
    rows *= random.uniform(0.5, 1.5, (count, 1)) / np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float16)


def built(kind: Kind, count: int = 3000) -> NeighborIndex:
    vectors = made(count)
    index = NeighborIndex.empty(kind, DIMENSION, count, vectors, threads=1)
    for start in range(0, count, 1000):
        block = vectors[start : start + 1000]
        index.add(np.arange(start, start + len(block)) * 3, block)
    return index


@pytest.mark.parametrize("kind", KINDS)
def test_inner_products_of_vectors_that_have_other_lengths(kind: Kind, tmp_path: Path) -> None:
    vectors = made(3000)
    built(kind).write(tmp_path / "x.index")
    index = NeighborIndex.read(tmp_path / "x.index", DIMENSION)
    assert index.kind == kind
    agreed = 0
    for question in vectors[:50].astype(np.float32):
        exact = vectors.astype(np.float32) @ question
        found = index.search(question, 10)
        np.testing.assert_allclose(found.scores, exact[found.ids // 3], rtol=1e-3, atol=1e-3)
        assert list(found.scores) == sorted(found.scores, reverse=True)
        agreed += len(set(found.ids // 3) & set(np.argsort(-exact)[:10]))
    assert agreed >= 490
    assert [path.name for path in tmp_path.iterdir()] == ["x.index"]


@pytest.mark.parametrize("kind", KINDS)
def test_adding_to_an_index_that_was_read(kind: Kind, tmp_path: Path) -> None:
    built(kind, 1000).write(tmp_path / "x.index")
    index = NeighborIndex.read(tmp_path / "x.index", DIMENSION)
    far = np.full((1, DIMENSION), 2.0, dtype=np.float16)
    index.add(np.array([9999]), far)
    assert index.search(far[0].astype(np.float32), 1).ids.tolist() == [9999]
    assert len(index.search(far[0].astype(np.float32), 5000).ids) > 400  # IVF does not look at all lists


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [0, 10, 27, 28, 1000, -1])
def test_a_file_that_was_cut_short(kind: Kind, length: int, tmp_path: Path) -> None:
    file = tmp_path / "x.index"
    built(kind, 500).write(file)
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(DamagedIndexError, match="truncated"):
        NeighborIndex.read(file, DIMENSION)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 0.5, 0.99])
def test_a_file_with_one_byte_changed(kind: Kind, place: float, tmp_path: Path) -> None:
    file = tmp_path / "x.index"
    built(kind, 500).write(file)
    content = bytearray(file.read_bytes())
    content[int(place * len(content))] ^= 1
    file.write_bytes(content)
    with pytest.raises(DamagedIndexError):
        NeighborIndex.read(file, DIMENSION)


@pytest.mark.parametrize("kind", KINDS)
def test_another_dimension(kind: Kind, tmp_path: Path) -> None:
    built(kind, 50).write(tmp_path / "x.index")
    with pytest.raises(DamagedIndexError, match="dimension 24"):
        NeighborIndex.read(tmp_path / "x.index", 32)


def test_the_kind_grows_with_the_number_of_vectors() -> None:
    kinds = [kind_for(number) for number in (0, 1, 20_000, 20_001, 100_000, 10**9)]
    assert kinds[:5] == ["array"] * 3 + ["flat"] * 2
    assert kinds[5] not in ("array", "flat")
    assert lists_for(0) == 1
