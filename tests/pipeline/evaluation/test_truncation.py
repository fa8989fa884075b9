"""The beginning of an answer that TruthfulQA's judges see."""

from __future__ import annotations

import pytest

from citewell.pipeline.evaluation.truncation import shortened

CASES = {
    "short answers stay": ("It is so. It was so.", 50, "It is so. It was so."),
    "a partial sentence is dropped": ("It is so. It was not so before.", 8, "It is so."),
    "a sentence that just fits stays": ("It is so. It was so.", 8, "It is so. It was so."),
    "one longer than all is dropped": ("It is so and it always was so.", 5, ""),
    "nothing": ("", 50, ""),
    "no stop at the end": ("It is so. Perhaps", 50, "It is so. Perhaps"),
    "a long word counts several": ("Internationalization.", 3, ""),
}


@pytest.mark.parametrize(("answer", "most", "expected"), CASES.values(), ids=CASES)
def test_whole_sentences_within_the_limit_are_kept(answer: str, most: int, expected: str) -> None:
    assert shortened(answer, most) == expected


def test_the_limit_is_that_of_webgpt() -> None:
    sentence = "Here are ten tokens of a sentence that ends."  # ten with its stop
    assert shortened(" ".join([sentence] * 7)) == " ".join([sentence] * 5)
