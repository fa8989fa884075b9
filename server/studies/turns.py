"""Whose turn it is: the next item of a rater, with what the rater may know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.server.store.database import ServiceStore
from citewell.server.store.studies import StoredStudy, StoredStudyItem
from citewell.server.studies.drawing import answer_order, item_order, needs_every_part, screening_items
from citewell.server.studies.gold import has_passed
from citewell.server.studies.judgments import judgments_of


@dataclass(frozen=True, kw_only=True)
class RaterTurn:
    """The next item of a rater; None after the last one, or after a screening test that was `failed`.

    `order` has the indices of its answers as this rater sees them, and `every` says whether all parts of the
    form are required. `waiting` counts the items that are left, this one included, and `skips` says whether
    another one may be judged first. `test` are the ids of those of the screening test that this rater must
    judge before any other.
    """

    item: StoredStudyItem | None
    order: Sequence[int] = ()
    every: bool = False
    done: int
    total: int
    waiting: int
    skips: bool
    failed: bool
    test: frozenset[str] = frozenset()


async def turn_of_rater(
    store: ServiceStore, study: StoredStudy, rater: str, after: str | None = None
) -> RaterTurn:
    """Return the turn of a rater; `after` is an item to skip for now. Raises `StoreError`."""
    items = await store.studies.items(study.id)
    done = await store.studies.judged_by(rater)
    waiting = [item for item in item_order(study, items, rater) if item.id not in done]
    test = frozenset(item.id for item in screening_items(study, items) if item.id not in done)
    allowed = [item for item in waiting if item.id in test] or waiting
    place = next((number for number, item in enumerate(allowed, 1) if item.id == after), 0)
    failed = await _has_failed(store, study, items, rater)
    item = None if failed else next(iter(allowed[place:] + allowed), None)
    return RaterTurn(
        item=item,
        order=answer_order(study, item, rater) if item else (),
        every=item is not None and needs_every_part(study, item),
        done=len(items) - len(waiting),
        total=len(items),
        waiting=len(waiting),
        skips=len(allowed) > 1,
        failed=failed,
        test=test,
    )


async def _has_failed(
    store: ServiceStore, study: StoredStudy, items: Sequence[StoredStudyItem], rater: str
) -> bool:
    if not study.screening:
        return False
    gold = [item for item in items if item.gold is not None]
    own = [each for each in await judgments_of(store, gold) if each.rater == rater]
    return has_passed(study, items, own) is False
