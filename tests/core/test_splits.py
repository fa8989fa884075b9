from __future__ import annotations

from collections import Counter

from citewell.core.near_duplicates import NearDuplicates
from citewell.core.splits import Shares, SplitAssignment, assign_splits

SHARES = Shares(dev=0.2, test=0.2)
ADJECTIVES = ["old", "new", "red", "blue", "big", "small", "warm", "cold", "wet", "dry", "loud", "quiet"]
NOUNS = ["rivers", "castles", "engines", "planets", "wolves", "bridges", "violins", "glaciers"]
# Each question has near ones: those that share two of its three words.
QUESTIONS = [f"Why do {adjective} {noun} matter?" for noun in NOUNS for adjective in ADJECTIVES]
ALONE = [f"What does word{number} mean for term{number}?" for number in range(2000)]


def test_shares_are_met_and_every_question_alone_has_a_split() -> None:
    counts = Counter(each.split for each in assign_splits(ALONE, SHARES, 0.6))
    assert counts["train"] + counts["dev"] + counts["test"] == len(ALONE)
    assert 0.17 < counts["dev"] / len(ALONE) < 0.23
    assert 0.17 < counts["test"] / len(ALONE) < 0.23


def test_no_two_near_questions_are_in_different_splits() -> None:
    placed = assign_splits(QUESTIONS, SHARES, 0.4)
    index = NearDuplicates(QUESTIONS, 0.4)
    pairs = [
        {placed[number].split, placed[other.index].split} - {None}
        for number, question in enumerate(QUESTIONS)
        for other in index.near(question)
    ]
    assert max(map(len, pairs)) == 1
    assert len(pairs) > len(QUESTIONS)


def test_questions_that_are_added_move_no_other() -> None:
    everything = ALONE[:50] + QUESTIONS
    whole = assign_splits(everything, SHARES, 0.4)
    for length in (1, 10, 50, 100):
        assert assign_splits(everything[:length], SHARES, 0.4) == whole[:length]


def test_a_question_near_two_splits_goes_nowhere_and_names_both() -> None:
    splits = assign_splits(ALONE, SHARES, 0.6)
    first = next(n for n, each in enumerate(splits) if each.split == "train")
    second = next(n for n, each in enumerate(splits) if each.split == "test")
    between = f"word{first} term{first} word{second} term{second}"
    placed = assign_splits([ALONE[first], ALONE[second], between], SHARES, 0.4)
    assert placed[2] == SplitAssignment(None, (1, 0)) or placed[2] == SplitAssignment(None, (0, 1))


def test_the_split_depends_on_the_words_alone() -> None:
    other = [f"  {question.upper()} " for question in ALONE[:200]]
    assert [each.split for each in assign_splits(other, SHARES, 0.6)] == [
        each.split for each in assign_splits(ALONE[:200], SHARES, 0.6)
    ]
