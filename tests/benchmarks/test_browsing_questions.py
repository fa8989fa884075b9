"""How questions are put into splits."""

from __future__ import annotations

from benchmarks.browsing_questions import HELD_OUT, BrowsingSetQuestion, apart, divided, point


def asked(*questions: str) -> list[BrowsingSetQuestion]:
    return [BrowsingSetQuestion(question, ("so",), "made up") for question in questions]


def test_each_question_is_in_one_split_of_its_kind() -> None:
    learned = asked(*(f"who is number {n} of the learned people in the north" for n in range(100)))
    tested = asked(*(f"what happened in {n} to all towns by the southern sea" for n in range(1000, 1100)))
    splits = divided(learned[:1], tested)
    assert sum(map(len, splits.values())) == 101
    assert {row.question for row in splits["dev"] + splits["test"]} == {row.question for row in tested}
    assert 30 < len(splits["dev"]) < 70
    (place,) = (name for name in ("train", "held_out") if splits[name])
    assert place == ("train" if point(learned[0].question) >= HELD_OUT else "held_out")


def test_case_and_marks_make_no_other_question_and_the_first_answers_count() -> None:
    twice = [
        BrowsingSetQuestion("Who wrote Emma?", ("Austen",), "one"),
        BrowsingSetQuestion("who wrote emma", ("Jane",), "two"),
    ]
    assert point(twice[0].question) == point(twice[1].question)
    splits = divided([], twice)
    assert splits["dev"] + splits["test"] == twice[:1]


def test_what_is_near_a_question_that_is_asked_is_not_learned() -> None:
    far, near = "why is the sky blue", "who was the first president of the united states of america"
    assert apart(asked(far, near), asked("who was the first president of the united states")) == asked(far)
