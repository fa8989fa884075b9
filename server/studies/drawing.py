"""Every order and draw of a study, from its seed: the same for a rater who comes back."""

from __future__ import annotations

import random
from collections.abc import Sequence

from citewell.server.store.studies import StoredStudy, StoredStudyItem


def seeded(*names: object) -> random.Random:
    """Return a source of random numbers that is the same for the same names."""
    return random.Random("/".join(map(str, names)))  # noqa: S311 - nothing secret is drawn


def answer_order(study: StoredStudy, item: StoredStudyItem, rater: str) -> list[int]:
    """Return the indices of an item's answers in the order in which a rater sees them."""
    order = list(range(len(item.answers)))
    seeded(study.seed, "answers", item.position, rater).shuffle(order)
    return order


def item_order(study: StoredStudy, items: Sequence[StoredStudyItem], rater: str) -> list[StoredStudyItem]:
    """Return the items in the order of a rater: the screening test, then the others at random."""
    screening = screening_items(study, items)
    others = [item for item in items if item not in screening]
    seeded(study.seed, "items", rater).shuffle(others)
    return [*screening, *others]


def screening_items(study: StoredStudy, items: Sequence[StoredStudyItem]) -> list[StoredStudyItem]:
    """Return the gold items of the screening test, the same for all raters."""
    return [item for item in items if item.gold is not None][: study.screening]


def needs_every_part(study: StoredStudy, item: StoredStudyItem) -> bool:
    """Return whether an item is one of those on which every part of the form is required.

    WebGPT required every part 10% of the time (appendix C.2, https://arxiv.org/abs/2112.09332).
    """
    drawn = seeded(study.seed, "required", item.position).random()
    return drawn < study.share_required
