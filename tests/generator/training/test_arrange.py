"""What of a row is shown: the citations always point to what they pointed to."""

from __future__ import annotations

import random
import re

from citewell.generator.training.arrange import Example, arrange
from citewell.generator.training.config import GeneratorPromptConfig

EXAMPLE = Example(
    "why?",
    ("first text", "second text", "third text", "fourth text"),
    "Because of the second and the third[2][3]. And because of the fourth one [4].",
)
OTHERS = (EXAMPLE, Example("else?", ("useless one", "useless two"), "Something else altogether[1]."))


def pointed(answer: str, texts: list[str]) -> list[list[str]]:
    return [
        [texts[int(number) - 1] for number in re.findall(r"\d+", group)]
        for group in re.findall(r"(?:\[\d+\])+", answer)
    ]


def test_shuffled_references_are_cited_as_before() -> None:
    seen = set()
    for seed in range(20):
        shown = arrange(EXAMPLE, OTHERS, GeneratorPromptConfig(references=4), random.Random(seed))
        texts = [reference.text for reference in shown.references]
        seen.add(tuple(texts))
        assert [reference.number for reference in shown.references] == [1, 2, 3, 4]
        groups = pointed(shown.answer, texts)
        assert [sorted(group) for group in groups] == [["second text", "third text"], ["fourth text"]]
        assert re.sub(r"\[\d+\]", "", shown.answer) == (
            "Because of the second and the third. And because of the fourth one."
        )
    assert len(seen) > 10


def test_marks_that_stand_together_are_in_rising_order() -> None:
    for seed in range(10):
        shown = arrange(EXAMPLE, OTHERS, GeneratorPromptConfig(references=4), random.Random(seed))
        first, second = re.findall(r"\d", shown.answer)[:2]
        assert int(first) < int(second)


def test_cited_references_stay_and_others_go_first() -> None:
    prompt = GeneratorPromptConfig(references=3, shuffle=False)
    shown = arrange(EXAMPLE, OTHERS, prompt, random.Random(0))
    assert [reference.text for reference in shown.references] == ["second text", "third text", "fourth text"]
    assert shown.answer == "Because of the second and the third[1][2]. And because of the fourth one[3]."


def test_useless_references_make_up_the_number_and_are_not_cited() -> None:
    shown = arrange(EXAMPLE, OTHERS, GeneratorPromptConfig(references=6), random.Random(1))
    texts = [reference.text for reference in shown.references]
    assert sorted(texts[:]) == sorted([*EXAMPLE.references, "useless one", "useless two"])
    assert "useless" not in str(pointed(shown.answer, texts))
    alone = arrange(EXAMPLE, OTHERS, GeneratorPromptConfig(references=6, fill=False), random.Random(1))
    assert len(alone.references) == 4


def test_marks_of_nothing_are_left_out() -> None:
    example = Example("why?", ("only text",), "It is so for a reason[1][7]. And it is so for another[9].")
    shown = arrange(example, (), GeneratorPromptConfig(references=5), random.Random(0))
    assert shown.answer == "It is so for a reason[1]. And it is so for another."
