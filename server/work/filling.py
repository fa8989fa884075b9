"""What fills a collection in a job of the service: a source, all its sources again, or added documents."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from citewell.core.settings import Settings
from citewell.core.stopping import StopSignal
from citewell.pipeline.adding import GivenDocument, add_given
from citewell.pipeline.indexing import index_source
from citewell.pipeline.refreshing import refresh
from citewell.retriever.collection.adding import ADDED, DocumentOutcome
from citewell.retriever.collection.indexing import Indexer, Report


class IndexingJob(Protocol):
    """Work that fills a collection, in a thread of its own."""

    addresses: tuple[str, ...]
    """The folders, files and URLs that pages come from."""

    @property
    def documents(self) -> list[dict[str, Any]] | None:
        """What became of each document so far, if they were given one by one."""
        ...

    def fill(
        self,
        name: str,
        indexer: Indexer,
        settings: Settings,
        on_progress: Callable[[Report], None],
        stop: StopSignal,
    ) -> Report:
        """Fill the collection `name`."""
        ...

    def close(self) -> None:
        """Delete what was kept for the work."""
        ...


class SourceWork:
    """The indexing of a file, a folder or a site."""

    documents = None

    def __init__(self, address: str, within: Path | None) -> None:
        """Index `address`; files out of the folder `within` are not read."""
        self.addresses: tuple[str, ...] = (address,)
        self._address = address
        self._within = within

    def fill(
        self,
        name: str,
        indexer: Indexer,
        settings: Settings,
        on_progress: Callable[[Report], None],
        stop: StopSignal,
    ) -> Report:
        """See `IndexingJob.fill`."""
        return index_source(self._address, indexer, settings, on_progress, stop=stop, within=self._within)

    def close(self) -> None:
        """See `IndexingJob.close`."""


class RefreshWork:
    """The refresh of a collection from its own sources."""

    documents = None

    def __init__(self, addresses: Sequence[str], within: Path | None, check: Callable[[str], None]) -> None:
        """Read `addresses` again, but for those of which `check` raises `InputError`; see `SourceWork`."""
        self.addresses = tuple(addresses)
        self._within = within
        self._check = check

    def fill(
        self,
        name: str,
        indexer: Indexer,
        settings: Settings,
        on_progress: Callable[[Report], None],
        stop: StopSignal,
    ) -> Report:
        """See `IndexingJob.fill`."""
        done = Report()

        def on_source(now: Report) -> None:
            on_progress(done.plus(now))

        for _, report in refresh(
            indexer, settings, on_source, stop=stop, within=self._within, check=self._check
        ):
            done = done.plus(report)
        return done

    def close(self) -> None:
        """See `IndexingJob.close`."""


class GivenDocuments:
    """The indexing of documents that were handed over, whose files are in a folder of their own."""

    addresses: tuple[str, ...] = (ADDED,)

    def __init__(self, given: Sequence[GivenDocument], folder: Path) -> None:
        """`folder` is deleted at the end."""
        self.given = given
        self._folder = folder
        self._states: list[dict[str, Any]] = [{"name": each.name, "status": "waiting"} for each in given]

    @property
    def documents(self) -> list[dict[str, Any]]:
        """See `IndexingJob.documents`."""
        return list(self._states)

    def fill(
        self,
        name: str,
        indexer: Indexer,
        settings: Settings,
        on_progress: Callable[[Report], None],
        stop: StopSignal,
    ) -> Report:
        """See `IndexingJob.fill`."""

        def on_outcome(report: Report, outcome: DocumentOutcome) -> None:
            values = outcome._asdict()
            position = values.pop("position")
            self._states[position] = {"name": self.given[position].name} | values
            on_progress(report)

        return add_given(name, self.given, indexer, settings, on_outcome, stop)

    def close(self) -> None:
        """See `IndexingJob.close`."""
        shutil.rmtree(self._folder, ignore_errors=True)
