"""What is counted about an answer's text."""

from __future__ import annotations

import sys

import pytest

from citewell.generator.evaluation.text import copied, refuses, repetition, rouge_l_sum


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "No evidence for an answer was found.",
        "The references do not say when he was born.",
        "Unfortunately, the provided passages do not contain any information about it.",
        "The references don't mention this.",
        "I don't know.",
        "There is no information on the treaty in the texts.",
        "This question cannot be answered from the references.",
    ],
)
def test_a_refusal(answer: str) -> None:
    assert refuses(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "No one lived there before 1700.",
        "The information is not stored in the cell.",
        "The text was written in 1200. The references do not say by whom.",
        "The sources of the Nile do not freeze.",
        "There is no cure, but treatment helps.",
    ],
)
def test_an_answer_is_no_refusal(answer: str) -> None:
    assert not refuses(answer)


def test_copied_runs_of_words() -> None:
    passage = "Bats find their way in the dark by echolocation, which works with sound."
    assert copied(passage, ["Something else.", passage]) == 1
    assert copied(f"{passage} And so on and on it goes for eight more.", [passage]) == pytest.approx(6 / 16)
    assert copied("In darkness, bats listen to echoes of their own high calls.", [passage]) == 0
    assert copied("Too short.", [passage]) is None


def test_repetition() -> None:
    assert repetition("one two three four five six") == 0
    assert repetition("one two three four " * 3) == pytest.approx(1 - 4 / 9)
    assert repetition("one two") is None


def test_rouge_l_sum_is_the_package_s() -> None:
    sentences = ["Bats are hunting with echoes.", "They call often."]
    assert rouge_l_sum(sentences, "Bats hunt with an echo.\nThey call.") == pytest.approx(0.8)
    assert rouge_l_sum([], "Bats hunt.") == 0


def test_rouge_l_sum_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    assert rouge_l_sum(["Bats hunt."], "Bats hunt.") is None
