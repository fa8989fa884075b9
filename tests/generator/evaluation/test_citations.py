"""Citation recall and precision are ALCE's, and its definitions hold for marks of every kind."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from citewell.generator.citations.marks import MarkedSentence, read_marks
from citewell.generator.evaluation.citations import CitedAnswer, citation_recall_and_precision, claim_recall
from citewell.generator.evaluation.judges.judge import ClaimAndPassages

PASSAGES = {1: "sun hot", 2: "moon cold", 3: "sun far", 4: "sea deep"}


class WordJudge:
    """Supported is a claim whose words all stand in the passages."""

    name = "words"

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        return [set(pair.claim.split()) <= set(" ".join(pair.passages).split()) for pair in pairs]


def scores(*sentences: tuple[str, tuple[int, ...]]) -> tuple[float, float]:
    answer = CitedAnswer([MarkedSentence(*sentence) for sentence in sentences], PASSAGES)
    (score,) = citation_recall_and_precision([answer], WordJudge())
    return score


@pytest.mark.parametrize(
    ("sentence", "recall", "precision"),
    [
        (("sun hot", (1,)), 1, 1),
        (("sun hot", (2,)), 0, 0),
        (("sun hot", ()), 0, 0),
        (("sun hot far", (1, 3)), 1, 1),  # together, and neither is enough
        (("sun hot", (1, 2)), 1, 1 / 2),  # the second is needless
        (("sun", (1, 3)), 1, 1),  # each is enough alone
        (("moon", (1, 4)), 0, 0),
        (("sun hot", (5,)), 0, 0),  # no such passage
        (("sun hot", (1, 5)), 0, 0),
        (("sun hot", (0,)), 0, 0),
    ],
)
def test_one_sentence(sentence: tuple[str, tuple[int, ...]], recall: float, precision: float) -> None:
    assert scores(sentence) == (recall, precision)


def test_recall_is_over_sentences_and_precision_over_citations() -> None:
    assert scores(("sun hot", (1,)), ("moon hot", (2, 1)), ("sea", ()), ("moon", (2, 4, 9))) == (2 / 4, 3 / 6)
    assert scores() == (0, 0)


def test_the_same_as_a_plain_reading_of_the_definition() -> None:
    chance = random.Random(1)
    vocabulary = ["sun", "moon", "sea", "hot", "cold", "far"]
    judge = WordJudge()

    def sentence() -> MarkedSentence:
        marks = chance.sample(range(1, 5), chance.randrange(4))
        return MarkedSentence(" ".join(chance.sample(vocabulary, 2)), tuple(marks))

    answers = [CitedAnswer([sentence() for _ in range(3)], PASSAGES) for _ in range(300)]

    def holds(claim: str, numbers: Sequence[int]) -> bool:
        return judge.supports([ClaimAndPassages(claim, tuple(PASSAGES[n] for n in numbers))])[0]

    for answer, found in zip(answers, citation_recall_and_precision(answers, judge), strict=True):
        supported = [bool(s.marks) and holds(s.text, s.marks) for s in answer.sentences]
        counted = [
            yes and (holds(s.text, [n]) or not holds(s.text, [m for m in s.marks if m != n]))
            for s, yes in zip(answer.sentences, supported, strict=True)
            for n in s.marks
        ]
        assert found == (sum(supported) / 3, sum(counted) / max(1, len(counted)))
    assert len({tuple(found) for found in citation_recall_and_precision(answers, judge)}) > 5


def test_a_mark_after_the_stop_belongs_to_the_sentence_before() -> None:
    answer = CitedAnswer(read_marks("sun hot. [1] The moon cold[2]."), PASSAGES)
    assert [s.marks for s in answer.sentences] == [(1,), (2,)]


def test_claims_are_recalled_by_the_whole_answer() -> None:
    claims = [["sun hot", "sea deep", "moon"], [], ["sun"]]
    assert claim_recall(claims, ["sun is hot and the moon", "sun", ""], WordJudge()) == [2 / 3, 0, 0]


def test_each_pair_is_asked_for_once_in_three_rounds() -> None:
    rounds: list[int] = []

    class Counting(WordJudge):
        def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
            rounds.append(len(pairs))
            return super().supports(pairs)

    answer = CitedAnswer(
        [MarkedSentence("sun", marks) for marks in itertools.permutations((1, 3, 2))], PASSAGES
    )
    citation_recall_and_precision([answer] * 10, Counting())
    assert len(rounds) == 3
