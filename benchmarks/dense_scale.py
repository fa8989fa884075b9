"""Measure how indexes of vectors scale: NumPy, and FAISS's Flat, IVF and HNSW, at 10k, 100k and 1M passages.

`python -m benchmarks.dense_scale` builds each index as `citewell index --dense` does, in a separate process,
searches it with one question at a time, and compares the results with exact search in single precision.
`--quick` runs it at small sizes, for tests.

The vectors are made up, 384 values of unit length as all-MiniLM-L6-v2's are, by this law: a passage is the
sum of a topic (Zipf's law says how many pages a topic has), of its page (a lognormal number of passages each)
and of what is its own (in lognormal measure), each drawn from a normal distribution whose variance falls with
the dimension's rank to the power of -0.5. Cosines are like those of 44,291 passages of Wikipedia for Schools:
of random pairs 0.02 ± 0.10 (there 0.03 ± 0.09), of neighbors on a page 0.60 ± 0.13 (0.57 ± 0.13), of a
passage with its 10th and 100th nearest 0.63 and 0.36 (0.58 and 0.39). A question is a passage seen through
noise. `--unnormalized` gives vectors lengths that vary by a tenth, for encoders that do not normalize.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.results_files import output_option, save, table
from citewell.retriever.collection.neighbor_index import IVF_SAMPLE, Kind, NeighborIndex, kind_for, lists_for

DIMENSION = 384
SIZES = (10_000, 100_000, 1_000_000)
EFFORTS: dict[Kind, tuple[int, ...]] = {
    "array": (0,),
    "flat": (0,),
    "ivf": (8, 32, 64, 128),
    "hnsw": (100, 200, 400, 800),
}
QUICK = (500, 2_000)
QUESTIONS = 300
_WARM = 20  # questions that are asked before time is taken
LIMITS = (10, 100)
Matrix = NDArray[np.float32]

_TOPIC, _PAGE, _OWN, _NOISE = 0.5, 0.7, 0.7, 1.0
_SPREAD = 0.4
_DECAY = -0.5
_BLOCK = 50_000


class PassageLaw:
    """The law of this benchmark, which draws passages and questions."""

    def __init__(self, passages: int, *, unnormalized: bool) -> None:
        self._random = np.random.default_rng(0)
        self._scale = (np.arange(1, DIMENSION + 1) ** (_DECAY / 2)).astype(np.float32)
        self._scale /= np.linalg.norm(self._scale)
        self._unnormalized = unnormalized
        lengths = np.maximum(1, self._random.lognormal(2.8, 0.8, passages // 8 + 10)).astype(int)
        self._page_of = np.repeat(np.arange(len(lengths)), lengths)[:passages]
        while len(self._page_of) < passages:
            self._page_of = np.concatenate([self._page_of, self._page_of + self._page_of[-1] + 1])[:passages]
        pages = int(self._page_of[-1]) + 1
        topics = max(10, pages // 40)
        self._topics = self._normal(topics)
        weights = 1 / np.arange(1, topics + 1)
        self._topic_of = self._random.choice(topics, pages, p=weights / weights.sum())
        self._pages = self._normal(pages)

    def passages(self) -> Matrix:
        """Return all passages, an (n, dimension) array."""
        made = np.empty((len(self._page_of), DIMENSION), dtype=np.float32)
        for start in range(0, len(made), _BLOCK):
            page = self._page_of[start : start + _BLOCK]
            parts = _TOPIC**0.5 * self._topics[self._topic_of[page]] + _PAGE**0.5 * self._pages[page]
            own = self._random.lognormal(0, _SPREAD, (len(page), 1)).astype(np.float32) * _OWN**0.5
            made[start : start + len(page)] = self._finished(parts + own * self._normal(len(page)))
        return made

    def questions(self, passages: Matrix, number: int) -> Matrix:
        """Return questions, each about a random passage."""
        about = passages[self._random.choice(len(passages), number)]
        noise = _NOISE**0.5 * self._normal(number)
        return self._finished(about / np.linalg.norm(about, axis=1, keepdims=True) + noise)

    def _normal(self, number: int) -> Matrix:
        return self._random.standard_normal((number, DIMENSION), dtype=np.float32) * self._scale

    def _finished(self, vectors: Matrix) -> Matrix:
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        if self._unnormalized:
            vectors *= self._random.normal(1.0, 0.1, (len(vectors), 1)).astype(np.float32)
        return vectors


def exact(passages: Matrix, questions: Matrix, limit: int) -> NDArray[np.int64]:
    """Return the rows of the `limit` best passages for each question, in single precision."""
    scores = np.empty((len(questions), 0), dtype=np.float32)
    rows = np.empty((len(questions), 0), dtype=np.int64)
    for start in range(0, len(passages), _BLOCK):
        block = questions @ passages[start : start + _BLOCK].T
        scores = np.concatenate([scores, block], axis=1)
        rows = np.concatenate(
            [rows, np.tile(np.arange(start, start + block.shape[1]), (len(questions), 1))], axis=1
        )
        best = np.argpartition(-scores, min(limit, scores.shape[1] - 1), axis=1)[:, :limit]
        scores, rows = np.take_along_axis(scores, best, 1), np.take_along_axis(rows, best, 1)
    return np.take_along_axis(rows, np.argsort(-scores, axis=1), 1)


def build(kind: Kind, passages: Matrix, threads: int) -> NeighborIndex:
    """Build an index as `VectorFiles` does."""
    wanted = min(len(passages), IVF_SAMPLE * lists_for(len(passages))) if kind == "ivf" else 0
    chosen = np.sort(np.random.default_rng(0).choice(len(passages), wanted, replace=False))
    sample = passages[chosen].astype(np.float16)
    index = NeighborIndex.empty(kind, DIMENSION, len(passages), sample, threads)
    for start in range(0, len(passages), _BLOCK):
        block = passages[start : start + _BLOCK]
        index.add(np.arange(start, start + len(block)), block.astype(np.float16))
    return index


def measure(size: int, kind: Kind, threads: int, *, unnormalized: bool, questions: int) -> dict[str, Any]:
    """Build one index and search it with each effort; runs in a separate process."""
    law = PassageLaw(size, unnormalized=unnormalized)
    passages = law.passages()
    asked = law.questions(passages, questions)
    limit = max(LIMITS)
    right = exact(passages, asked, limit)
    build("flat", passages[:10], threads)  # FAISS is loaded
    before = resident_megabytes()
    started = time.perf_counter()
    index = build(kind, passages, threads)
    result: dict[str, Any] = {
        "passages": size,
        "kind": kind,
        "build_seconds": round(time.perf_counter() - started, 1),
        "memory_megabytes": round(resident_megabytes() - before),
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.index"
        index.write(file)
        started = time.perf_counter()
        NeighborIndex.read(file, DIMENSION)
        result |= {
            "file_megabytes": round(file.stat().st_size / 1e6),
            "read_seconds": round(time.perf_counter() - started, 2),
        }
    result["searches"] = [search(index, asked, right, limit, effort) for effort in EFFORTS[kind]]
    return result


def search(
    index: NeighborIndex, questions: Matrix, right: NDArray[np.int64], limit: int, effort: int
) -> dict[str, Any]:
    """Ask the questions one by one; return the latency, and the recall of the right passages."""
    seconds = []
    found = []
    for question in questions[:_WARM]:
        index.search(question, limit, effort)
    for question in questions:
        started = time.perf_counter()
        found.append(index.search(question, limit, effort).ids)
        seconds.append(time.perf_counter() - started)
    milliseconds = np.quantile(np.array(seconds) * 1000, [0.5, 0.99])
    result: dict[str, Any] = {"effort": effort}
    for name, value in zip(("p50", "p99"), milliseconds, strict=True):
        result[f"{name}_milliseconds"] = round(float(value), 2)
    for most in LIMITS:
        shares = [
            len(set(ids[:most]) & set(row[:most])) / most for ids, row in zip(found, right, strict=True)
        ]
        result[f"recall@{most}"] = round(float(np.mean(shares)), 4)
    return result


def resident_megabytes() -> float:
    """Return the current resident memory of this process, in megabytes (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def in_own_process(arguments: argparse.Namespace, size: int, kind: Kind) -> dict[str, Any]:
    """Measure one index in a separate process, which isolates its memory."""
    command = [sys.executable, "-m", "benchmarks.dense_scale", "--one", str(size), kind]
    command += ["--threads", str(arguments.threads), "--questions", str(arguments.questions)]
    command += ["--unnormalized"] * arguments.unnormalized
    # FAISS and NumPy read the number of threads when they are loaded.
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(arguments.threads))
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def show(results: list[dict[str, Any]]) -> None:
    """Print the results as a Markdown table."""
    header = ["passages", "index", "effort", "built, s", "memory, MB", "p50, ms", "p99, ms"]
    header += [f"recall@{limit}" for limit in LIMITS]
    rows = []
    for result in results:
        for found in result["searches"]:
            kind = result["kind"] + (" (default)" if result["default"] else "")
            row = [f"{result['passages']:,}", kind, found["effort"] or "-", result["build_seconds"]]
            row += [result["memory_megabytes"], found["p50_milliseconds"], found["p99_milliseconds"]]
            rows.append(row + [f"{found[f'recall@{limit}']:.3f}" for limit in LIMITS])
    print(table(header, rows), flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, and nothing is written")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--kinds", nargs="+", default=list(EFFORTS), choices=list(EFFORTS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--unnormalized", action="store_true")
    output_option(parser)
    parser.add_argument("--one", nargs=2, metavar=("SIZE", "KIND"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        size, kind = int(arguments.one[0]), arguments.one[1]
        options = {"unnormalized": arguments.unnormalized, "questions": arguments.questions}
        print(json.dumps(measure(size, kind, arguments.threads, **options)))
        return
    results = []
    for size in QUICK if arguments.quick else arguments.sizes:
        for kind in arguments.kinds:
            result = in_own_process(arguments, size, kind)
            results.append(result | {"default": kind == kind_for(size)})
            print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    show(results)
    if not arguments.quick:
        law = "unnormalized" if arguments.unnormalized else "unit length"
        described = {"threads": arguments.threads, "questions": arguments.questions, "vectors": law}
        save("dense_scale", described | {"results": results}, arguments.output)


if __name__ == "__main__":
    main()
