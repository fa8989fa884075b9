"""Questions with different answers, which can be compared or ranked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from citewell.core.text import squeeze
from citewell.server.access.authenticator import Caller
from citewell.server.api.visibility import whose
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.comparisons import StoredComparison
from citewell.server.store.database import ServiceStore
from citewell.server.store.rankings import StoredRanking

_MOST_ANSWERS = 300
_MOST_RANKED = 9  # answers of a ranking: InstructGPT's raters had four to nine


@dataclass(frozen=True, slots=True)
class QuestionWithAnswers:
    """A question with its different answers, newest first; the pair is the first two.

    `compared` says whether the two were compared, and `ranked` whether all were ranked.
    """

    different: tuple[StoredAnswer, ...]
    compared: bool
    ranked: bool

    @property
    def id(self) -> str:
        """The id of the newest answer."""
        return self.different[0].id

    @property
    def question(self) -> str:
        """The question as last asked."""
        return self.different[0].question


@dataclass(frozen=True, slots=True)
class Queue:
    """The pairs of a caller, newest answers first."""

    pairs: tuple[QuestionWithAnswers, ...]

    @property
    def compared(self) -> int:
        """The number of compared pairs."""
        return sum(pair.compared for pair in self.pairs)

    @property
    def rankable(self) -> list[QuestionWithAnswers]:
        """The pairs with more than two answers."""
        return [pair for pair in self.pairs if len(pair.different) > 2]

    def next(self, after: str | None = None) -> QuestionWithAnswers | None:
        """Return the first pair after the one with the id `after` that is not compared, or None."""
        waiting = [pair for pair in self.pairs if not pair.compared]
        older = [pair for pair in waiting if after and pair.id < after]
        return next(iter(older + waiting), None)

    def having(self, answer_id: str) -> QuestionWithAnswers | None:
        """Return the pair with an answer of this id, or None."""
        return next(
            (pair for pair in self.pairs if answer_id in {answer.id for answer in pair.different}), None
        )


async def queue_of(store: ServiceStore, caller: Caller) -> Queue:
    """Return the pairs in the history of a caller, with the compared and ranked ones marked; raises
    `StoreError`."""
    asked = await store.answers.repeated(whose(caller), _MOST_ANSWERS)
    found = [different for answers in asked if len(different := _different(answers)) > 1]
    found.sort(key=lambda different: different[0].id, reverse=True)
    questions = {answer.question for different in found for answer in different}
    compared = await store.comparisons.of_questions(caller.key_id, questions)
    ranked = await store.rankings.of_questions(caller.key_id, questions)
    said = {*map(_said, compared), *map(_said, ranked)}
    return Queue(
        tuple(QuestionWithAnswers(each, _known(each[:2]) in said, _known(each) in said) for each in found)
    )


def _different(answers: Iterable[StoredAnswer]) -> tuple[StoredAnswer, ...]:
    """Return the newest answers with different texts; those without evidence are skipped."""
    different: dict[str, StoredAnswer] = {}
    for answer in answers:
        if answer.body and answer.body["outcome"] == "answered":
            different.setdefault(squeeze(answer.body["answer"]), answer)
    return tuple(different.values())[:_MOST_RANKED]


class _Known(NamedTuple):
    """The same for the same answers to a question in any order, whatever the white space."""

    question: str
    texts: frozenset[str]


def _known(answers: tuple[StoredAnswer, ...]) -> _Known:
    texts = (answer.body["answer"] for answer in answers if answer.body)
    return _Known(squeeze(answers[0].question).casefold(), frozenset(map(squeeze, texts)))


def _said(opinion: StoredComparison | StoredRanking) -> _Known:
    texts = (answer["text"] for answer in opinion.answers)
    return _Known(squeeze(opinion.question).casefold(), frozenset(map(squeeze, texts)))
