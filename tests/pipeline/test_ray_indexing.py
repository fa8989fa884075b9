"""Indexing on a real Ray: two workers share the documents of a source, for one collection in PostgreSQL."""

from __future__ import annotations

import importlib.util
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from citewell.core.errors import CitewellError, InputError
from citewell.core.ray_cluster import RayWorkers, connect
from citewell.core.settings import Settings, load_settings
from citewell.pipeline.collections import catalog_of
from citewell.pipeline.ray_indexing import IndexingWork, index_on_ray

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

PAGES = 300


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    connect(RayWorkers(workers=2))
    yield
    import ray

    ray.shutdown()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    part = "In part {part} of page {n}, whales sing of the deep sea, and other whales listen from afar. " * 12
    rows = [
        {"url": f"https://a.example/{n}", "text": "\n\n".join(part.format(part=k, n=n) for k in range(6))}
        for n in range(PAGES)
    ]
    file = tmp_path / "pages.jsonl"
    file.write_text("\n".join([*map(json.dumps, rows), "{"]))
    return file


@pytest.fixture
def settings(tmp_path: Path, database: str) -> Settings:
    return load_settings({"data_dir": tmp_path / "data", "collection.store": database})


def run(settings: Settings, source: Path, on_progress: Callable[[int], None] = lambda pages: None) -> Any:
    work = IndexingWork((str(source),), "shelf", settings, None)
    return index_on_ray(work, RayWorkers(workers=2), on_progress)[str(source)]


def test_two_workers_read_each_page_once_even_if_one_is_killed(settings: Settings, source: Path) -> None:
    killed: list[int] = []

    def kill_one(pages: int) -> None:
        if pages >= 64 and not killed and (found := indexers()):
            found[0].kill()
            killed.append(found[0].pid)

    stop = threading.Event()
    catalog = catalog_of(settings, "shelf")

    def watch() -> None:
        while not stop.wait(0.02) and not killed:
            if catalog.version("shelf"):
                kill_one(catalog.open("shelf").count())

    watcher = threading.Thread(target=watch)
    watcher.start()
    report = run(settings, source)
    stop.set()
    watcher.join()
    assert killed
    assert catalog.open("shelf").count() == PAGES
    assert [failure.url for failure in report.failures] == [f"{source}:{PAGES + 1}"]
    with psycopg.connect(settings.collection.store.get_secret_value()) as connection:
        [(counted,)] = connection.execute(
            "SELECT sum(bodies) FROM (SELECT * FROM citewell_terms_1 UNION ALL "
            "SELECT * FROM citewell_new_terms_1) AS counts WHERE term = 'whale'"
        ).fetchall()
        [(stored,)] = connection.execute("SELECT count(*) FROM citewell_passages_1").fetchall()
    assert counted == stored > PAGES


def indexers() -> list[psutil.Process]:
    """Return Ray's processes that index, without those that end meanwhile."""
    found = []
    for child in psutil.Process(os.getpid()).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "_index" in child.name():
                found.append(child)
    return found


def test_a_second_run_finds_everything_unchanged(settings: Settings, source: Path) -> None:
    first, second = run(settings, source), run(settings, source)
    assert (first.added, first.unchanged) == (PAGES, 0)
    assert (second.added, second.changed, second.unchanged) == (0, 0, PAGES)


def test_a_collection_in_a_data_folder_is_refused(tmp_path: Path, source: Path) -> None:
    with pytest.raises(InputError, match="needs a collection that the machines share"):
        run(load_settings({"data_dir": tmp_path}), source)


def test_the_error_of_a_worker_is_reported(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(CitewellError, match="nowhere"):
        run(settings, tmp_path / "nowhere")
    assert catalog_of(settings, "shelf").version("shelf") is None, "an empty collection is left"
