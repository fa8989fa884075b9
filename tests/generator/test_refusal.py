"""Answers that say that there is none, and answers that only look like it."""

from __future__ import annotations

import pytest

from citewell.generator.demonstrations import DEMONSTRATIONS
from citewell.generator.prompt import RULES
from citewell.generator.refusal import REFUSAL, is_refusal, least_refusal


@pytest.mark.parametrize(
    "text",
    [
        REFUSAL,
        "The references do not say who won the cup [1].",
        "The references provided do not mention the height of the lighthouse.",
        "The provided references don't contain any information about it.",
        "None of the references mention her.",
        "Unfortunately, the references do not answer the question.",
        "There is no information about it in the references.",
        "It is not stated in the references.",
        "It is not stated who won.",
        "It is not possible to say who won.",
        "I found no answer.",
        "There is no mention of a dog in the provided references.",
        "There is no information available on the price.",
        "The temperature of the greenhouse is not specified in the given references.",
        "His age was not clearly mentioned in any of the provided texts.",
    ],
)
def test_refusals(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The references of a book do not count as its text[1].",
        "The text mentions two kings[1].",
        "Bats do not see well[1]. The references do not say more.",
        "No, tides are not caused by wind[2].",
        "The right is not mentioned in the text of the constitution[1].",
        "There is no evidence that vaccines cause autism[1].",
        "There is no mention of dragons before 1200[1].",
        "It is not possible to see the Great Wall from the Moon[1].",
        "It is not mentioned in the Bible[1].",
        "Whales spout[1]. Their age is not specified in the references.",
        *(example.answer for name, example in DEMONSTRATIONS.items() if name != "refusal"),
    ],
)
def test_answers(text: str) -> None:
    assert not is_refusal(text)


def test_the_prompt_asks_for_a_refusal_that_is_recognized() -> None:
    assert RULES.endswith(REFUSAL)
    assert is_refusal(DEMONSTRATIONS["refusal"].answer)


def test_a_model_refuses_sooner_where_no_sentence_seems_to_answer() -> None:
    likely = [0.0, 0.3, 0.6, 0.72, 0.9, 1.0]
    for setting in (0.1, 0.25, 0.5):
        found = [least_refusal(setting, each) for each in likely]
        assert found == sorted(found)
        assert found[3] == pytest.approx(setting), "typical questions are refused by the setting"
        assert found[0] < setting / 50
        assert found[-1] == found[-2] == 0.6, "a likelier refusal is believed"
    assert {least_refusal(1.0, each) for each in likely} == {1.0}, "1 never refuses"
