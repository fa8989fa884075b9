"""Names of raters that tell nobody who they are."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from sqlalchemy import select

from citewell.server.store.connection import Database
from citewell.server.store.tables import SALTS

_CHARACTERS = 12


@dataclass(frozen=True)
class Pseudonyms:
    """Turns the name of a rater into a hash, which only this database's salt can reproduce."""

    salt: str

    def of(self, rater: str | None) -> str | None:
        """Return the pseudonym of a rater; None for an unknown one."""
        if rater is None:
            return None
        return hmac.new(self.salt.encode(), rater.encode(), hashlib.sha256).hexdigest()[:_CHARACTERS]


async def pseudonyms_of(database: Database) -> Pseudonyms:
    """Return the pseudonyms of a database; raises `StoreError`."""
    rows = await database.rows(select(SALTS.c.salt).where(SALTS.c.id == "raters"))
    return Pseudonyms(rows[0]["salt"])
