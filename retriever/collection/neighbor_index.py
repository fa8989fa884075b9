"""An index of vectors in one file, with the id of each vector and a checksum.

It finds the vectors with the largest inner product; they need not have unit length. Few vectors are an array,
more are an index of FAISS (https://arxiv.org/abs/2401.08281). All are stored in half precision.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.errors import CollectionError
from citewell.core.packages import install_command
from citewell.retriever.collection.vectors import Stored
from citewell.retriever.encoder.encoder import Vectors

Kind = Literal["array", "flat", "ivf", "hnsw"]
Ids = NDArray[np.int64]

# Max vectors for each kind of index; docs/collections.md explains the choice, measured by
# `python -m benchmarks.dense_scale`.
ARRAY_MAX = 20_000
FLAT_MAX = 100_000
HNSW_MAX = 200_000
# HNSW (https://arxiv.org/abs/1603.09320): neighbors per node (M), efConstruction and efSearch.
HNSW_NEIGHBORS = 32
HNSW_BUILD = 80
HNSW_SEARCH = 400
# IVF: training vectors per list, and number of lists searched.
IVF_SAMPLE = 40
IVF_PROBES = 128

_FOOTER = struct.Struct("<8sQQI")
_MAGIC = b"citewell"
_BLOCK = 1 << 22
_ARRAY = b"\x93NUMPY"  # the first bytes of a file of NumPy


class DamagedIndexError(Exception):
    """The file of an index is truncated, changed, or not an index."""


class Neighbors(NamedTuple):
    """Ids of vectors and their inner products with a question, best first."""

    ids: Ids
    scores: Vectors


def kind_for(vectors: int) -> Kind:
    """Return the kind of index for a number of vectors; with a GPU, all but the smallest are IVF."""
    if vectors <= ARRAY_MAX:
        return "array"
    if vectors <= FLAT_MAX:
        return "flat"
    return "hnsw" if vectors <= HNSW_MAX and not _has_gpu() else "ivf"


def lists_for(vectors: int) -> int:
    """Return the number of lists of an IVF index of this size: 4 √n, as FAISS's guidelines recommend."""
    return max(1, int(4 * vectors**0.5))


class VectorArray:
    """All vectors in one array, which are compared one by one; its methods are those of FAISS's indexes."""

    def __init__(self, vectors: Vectors) -> None:
        """Hold `vectors`, an (n, dimension) array in single precision, for speed."""
        self._vectors = vectors

    @classmethod
    def read(cls, file: Path) -> VectorArray:
        """Read a file written by `write`, which may have more after the array. Raises `ValueError`."""
        with file.open("rb") as opened:
            return cls(np.load(opened, allow_pickle=False).astype(np.float32))

    @property
    def ntotal(self) -> int:
        """The number of vectors."""
        return len(self._vectors)

    @property
    def d(self) -> int:
        """The dimension."""
        return int(self._vectors.shape[1])

    def add(self, vectors: Vectors) -> None:
        """Add an (n, dimension) array."""
        self._vectors = np.concatenate([self._vectors, vectors])

    def search(self, query: Vectors, limit: int, *, params: None = None) -> tuple[Vectors, Ids]:
        """Return the inner products and rows of the nearest vectors, (1, limit) each, best first."""
        scores = self._vectors @ query[0]
        best = np.argpartition(-scores, limit - 1)[:limit]
        rows = best[np.lexsort((best, -scores[best]))]
        return scores[rows][None], rows[None]

    def write(self, file: Path) -> None:
        """Write the array. Raises `OSError`."""
        with file.open("wb") as opened:
            np.save(opened, self._vectors.astype(np.float16), allow_pickle=False)


