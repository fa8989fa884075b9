"""Indexing on many machines: Ray runs the same work on each, and the shared collection divides it.

The workers claim the documents that they read and the pages that they encode
(`citewell.retriever.collection.protocol`), so that none is processed twice. If one dies, its claims end with
its connection to the database, and Ray starts its work again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from citewell.core.errors import CitewellError, InputError
from citewell.core.ray_cluster import RayWorkers, cluster_failed, connect
from citewell.core.settings import Settings
from citewell.pipeline.collections import catalog_of
from citewell.retriever.collection.indexing import Report, indexing

_POLL = 1.0  # seconds


class IndexingWork(NamedTuple):
    """What each worker does: fill the collection `name` from the sources, and encode it if it is dense."""

    sources: tuple[str, ...]
    name: str
    settings: Settings
    dense: bool | None


class _WorkerError(NamedTuple):
    """The error of a worker."""

    message: str
    hint: str


def index_on_ray(
    work: IndexingWork, workers: RayWorkers, on_progress: Callable[[int], None]
) -> dict[str, Report]:
    """Index the sources on the workers of a Ray cluster, and return the report of each source.

    Each worker must find the files under the same paths; a site is crawled by one worker alone. `on_progress`
    receives the number of pages in the collection about once a second. Raises `InputError` for a collection
    in a data folder, and `CitewellError` if the cluster or a worker fails.
    """
    if not work.settings.collection.store:
        raise InputError(
            "The engine ray needs a collection that the machines share.",
            "Name its PostgreSQL database: --store postgresql://user:password@host/name",
        )
    catalog = catalog_of(work.settings, work.name)
    is_new = catalog.version(work.name) is None
    started = connect(workers)
    import ray

    try:
        with indexing(catalog, work.name):  # creates it once, before the workers open it
            pass
        found = _run(work, workers, lambda: on_progress(catalog.open(work.name).count()))
    except BaseException:
        if is_new and catalog.version(work.name) and not catalog.open(work.name).count():
            catalog.remove(work.name)
        raise
    finally:
        if started:
            ray.shutdown()
    return {source: together([each[source] for each in found if source in each]) for source in work.sources}


def _run(work: IndexingWork, workers: RayWorkers, on_poll: Callable[[], None]) -> list[dict[str, Report]]:
    """Run the work on all workers, and return their reports by source."""
    import ray

    remote = ray.remote(num_cpus=workers.cpus, num_gpus=workers.gpus, max_retries=3)(_index)
    running = [remote.remote(work, number) for number in range(workers.workers)]
    waiting = running
    try:
        while waiting:
            _, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=_POLL)
            on_poll()
        found = ray.get(running)
    except ray.exceptions.RayError as error:
        raise cluster_failed(error) from error
    reports: list[dict[str, Report]] = []
    for each in found:
        if isinstance(each, _WorkerError):
            raise CitewellError(each.message, each.hint)
        reports.append(each)
    return reports


def together(reports: Sequence[Report]) -> Report:
    """Return the report of a run from those of its workers, all of which saw all documents."""
    failures = {failure.url: failure for report in reports for failure in report.failures}
    added, changed = (sum(getattr(report, kind) for report in reports) for kind in ("added", "changed"))
    seen = max((report.seen for report in reports), default=0)
    return Report(
        added=added,
        changed=changed,
        unchanged=seen - added - changed - len(failures),
        gone=[url for report in reports for url in report.gone],
        failures=list(failures.values()),
        notices=[notice for report in reports for notice in report.notices],
    )


def _index(work: IndexingWork, number: int) -> dict[str, Report] | _WorkerError:
    """Do the work in the worker `number`, from 0."""
    from citewell.pipeline.dense import dense_indexing
    from citewell.pipeline.indexing import index_source

    reports: dict[str, Report] = {}
    try:
        with (
            indexing(catalog_of(work.settings, work.name), work.name) as indexer,
            dense_indexing(indexer.store, work.settings, dense=work.dense) as encode,
        ):
            for source in work.sources:
                if number == 0 or "://" not in source:
                    reports[source] = index_source(source, indexer, work.settings, _ignore)
            encode()
    except CitewellError as error:
        return _WorkerError(error.message, error.hint)
    return reports


def _ignore(report: Report) -> None:
    """The driver counts pages itself."""
