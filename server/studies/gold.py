"""How far a rater agrees with the judgments that are known to be right, and the screening test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from msgspec import to_builtins

from citewell.core.errors import InputError
from citewell.server.api.study_schemas import ItemVerdict
from citewell.server.store.studies import StoredStudy, StoredStudyItem
from citewell.server.studies.drawing import screening_items
from citewell.server.studies.judgments import ItemJudgment
from citewell.server.studies.parts import part_levels

_COARSE = 3  # the highest level of a scale on which only equal scores agree


class GoldAgreement(NamedTuple):
    """How many of a rater's judgments of gold items agree, and of how many."""

    agreed: int
    total: int

    @property
    def share(self) -> float:
        """The share that agrees; 1 where there is nothing to judge."""
        return self.agreed / self.total if self.total else 1.0


def agreement_with_gold(judgments: Iterable[ItemJudgment]) -> GoldAgreement:
    """Count the parts of gold items in which a rater agrees.

    A comparison agrees if it prefers the same answer, a ranking in each pair that it orders alike, and a
    score of an answer or a reference if it is the same or, above 3, next to it. Trust in a reference, and the
    support and the relevance of a sentence, agree if they are the same. A flag agrees with the same flag
    only. A part that the form allowed the rater to leave out does not count.
    """
    verdicts = [agreed for judgment in judgments for agreed in _verdicts(judgment)]
    return GoldAgreement(sum(verdicts), len(verdicts))


def has_passed(
    study: StoredStudy, items: Sequence[StoredStudyItem], judgments: Sequence[ItemJudgment]
) -> bool | None:
    """Return whether a rater with these judgments passed the screening test; None before its end."""
    test = {item.id for item in screening_items(study, items)}
    done = [judgment for judgment in judgments if judgment.item.id in test]
    return agreement_with_gold(done).share >= study.passing if len(done) == len(test) else None


def check_tested(gold: Mapping[str, Any], verdict: ItemVerdict) -> None:
    """Raise `InputError` if a verdict, in the stored order, judges nothing that the gold judgment knows.

    Otherwise a rater passes the screening test by leaving out what the form makes optional.
    """
    known, given = _judged(gold), _judged(to_builtins(verdict))
    if known and known.isdisjoint(given) and not (gold.get("flag") or verdict.flag):
        names = sorted({str(name) for *_, name in known})
        raise InputError("This item belongs to the short test.", f"Judge at least one of {', '.join(names)}.")


def _judged(verdict: Mapping[str, Any]) -> frozenset[tuple[object, ...]]:
    """Return what a verdict judges, each with the name of its scale at the end."""
    found: set[tuple[object, ...]] = {("comparison", name) for name in verdict.get("comparison") or ()}
    for index, answer in enumerate(verdict.get("answers") or ()):
        found |= {(index, name) for name in answer.get("scores") or ()}
        for number, scores in enumerate(answer.get("references") or ()):
            found |= {(index, number, name) for name in scores}
        found |= {(index, place, name) for name, place in part_levels(answer)}
        if answer.get("rank") is not None:
            found.add((index, "rank"))
    return frozenset(found)


def _verdicts(judgment: ItemJudgment) -> Iterator[bool]:
    gold = judgment.item.gold
    if gold is None:
        return
    if gold.get("flag") or judgment.flag:
        yield judgment.flag == gold.get("flag")
        return
    for name, value in (gold.get("comparison") or {}).items():
        if name in judgment.comparison:
            yield _sign(judgment.comparison[name]) == _sign(value)
    answers = gold.get("answers") or []
    for index, answer in enumerate(answers):
        yield from _alike(answer.get("scores"), judgment.scores.get(index))
        for number, scores in enumerate(answer.get("references") or [], 1):
            yield from _alike(scores, judgment.references.get((index, number)))
        given = judgment.parts.get(index, {})
        yield from (given[part] == level for part, level in part_levels(answer).items() if part in given)
    ranks = [answer.get("rank") for answer in answers]
    if judgment.ranks and ranks and None not in ranks:
        for (gold_a, given_a), (gold_b, given_b) in combinations(zip(ranks, judgment.ranks, strict=True), 2):
            yield _sign(gold_a - gold_b) == _sign(given_a - given_b)


def _alike(gold: Mapping[str, int] | None, given: Mapping[str, int] | None) -> Iterator[bool]:
    """Yield whether each score of the gold judgment that the rater gave too agrees."""
    for name, level in (gold or {}).items():
        if given and name in given:
            yield abs(given[name] - level) <= int(level > _COARSE)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
