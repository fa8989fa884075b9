"""Collections that are not for everyone: what a caller may read, and what its questions search."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

from citewell.core.errors import CitewellError, InputError
from citewell.core.settings import Settings
from citewell.pipeline.chosen_providers import chosen_providers, searched_collections
from citewell.pipeline.collections import HANDBOOK, collection_names
from citewell.server.access.authenticator import Caller
from citewell.server.access.keys import ApiKey
from citewell.server.access.readers import Readers, hidden_from
from citewell.server.store.readers import ReaderStore
from citewell.server.work.options import QuestionOptions
from citewell.server.work.pipelines import NoCollectionError
from citewell.server.work.places import Place

_SECONDS = 1.0  # that a list is remembered, as a key is


class NothingToSearchError(CitewellError):
    """The caller may read no collection that is searched by default."""

    status = 403

    def __init__(self) -> None:
        """Say what to do."""
        super().__init__(
            "You may not read what is searched by default.",
            "Choose what to search: below the question, or in `collection` or `search`.",
        )


class SharedCollections:
    """The lists of readers in the store that `get_readers` returns, which are remembered for a second.

    `get_readers` raises `NotReadyError` until the store is open. Whoever sees everything needs no store.
    """

    def __init__(
        self,
        settings: Settings,
        get_readers: Callable[[], ReaderStore],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._get_readers = get_readers
        self._clock = clock
        self._known: Mapping[str, Readers] = {}
        self._until = 0.0

    async def readers(self, name: str) -> Readers:
        """Return who may read a collection; raises `StoreError`."""
        return (await self._all()).get(name, Readers())

    async def share(self, name: str, readers: Readers) -> None:
        """Let only `readers` read a collection; raises `StoreError`."""
        await self._get_readers().set(name, readers)
        self._until = 0.0

    async def hidden(self, caller: Caller | None) -> frozenset[str]:
        """Return the collections that a caller, or without one somebody unknown, may not read.

        Raises `StoreError`.
        """
        if caller is not None and caller.sees_all:
            return frozenset()
        return hidden_from(caller, await self._all())

    async def names(self, caller: Caller) -> list[str]:
        """Return the names of the collections that a caller may read; raises `StoreError`."""
        hidden = await self.hidden(caller)
        names = await asyncio.to_thread(collection_names, self._settings)
        return [name for name in names if name not in hidden]

    async def check(self, caller: Caller, *collections: str) -> None:
        """Raise `NoCollectionError` for a collection that is hidden from a caller, as if it were missing."""
        if await self.hidden(caller) and collections:
            known = await self.names(caller)
            for name in collections:
                if name not in (*known, HANDBOOK):
                    raise NoCollectionError(name, known)

    async def allowed(self, options: QuestionOptions, caller: Caller) -> QuestionOptions:
        """Return a question that searches only what its caller may read.

        Raises `NoCollectionError`, `NothingToSearchError` and `StoreError`.
        """
        await self.check(caller, *options.collection)
        if options.collection or options.search:
            return options
        hidden = await self.hidden(caller)
        wanted = self._settings.search
        providers = chosen_providers(wanted) if hidden else ()
        own = searched_collections(providers, wanted)
        if hidden.isdisjoint(own):
            return options
        rest = tuple(name for name in own if name not in hidden)
        others = tuple(name for name in get_args(Place) if name in providers)
        if not rest and not others:
            raise NothingToSearchError
        return replace(options, collection=rest, search=others)

    async def _all(self) -> Mapping[str, Readers]:
        if self._clock() >= self._until:
            self._known = await self._get_readers().all()
            self._until = self._clock() + _SECONDS
        return self._known


def check_shareable(name: str) -> None:
    """Raise `InputError` for the handbook, which everyone may read."""
    if name == HANDBOOK:
        raise InputError("The handbook is for everyone.", "Name a collection of your own.")


def check_readers(readers: Readers, before: Readers, keys: Iterable[ApiKey], accounts: Iterable[str]) -> None:
    """Raise `InputError` for a new reader that is no active key or account, such as one that is misspelt."""
    for name in sorted(readers.keys - before.keys - active_names(keys)):
        raise InputError(f"No active key has the name {name!r}.", "`citewell keys list` shows the names.")
    for name in sorted(readers.accounts - before.accounts - set(accounts)):
        raise InputError(
            f"The account {name!r} may not use this service.", "The setting server.accounts lets it in."
        )


def active_names(keys: Iterable[ApiKey]) -> set[str]:
    """Return the names of the keys that are accepted."""
    now = datetime.now(UTC)
    return {key.name for key in keys if key.is_active(now)}
