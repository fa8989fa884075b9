"""A text is encoded once, however many parts ask for its vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.scale import Scale
from citewell.retriever.remembering_encoder import RememberingEncoder


class Counting:
    """An encoder whose vectors say how long a text is, and which remembers what it was asked."""

    name, fingerprint, dimension, scale = "counting", "1", 2, Scale()

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        self.asked += questions
        return np.array([[len(question), 1] for question in questions], dtype=np.float32)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        return self.encode_questions(passages)


def test_each_question_is_encoded_once() -> None:
    inner = Counting()
    encoder = RememberingEncoder(inner)
    assert (encoder.name, encoder.fingerprint, encoder.dimension) == ("counting", "1", 2)
    assert encoder.encode_questions(["a", "bb", "a"]).tolist() == [[1, 1], [2, 1], [1, 1]]
    assert encoder.encode_questions(["ccc", "bb"]).tolist() == [[3, 1], [2, 1]]
    assert inner.asked == ["a", "bb", "ccc"]
    assert encoder.encode_questions([]).shape == (0, 2)


def test_old_questions_are_let_go() -> None:
    inner = Counting()
    encoder = RememberingEncoder(inner)
    for number in range(1000):
        encoder.encode_questions([str(number)])
    encoder.encode_questions(["999", "0"])
    assert inner.asked[1000:] == ["0"]


def test_a_batch_larger_than_what_is_kept() -> None:
    texts = [str(number) for number in range(1000)]
    encoder = RememberingEncoder(Counting())
    assert encoder.encode_questions(texts)[:, 0].tolist() == [len(text) for text in texts]


def test_a_passage_is_encoded_once_and_apart_from_questions() -> None:
    inner = Counting()
    encoder = RememberingEncoder(inner)
    encoder.encode_questions(["p"])
    assert encoder.encode_passages(["p", "qq"]).tolist() == [[1, 1], [2, 1]]
    assert encoder.encode_passages(["qq", "p"]).tolist() == [[2, 1], [1, 1]]
    assert inner.asked == ["p", "p", "qq"]
