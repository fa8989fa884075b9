"""The passages of each question that a judge reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from citewell.core.progress import Counter, Log
from citewell.core.training.sources import question_key
from citewell.retriever.evaluation.systems.lexical import LexicalSystem, bm25
from citewell.retriever.evaluation.task import Corpus
from citewell.retriever.training.labels.asked import AskedQuestion, AskedQuestions, TitledText


class LabelCandidate(NamedTuple):
    """A question with one passage; `gold` says that people chose the passage as an answer."""

    asked: AskedQuestion
    passage: TitledText
    gold: bool


def candidates(asked: AskedQuestions, each: int, tell: Log) -> Iterator[LabelCandidate]:
    """Yield `each` passages of every question, the questions in an order that is random and always the same.

    The first is one that answers by people's labels, the second one that does not, if there are such; the
    others are BM25's best among all passages.
    """
    passages = list({question_key(found.encoded): found for found in asked.passages.values()}.values())
    corpus = Corpus(
        tuple(map(str, range(len(passages)))),
        ("",) * len(passages),
        tuple(found.encoded for found in passages),
    )
    searcher = LexicalSystem("bm25", bm25).read(corpus, None, Counter("counting words", tell)).searcher
    for question in sorted(asked.questions.values(), key=_drawn):
        chosen = [*question.answering[:1], *question.others[:1]]
        found = [passages[row] for row in searcher.search(question.question, each + len(chosen)).rows]
        yield from _of(question, chosen, found, each)


def _of(
    question: AskedQuestion, chosen: Sequence[TitledText], found: Sequence[TitledText], each: int
) -> Iterator[LabelCandidate]:
    answering = {passage.id for passage in question.answering}
    for passage in list(dict.fromkeys([*chosen, *found]))[:each]:
        yield LabelCandidate(question, passage, passage.id in answering)


def _drawn(question: AskedQuestion) -> str:
    return hashlib.sha256(question.id.encode()).hexdigest()