class NeighborIndex:
    """An in-memory index of vectors with ids."""

    def __init__(self, index: Any, ids: Ids, kind: Kind) -> None:
        """Wrap a `VectorArray` or a FAISS index; use `empty` or `read` to make one."""
        self.kind = kind
        self.ids = ids
        self._index = index
        self._searched: Any = None  # the index or its copy on a GPU; set by the first search

    @classmethod
    def empty(cls, kind: Kind, dimension: int, vectors: int, sample: Stored, threads: int) -> NeighborIndex:
        """Make an index for about `vectors` vectors; IVF is trained on `sample`."""
        if kind == "array":
            return cls(VectorArray(np.empty((0, dimension), np.float32)), np.empty(0, dtype=np.int64), kind)
        faiss = _faiss()
        faiss.omp_set_num_threads(threads)
        half, product = faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        if kind == "flat":
            index = faiss.IndexScalarQuantizer(dimension, half, product)
        elif kind == "hnsw":
            index = faiss.IndexHNSWSQ(dimension, half, HNSW_NEIGHBORS, product)
            index.hnsw.efConstruction = HNSW_BUILD
            index.is_trained = True  # half precision needs no training
        else:
            lists = min(lists_for(vectors), len(sample))
            quantizer = faiss.IndexFlat(dimension, product)
            index = faiss.IndexIVFScalarQuantizer(quantizer, dimension, lists, half, product, False)
            index.cp.min_points_per_centroid = 1
            index.train(sample.astype(np.float32))
        return cls(index, np.empty(0, dtype=np.int64), kind)

    @classmethod
    def read(cls, file: Path, dimension: int) -> NeighborIndex:
        """Read a file written by `write`.

        Raises `DamagedIndexError` if it is damaged, and `OSError` if it cannot be read.
        """
        with file.open("rb") as opened:
            is_array = opened.read(len(_ARRAY)) == _ARRAY
            opened.seek(0)
            length = os.fstat(opened.fileno()).st_size - _FOOTER.size
            checksum = 0
            while (left := length - opened.tell()) > 0:
                checksum = zlib.crc32(opened.read(min(left, _BLOCK)), checksum)
            footer = opened.read()
            if length < 0 or len(footer) != _FOOTER.size:
                raise DamagedIndexError("it is truncated")
            magic, size, rows, expected = _FOOTER.unpack(footer)
            if (magic, size, expected) != (_MAGIC, length, checksum):
                raise DamagedIndexError("it is truncated or was changed")
            opened.seek(length - 8 * rows)
            ids = np.frombuffer(opened.read(8 * rows), dtype=np.int64)
        try:
            index = VectorArray.read(file) if is_array else _faiss().read_index(str(file))
        except (RuntimeError, ValueError) as error:
            raise DamagedIndexError(str(error)) from error
        if (index.ntotal, index.d) != (rows, dimension):
            raise DamagedIndexError(f"it holds {index.ntotal} vectors of dimension {index.d}")
        return cls(index, ids, _kind_of(index))

    @property
    def lists(self) -> int:
        """The number of IVF lists; 1 for other kinds."""
        return int(getattr(self._index, "nlist", 1))

    def add(self, ids: Ids, vectors: Stored) -> None:
        """Add vectors, an (n, dimension) array, with ids larger than all present ones."""
        self._index.add(vectors.astype(np.float32))
        self._searched = None
        self.ids = np.concatenate([self.ids, ids])

    def search(self, vector: Vectors, limit: int, effort: int = 0) -> Neighbors:
        """Return the `limit` vectors with the largest inner product with `vector`; fewer if there are fewer.

        `effort` is efSearch of HNSW, or the number of IVF lists searched; 0 means the default.
        """
        if not len(self.ids):
            return Neighbors(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
        if self._searched is None:
            self._searched = _on_gpu(self._index) if self.kind == "ivf" and _has_gpu() else self._index
        query = np.ascontiguousarray(vector, dtype=np.float32)[None]
        scores, rows = self._searched.search(
            query, min(limit, len(self.ids)), params=self._parameters(limit, effort)
        )
        found = rows[0] >= 0
        return Neighbors(self.ids[rows[0][found]], scores[0][found])

    def write(self, file: Path) -> None:
        """Replace `file` atomically. Raises `OSError`."""
        partial = file.with_name(f"{file.name}.partial")
        if isinstance(self._index, VectorArray):
            self._index.write(partial)
        else:
            try:
                _faiss().write_index(self._index, str(partial))
            except RuntimeError as error:
                raise OSError(f"FAISS cannot write {partial}: {error}") from error
        with partial.open("r+b") as opened:
            checksum = 0
            while block := opened.read(_BLOCK):
                checksum = zlib.crc32(block, checksum)
            ids = self.ids.astype("<i8").tobytes()
            opened.write(ids)
            checksum = zlib.crc32(ids, checksum)
            opened.write(_FOOTER.pack(_MAGIC, opened.tell(), len(self.ids), checksum))
            opened.flush()
            os.fsync(opened.fileno())
        partial.replace(file)

    def _parameters(self, limit: int, effort: int) -> Any:
        match self.kind:
            case "hnsw":
                return _faiss().SearchParametersHNSW(efSearch=max(effort or HNSW_SEARCH, limit))
            case "ivf":
                return _faiss().SearchParametersIVF(nprobe=effort or IVF_PROBES)
            case _:
                return None


def _kind_of(index: Any) -> Kind:
    name = type(index).__name__
    if isinstance(index, VectorArray):
        return "array"
    return "hnsw" if "HNSW" in name else "ivf" if "IVF" in name else "flat"


def _has_gpu() -> bool:
    """Return whether faiss-gpu is installed and there is a GPU."""
    faiss = _faiss()
    return hasattr(faiss, "StandardGpuResources") and faiss.get_num_gpus() > 0


def _on_gpu(index: Any) -> Any:
    faiss = _faiss()
    resources = faiss.StandardGpuResources()
    copy = faiss.index_cpu_to_gpu(resources, 0, index)
    copy.citewell_resources = resources  # they must live as long as the copy
    return copy


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise CollectionError(
            f"More than {ARRAY_MAX:,} vectors are searched with FAISS, which is not installed.",
            install_command("dense"),
        ) from error
    return faiss
