"""Opening the store of the service."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sqlalchemy import func, select

from citewell.server.store.address import read_address
from citewell.server.store.answers import AnswerStore
from citewell.server.store.comparisons import Comparisons
from citewell.server.store.connection import Database
from citewell.server.store.demonstrations import Demonstrations
from citewell.server.store.errors import StoreUnreachableError
from citewell.server.store.feedback import FeedbackStore
from citewell.server.store.jobs import JobStore
from citewell.server.store.keys import KeyStore
from citewell.server.store.rankings import Rankings
from citewell.server.store.raters import Pseudonyms, pseudonyms_of
from citewell.server.store.ratings import Ratings
from citewell.server.store.readers import ReaderStore
from citewell.server.store.requests import RequestStore
from citewell.server.store.studies import Studies
from citewell.server.store.threads import ThreadStore


class ServiceStore:
    """All stored data, by kind."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.answers = AnswerStore(database)
        self.threads = ThreadStore(database)
        self.feedback = FeedbackStore(database)
        self.comparisons = Comparisons(database)
        self.rankings = Rankings(database)
        self.ratings = Ratings(database)
        self.studies = Studies(database)
        self.demonstrations = Demonstrations(database)
        self.keys = KeyStore(database)
        self.readers = ReaderStore(database)
        self.jobs = JobStore(database)
        self.requests = RequestStore(database)

    async def pseudonyms(self) -> Pseudonyms:
        """Return the names under which raters are exported."""
        return await pseudonyms_of(self.database)

    async def ping(self) -> None:
        """Raise `StoreError` if the database does not respond."""
        await self.database.rows(select(func.now()))


@asynccontextmanager
async def open_store(url: str, *, patient: bool = False) -> AsyncGenerator[ServiceStore]:
    """Open the database at a URL such as `sqlite:////folder/citewell.sqlite3`, and migrate its tables.

    What earlier processes left running is marked as ended. Raises `StoreError` if the database cannot be
    used, and `SettingsError` for an invalid URL. A `patient` store opens even if the database cannot be
    reached: its methods raise `StoreError` until it can.
    """
    database = Database(read_address(url))
    try:
        try:
            await database.open()
        except StoreUnreachableError:
            if not patient:
                raise
        yield ServiceStore(database)
    finally:
        await database.close()
