"""Batches of like length."""

from __future__ import annotations

import numpy as np
import pytest

from citewell.retriever.encoder.batches import encode_ids, plan
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.engines.engine import Ids


class FirstTokens:
    """An engine whose vector is the first token and the length of the text."""

    batch_tokens = 12

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.batches: list[int] = []

    def pooled(self, ids: Ids) -> Vectors:
        self.batches.append(max(map(len, ids)) * len(ids))
        return np.array([[text[0], len(text)] for text in ids], dtype=np.float32)


@pytest.mark.parametrize("lanes", [1, 3])
def test_vectors_come_in_the_order_of_the_texts(lanes: int) -> None:
    ids = [[number] * (1 + number * 7 % 11) for number in range(40)]
    engine = FirstTokens(lanes)
    vectors = encode_ids(engine, ids)
    assert vectors.tolist() == [[text[0], len(text)] for text in ids]
    assert max(engine.batches) <= 12


def test_a_few_texts_are_shared_out_among_the_lanes() -> None:
    engine = FirstTokens(lanes=2)
    encode_ids(engine, [[1, 1], [2, 2]])
    assert len(engine.batches) == 2


def test_a_text_longer_than_a_batch_is_a_batch_of_its_own() -> None:
    assert list(plan([3, 20, 4], 8)) == [[1], [2, 0]]
