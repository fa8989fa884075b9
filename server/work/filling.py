"""What fills a collection in a job of the service: a source, or documents that people added."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from citewell.core.settings import Settings
from citewell.core.stopping import StopSignal
from citewell.pipeline.adding import GivenDocument, add_given
from citewell.pipeline.indexing import index_source
from citewell.retriever.collection.adding import ADDED, DocumentOutcome
from citewell.retriever.collection.indexing import Indexer, Report


class IndexingJob(Protocol):
    """Work that fills a collection, in a thread of its own."""

    address: str
    """The folder, file or URL that pages come from."""

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
        self.address = address
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
        return index_source(self.address, indexer, settings, on_progress, stop=stop, within=self._within)

    def close(self) -> None:
        """See `IndexingJob.close`."""


class GivenDocuments:
    """The indexing of documents that were handed over, whose files are in a folder of their own."""

    address = ADDED

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
