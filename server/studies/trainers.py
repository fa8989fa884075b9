"""The raters whose other judgments may train a scorer."""

from __future__ import annotations

from sqlalchemy import select

from citewell.server.store.database import ServiceStore
from citewell.server.store.tables import FEEDBACK


async def trainers_of(store: ServiceStore) -> set[str]:
    """Return the raters with a key who judged answers outside of studies; raises `StoreError`.

    They compared or ranked answers, or gave one a thumb, even if it was taken back.
    """
    thumbs = select(FEEDBACK.c.key_id).where(
        FEEDBACK.c.key_id.is_not(None), FEEDBACK.c.thumb != 0, FEEDBACK.c.sentence.is_(None)
    )
    voted = {f"key {row['key_id']}" for row in await store.database.rows(thumbs.distinct())}
    return voted | await store.comparisons.raters_elsewhere() | await store.rankings.raters_elsewhere()
