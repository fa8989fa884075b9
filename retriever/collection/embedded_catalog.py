"""The collections in a data folder of this computer."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from citewell.core.errors import CollectionError
from citewell.core.paths import make_private_folder
from citewell.retriever.collection.embedded_store import EmbeddedStore
from citewell.retriever.collection.naming import check_name, missing_collection
from citewell.retriever.collection.protocol import CollectionVersion


class EmbeddedCatalog:
    """The collections below `data_dir`, each a folder; implements `Catalog`."""

    def __init__(self, data_dir: Path, threads: int = 1) -> None:
        """`threads` is the number of threads that build an index of vectors."""
        self._root = data_dir / "collections"
        self._threads = threads

    def folder(self, name: str) -> Path:
        """Return the folder of a collection, which need not exist."""
        check_name(name)
        return self._root / name

    def names(self) -> list[str]:
        """See `Catalog.names`."""
        return sorted(file.parent.name for file in self._root.glob("*/pages.db"))

    def version(self, name: str) -> CollectionVersion | None:
        """See `Catalog.version`."""
        pages = _stat(self.folder(name) / "pages.db")
        if pages is None:
            return None
        index = _stat(self.folder(name) / "index" / "meta.json")  # written by every run that changes pages
        content = f"{index.st_ino}:{index.st_mtime_ns}" if index else ""
        return CollectionVersion(str(pages.st_ino), content)

    def open(self, name: str) -> EmbeddedStore:
        """See `Catalog.open`."""
        folder = self.folder(name)
        if not (folder / "pages.db").is_file():
            raise missing_collection(name, self.names())
        return EmbeddedStore(folder, threads=self._threads)

    @contextmanager
    def writing(
        self, name: str, on_wait: Callable[[], None] = lambda: None, *, rebuild: bool = False
    ) -> Iterator[EmbeddedStore]:
        """See `Catalog.writing`. Only one run writes at a time; a second one waits."""
        folder = self.folder(name)
        with ExitStack() as opened:
            try:
                for each in (self._root.parent, self._root, folder):
                    make_private_folder(each)
                lock = FileLock(folder / "lock")
                opened.callback(lock.release)
                try:
                    lock.acquire(timeout=0.2)
                except Timeout:
                    on_wait()
                    lock.acquire()
            except OSError as error:
                raise CollectionError(
                    f"The collection folder {folder} is not writable: {error.strerror}.",
                    "Set CITEWELL_DATA_DIR to a writable folder.",
                ) from error
            store = EmbeddedStore(folder, make=True, rebuild=rebuild, threads=self._threads)
            opened.callback(store.close)
            yield store

    def remove(self, name: str) -> None:
        """See `Catalog.remove`."""
        folder = self.folder(name)
        if name not in self.names():
            raise missing_collection(name, self.names())
        shutil.rmtree(folder)


def _stat(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
