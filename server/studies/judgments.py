"""The judgments of a study, put together from what is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from citewell.server.store.database import ServiceStore
from citewell.server.store.studies import StoredStudyItem
from citewell.server.studies.parts import PartLevels, part_levels

_Scores = Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class ItemJudgment:
    """What a rater said of an item, in the stored order of its answers.

    `scores` are those of the answers by index, and `references` those of references, by answer and number.
    `parts` are the levels of trust, support and relevance, by answer.
    """

    item: StoredStudyItem
    rater: str
    created: datetime
    flag: str | None = None
    comparison: _Scores = field(default_factory=dict)
    ranks: tuple[int, ...] = ()
    scores: Mapping[int, _Scores] = field(default_factory=dict)
    references: Mapping[tuple[int, int], _Scores] = field(default_factory=dict)
    parts: Mapping[int, PartLevels] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """The systems of the answers."""
        return [answer["system"] for answer in self.item.answers]


async def judgments_of(store: ServiceStore, items: Sequence[StoredStudyItem]) -> list[ItemJudgment]:
    """Return each rater's last judgment of each item, oldest first; raises `StoreError`."""
    by_id = {item.id: item for item in items}
    comparisons = await store.comparisons.of_items(by_id)
    rankings = await store.rankings.of_items(by_id)
    ratings = await store.ratings.of_items(by_id)
    # The parts of a judgment have one time; it takes the place of all parts of the one before.
    last: dict[tuple[str, str], datetime] = {}
    said: Any
    for said in (*comparisons, *rankings, *ratings):
        place = said.rater, said.study_item_id
        last[place] = max(said.created, last.get(place, said.created))
    found: dict[tuple[str, str], ItemJudgment] = {}

    def at(said: Any) -> ItemJudgment:
        before = found.get((said.rater, said.study_item_id))
        return before or ItemJudgment(item=by_id[said.study_item_id], rater=said.rater, created=said.created)

    def stands(said: Any) -> bool:
        return bool(said.created == last[said.rater, said.study_item_id])

    for opinion in filter(stands, comparisons):
        parts = {index: part_levels(answer) for index, answer in enumerate(opinion.answers)}
        judgment = replace(at(opinion), comparison=opinion.ratings, flag=opinion.flag, parts=parts)
        found[judgment.rater, judgment.item.id] = judgment
    for ranking in filter(stands, rankings):
        judgment = replace(at(ranking), ranks=tuple(ranking.ranks))
        found[judgment.rater, judgment.item.id] = judgment
    for rating in filter(stands, ratings):
        judgment = at(rating)
        answer, _, number = rating.item.rpartition("/")[2].partition("#")
        if number:
            place = (int(answer), int(number))
            judgment = replace(judgment, references={**judgment.references, place: rating.scores})
        else:
            judgment = replace(judgment, scores={**judgment.scores, int(answer): rating.scores})
        found[judgment.rater, judgment.item.id] = judgment
    return sorted(found.values(), key=lambda each: each.created)
