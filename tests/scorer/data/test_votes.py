from __future__ import annotations

import pytest

from citewell.core.text import words
from citewell.scorer.data.config import PAPER, RAW
from citewell.scorer.data.notes import FileNotes
from citewell.scorer.data.types import Voted, VotedAnswer
from citewell.scorer.data.votes import compare, even, pairs, prepare
from tests.scorer.data.files import rule


def asked(*given: tuple[str, float]) -> Voted:
    answers = tuple(VotedAnswer(text, votes) for text, votes in given)
    return Voted("Why?", answers, group="why", source="forum")


def lengths(voted: Voted | None) -> list[int]:
    assert voted is not None
    return [len(words(answer.text)) for answer in voted.answers]


def ranked(number: int) -> Voted:
    """So many answers of three words, the first with the most votes."""
    return asked(*((f"answer number {place}", 100.0 - place) for place in range(number)))


def test_answers_with_three_votes_are_not_valid() -> None:
    voted = asked(*((f"answer number {votes}", votes) for votes in range(20)))
    prepared = prepare(voted, PAPER)
    assert prepared is not None
    assert min(answer.votes for answer in prepared.answers) == 4


@pytest.mark.parametrize(("number", "qualified"), [(7, False), (8, True)])
def test_a_question_needs_eight_valid_answers(number: int, qualified: bool) -> None:
    assert (prepare(ranked(number), PAPER) is not None) == qualified
    assert prepare(ranked(number), rule(answers=number)) is not None


def test_longer_answers_are_cut_at_the_median_and_those_under_half_of_it_dropped() -> None:
    voted = asked(*((" ".join(["word"] * length), 10.0) for length in (1, 4, 5, 10, 10, 11, 30, 400)))
    assert lengths(prepare(voted, PAPER)) == [5, 10, 10, 10, 10, 10]
    assert lengths(prepare(voted, rule(shortest=0.0))) == [1, 4, 5, 10, 10, 10, 10, 10]
    assert lengths(prepare(voted, rule(truncate=False))) == [1, 4, 5, 10, 10, 11, 30, 400]


def test_the_cut_keeps_marks_between_words_and_cuts_scripts_without_spaces_too() -> None:
    voted = asked(
        ("One, two... three; four five", 9), ("Eins, zwei... drei", 8), ("天空是蓝色的因为瑞利散射", 7)
    )
    assert [answer.text for answer in even(voted, PAPER).answers] == [
        "One, two... three; four five",
        "Eins, zwei... drei",
        "天空是蓝色",
    ]


def test_pairs_are_more_than_five_ranks_apart_and_the_better_answer_is_first() -> None:
    found = pairs(ranked(8), PAPER)
    assert [(each.first[-1], each.second[-1]) for each in found] == [("0", "6"), ("0", "7"), ("1", "7")]
    assert {each.preference for each in found} == {1.0}
    assert {(each.group, each.source) for each in found} == {("why", "forum")}
    assert len(pairs(ranked(8), rule(ranks=0))) == 28


def test_the_order_in_the_file_changes_no_pair() -> None:
    voted = ranked(9)
    backwards = asked(*((each.text, each.votes) for each in reversed(voted.answers)))
    assert set(pairs(backwards, PAPER)) == set(pairs(voted, PAPER))


def test_answers_with_equal_votes_or_equal_texts_make_no_pair() -> None:
    voted = asked(("one", 5), ("two", 5), ("three", 4), (" three ", 1))
    found = {(each.first, each.second) for each in pairs(voted, RAW)}
    assert found == {("one", "three"), ("two", "three"), ("one", " three "), ("two", " three ")}


def test_a_ratio_of_votes_may_be_asked_for() -> None:
    voted = asked(("ten", 10), ("six", 6), ("five", 5), ("one", 1), ("none", 0), ("minus", -3))
    found = {(each.first, each.second) for each in pairs(voted, rule(ranks=0, ratio=2.0))}
    assert ("ten", "five") in found
    assert ("ten", "six") not in found
    assert ("one", "none") not in found
    assert {("five", "none"), ("five", "minus")} <= found
    assert ("none", "minus") in {(each.first, each.second) for each in pairs(voted, RAW)}


def test_most_pairs_draws_the_same_ones_each_time() -> None:
    found = pairs(ranked(30), rule(most_pairs=10))
    assert len(set(found)) == 10
    assert found == pairs(ranked(30), rule(most_pairs=10))
    assert set(found) < set(pairs(ranked(30), PAPER))


def test_the_funnel_counts_what_each_step_leaves() -> None:
    notes = FileNotes()
    for voted in (ranked(8), ranked(3), asked(("alone", 2))):
        compare(voted, PAPER, notes)
    assert notes.funnel() == {
        "questions with votes": 3,
        "answers with votes": 12,
        "valid answers": 11,
        "questions with enough valid answers": 1,
        "answers of these": 8,
        "answers long enough": 8,
        "answers cut at the median length": 0,
        "questions with pairs": 1,
        "pairs far enough apart": 3,
    }
