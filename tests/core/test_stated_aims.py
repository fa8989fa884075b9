"""Sentences that say what a study asks, and do not answer it."""

from __future__ import annotations

import pytest

from citewell.core.stated_aims import may_answer, states_aim

AIM = "To determine the need for a balloon in elderly patients."


@pytest.mark.parametrize(
    "aim",
    [
        "The aim of the study was to evaluate whether the balloon can be left out.",
        "Our main objectives are, first, to compare valves with and without a balloon.",
        "To assess whether the balloon can be left out in elderly patients.",
        "OBJECTIVE: To compare valves with and without a balloon.",
        "We sought to determine the need for a balloon.",
        "A retrospective analysis of sixty patients was performed to ascertain whether a balloon helps.",
        "In this paper, the authors examine how the balloon changes the outcome.",
        "We hypothesized that the balloon can be left out.",
        "This study compared patients with and without a balloon.",
        "The present trial prospectively assesses the use of a balloon.",
        "The purpose of the present study is to document the use of a balloon.",
        "To test the hypothesis that the balloon can be left out.",
        "To validate a tool that decides on the balloon.",
    ],
)
def test_an_aim_is_recognized(aim: str) -> None:
    assert states_aim(aim)


@pytest.mark.parametrize(
    "answer",
    [
        "To test the alarm, press the button.",
        "This study compared patients with and without a balloon and found no difference.",
        "The goal of chess is to checkmate the king.",
        "The study of sixty patients showed that the balloon can be left out.",
        "It is hypothesized that the warm climate was due to methane.",
        "Electronic scoring is used to determine if touches land.",
    ],
)
def test_what_tells_something_is_not_an_aim(answer: str) -> None:
    assert not states_aim(answer)


@pytest.mark.parametrize(
    "question",
    [
        "What was the aim of the study?",
        "What did the authors investigate?",
        "How is the tax rate determined?",
    ],
)
def test_an_aim_answers_where_it_is_asked_for(question: str) -> None:
    assert may_answer(question, AIM)


@pytest.mark.parametrize(
    "question", ["Can the balloon be left out when a valve is replaced?", "How many valves were replaced?"]
)
def test_an_aim_does_not_answer_other_questions(question: str) -> None:
    assert not may_answer(question, AIM)
    assert may_answer(question, "Sixty valves were replaced without a balloon.")
