"""Storing what a rater says of an item: as ratings, a comparison and a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Insert

from citewell.server.api.study_schemas import ItemVerdict, JudgedAnswer
from citewell.server.store.comparisons import StoredComparison
from citewell.server.store.database import ServiceStore
from citewell.server.store.ids import new_id
from citewell.server.store.rankings import StoredRanking
from citewell.server.store.ratings import StoredRating
from citewell.server.store.studies import StoredStudyItem
from citewell.server.studies.checking import check_verdict
from citewell.server.studies.forms.form import StudyForm
from citewell.server.studies.gold import check_tested
from citewell.server.studies.parts import judged_parts


@dataclass(frozen=True, kw_only=True)
class Judging:
    """A rater at an item of a study, who may leave out optional parts unless `every` part is required.

    An item of the screening test is `tested`: something that its gold judgment knows must be judged.
    """

    form: StudyForm
    item: StoredStudyItem
    rater: str
    key_id: str | None
    every: bool
    tested: bool


def in_stored_order(verdict: ItemVerdict, order: Sequence[int]) -> ItemVerdict:
    """Return a verdict on answers that were shown in `order`, in the order in which they are stored."""
    swapped = list(order) == [1, 0]
    places = sorted(range(len(order)), key=order.__getitem__)
    answers = verdict.answers
    return ItemVerdict(
        answers=[answers[place] for place in places] if len(answers) == len(order) else answers,
        comparison={name: -value if swapped else value for name, value in verdict.comparison.items()},
        flag=verdict.flag,
        comment=verdict.comment,
    )


async def store_verdict(store: ServiceStore, judging: Judging, verdict: ItemVerdict) -> None:
    """Store a verdict in the stored order of the answers, all of it or nothing.

    Raises `InputError` if it does not fit the form, and `StoreError`.
    """
    check_verdict(judging.form, judging.item.answers, verdict, every=judging.every)
    if judging.tested:
        check_tested(judging.item.gold or {}, verdict)
    await store.database.change_all(_changes(store, judging, verdict))


def _changes(store: ServiceStore, judging: Judging, verdict: ItemVerdict) -> list[Insert]:
    form, item, now = judging.form, judging.item, datetime.now(UTC)
    about: dict[str, Any] = {
        "key_id": judging.key_id,
        "rater": judging.rater,
        "study_item_id": item.id,
        "question": item.question,
        "comment": (verdict.comment or "").strip(),
        "created": now,
    }
    answers = [_kept(answer) for answer in item.answers]
    if verdict.flag is not None:
        flagged = StoredComparison(**about, id=new_id(), answers=answers, ratings={}, flag=verdict.flag)
        return [store.comparisons.adding(flagged)]
    changes = []
    if verdict.comparison:
        weighed = [
            kept | _parts(given, answer)
            for kept, given, answer in zip(answers, verdict.answers, item.answers, strict=True)
        ]
        opinion = StoredComparison(**about, id=new_id(), answers=weighed, ratings=dict(verdict.comparison))
        changes.append(store.comparisons.adding(opinion))
    if ranks := [given.rank for given in verdict.answers if given.rank is not None]:
        ranking = StoredRanking(**about, id=new_id(), answers=answers, ranks=ranks)
        changes.append(store.rankings.adding(ranking))
    if form.answer_scales(len(item.answers)) or form.reference:
        changes.append(store.ratings.adding(_ratings(judging, verdict, now)))
    return changes


def _kept(answer: Mapping[str, Any]) -> dict[str, Any]:
    references = answer["references"]
    return {
        "text": answer["text"],
        "references": [reference["text"] for reference in references],
        "titles": [reference["title"] for reference in references],
        "answer_id": None,
        "system": answer["system"],
    }


def _parts(given: JudgedAnswer, answer: Mapping[str, Any]) -> dict[str, Any]:
    sentences = [sentence["text"] for sentence in answer["sentences"]]
    return judged_parts(given.trust, given.claims, len(answer["references"]), sentences)


def _ratings(judging: Judging, verdict: ItemVerdict, now: datetime) -> list[StoredRating]:
    found = []
    for index, given in enumerate(verdict.answers):
        place = f"{judging.item.id}/{index}"
        scored = [("answer", place, given.scores)]
        scored += [
            ("reference", f"{place}#{number}", scores) for number, scores in enumerate(given.references, 1)
        ]
        system = judging.item.answers[index]["system"]
        found += [
            StoredRating(new_id(), judging.rater, kind, where, scores, now, system, judging.item.id)
            for kind, where, scores in scored
        ]
    return found
