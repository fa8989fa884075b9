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
        with self._explained(self._root, "readable"):
            folders = self._root.iterdir() if self._root.is_dir() else ()
            return sorted(folder.name for folder in folders if (folder / "pages.db").is_file())

    def version(self, name: str) -> CollectionVersion | None:
        """See `Catalog.version`."""
        folder = self.folder(name)
        with self._explained(folder, "readable"):
            pages = _stat(folder / "pages.db")
            index = _stat(folder / "index" / "meta.json")  # written by every run that changes pages
        if pages is None:
            return None
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
            with self._explained(folder, "writable"):
                for each in (self._root.parent, self._root, folder):
                    make_private_folder(each)
                lock = FileLock(folder / "lock")
                opened.callback(lock.release)
                try:
                    lock.acquire(timeout=0.2)
                except Timeout:
                    on_wait()
                    lock.acquire()
            store = EmbeddedStore(folder, make=True, rebuild=rebuild, threads=self._threads)
            opened.callback(store.close)
            yield store

    def remove(self, name: str) -> None:
        """See `Catalog.remove`."""
        folder = self.folder(name)
        if name not in self.names():
            raise missing_collection(name, self.names())
        if folder.is_symlink():
            raise CollectionError(
                f"The collection {name!r} is a link to {folder.resolve()}.",
                "Delete that folder and the link.",
            )
        with self._explained(folder, "writable"):
            try:
                with FileLock(folder / "lock", blocking=False):
                    shutil.rmtree(folder)
            except Timeout:
                raise CollectionError(
                    f"Another run is writing the collection {name!r}.", "Remove it when that run has ended."
                ) from None

    @contextmanager
    def _explained(self, folder: Path, able: str) -> Iterator[None]:
        """Raise `CollectionError` where a folder is not `able`: "readable" or "writable"."""
        try:
            yield
        except OSError as error:
            raise CollectionError(
                f"The collection folder {folder} is not {able}: {error.strerror}.",
                f"Set CITEWELL_DATA_DIR to a {able} folder.",
            ) from error


def _stat(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
