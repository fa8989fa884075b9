"""The splits of test questions by what they share with a training set (Lewis, Stenetorp and Riedel 2020).

https://arxiv.org/abs/2008.02637. WebGPT (table 9) and WebGLM (table 4) report TriviaQA by them. The paper's
splits of questions were judged by people; here a question overlaps if its words are those of a training
question, or nearly so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citewell.core.answers import normalized
from citewell.core.near_duplicates import NearDuplicates
from citewell.core.questions import AnsweredQuestion

QUESTION, NO_QUESTION = "question overlap", "no question overlap"
ANSWER, ANSWER_ONLY, NO_OVERLAP = "answer overlap", "answer overlap only", "no overlap"
SPLITS = (QUESTION, NO_QUESTION, ANSWER, ANSWER_ONLY, NO_OVERLAP)
SIMILARITY = 0.8
"""The minimum similarity of a question to a training question that it overlaps with."""


def overlap_splits(
    asked: Sequence[AnsweredQuestion], train: Sequence[AnsweredQuestion]
) -> Mapping[str, frozenset[str]]:
    """Return the keys of the questions in each split; a question is in several."""
    known = {normalized(answer) for row in train for answer in row.answers}
    answers = {row.key for row in asked if any(normalized(answer) in known for answer in row.answers)}
    index = NearDuplicates((row.question for row in train), SIMILARITY)
    questions = {row.key for row in asked if index.near(row.question)}
    everything = {row.key for row in asked}
    found = {
        QUESTION: questions,
        NO_QUESTION: everything - questions,
        ANSWER: answers,
        ANSWER_ONLY: answers - questions,
        NO_OVERLAP: everything - questions - answers,
    }
    return {name: frozenset(keys) for name, keys in found.items()}
