"""ROUGE of pairs of texts: the numbers of rouge-score for ASCII text, and sensible ones for other text."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from citewell.core.rouge import Rouge, Text, score, scores
from citewell.core.text import content_words, words

KINDS = tuple(Rouge)
EXAMPLES = [
    ("The quick brown fox jumps over the lazy dog.", "The quick brown dog jumps on the log!"),
    ("the the the cat", "The cat, the dog and the bird"),
    ("a b c d e", "e d c b a"),
    ("one", "one"),
    ("one", "two"),
    ("", "something"),
    ("something", ""),
    ("", ""),
    ("...", "snake_case it's U.S. 3.14159 x86-64"),
    ("snake case\tit s\nu s", "snake_case it's U.S. 3.14159 x86-64\x00end"),
]


class Tokenizer:
    """What rouge-score asks of a tokenizer."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


def by_rouge_score(scorer: RougeScorer, prediction: str, target: str) -> list[tuple[float, ...]]:
    found = scorer.score(target, prediction)
    return [tuple(found[kind.value]) for kind in KINDS]


def test_the_numbers_are_those_of_rouge_score() -> None:
    scorer = RougeScorer([kind.value for kind in KINDS])
    pairs = [*EXAMPLES, *((target, prediction) for prediction, target in EXAMPLES)]
    pairs += [(text(place % 90), text(place % 41)) for place in range(2000)]
    for prediction, target in pairs:
        mine = [tuple(score(Text(prediction), Text(target), kind)) for kind in KINDS]
        assert mine == by_rouge_score(scorer, prediction, target), (prediction, target)


def text(length: int) -> str:
    """Made-up words of few letters, so that many repeat, with separators of all kinds between them."""
    chance = random.Random(length)
    separators = [*string.punctuation, *string.whitespace, " "]
    return "".join(chance.choice("abCDe0") + chance.choice(separators) for _ in range(length))


def test_in_other_scripts_they_are_those_of_rouge_score_with_the_same_tokenizer() -> None:
    scorer = RougeScorer([kind.value for kind in KINDS], tokenizer=Tokenizer())
    texts = [
        "天空是蓝色的，因为散射。",
        "海是蓝色的 because of water",
        "Été à Århus",
        "été à Paris",
        "Привет, мир",
    ]
    for prediction in texts:
        for target in texts:
            mine = [tuple(score(Text(prediction), Text(target), kind)) for kind in KINDS]
            assert mine == by_rouge_score(scorer, prediction, target)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "same",
    ["天空是蓝色的。", "ひらがなとカタカナ", "ท้องฟ้าเป็นสีฟ้า", "हिन्दी भाषा", "Привет, мир", "Καλημέρα κόσμε"],
)
def test_identical_text_scores_one_in_every_script(same: str, kind: Rouge) -> None:
    assert score(Text(same), Text(same), kind) == (1, 1, 1)


def test_many_pairs_at_once_are_those_pairs() -> None:
    predictions = [Text(each) for each, _ in EXAMPLES]
    targets = [Text(each) for _, each in EXAMPLES[:4]]
    for kind in KINDS:
        found = scores(predictions, targets, kind)
        assert found.f1.shape == (len(predictions), len(targets))
        for row, prediction in enumerate(predictions):
            for column, target in enumerate(targets):
                assert tuple(matrix[row, column] for matrix in found) == score(prediction, target, kind)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0)])
def test_no_pairs(shape: tuple[int, int]) -> None:
    rows, columns = shape
    for matrix in scores([Text("a")] * rows, [Text("b")] * columns):
        assert matrix.shape == shape
        assert matrix.dtype == np.float64


def test_a_tokenizer_of_choice() -> None:
    def stems(text: str) -> Sequence[str]:
        return [word[:3] for word in words(text)]

    assert score(Text("The cat is on the mat"), Text("The dog is on the hill")).precision == 4 / 6
    only_content = score(
        Text("The cat is on the mat", content_words), Text("The dog on the hill", content_words)
    )
    assert only_content == (0, 0, 0)
    assert score(Text("running", stems), Text("runner", stems)).f1 == 1


def test_texts_joined_are_one_text() -> None:
    parts = ["The sky is blue.", "", "It scatters light"]
    for kind in KINDS:
        joined = Text.joined(Text(part) for part in parts)
        assert score(joined, Text("blue it scatters the sky"), kind) == score(
            Text(" ".join(parts)), Text("blue it scatters the sky"), kind
        )
