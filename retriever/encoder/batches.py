"""Encoding of texts of any length by an engine: batches of similar length within a budget of tokens."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.engines.engine import Engine, Ids


def encode_ids(engine: Engine, ids: Ids) -> Vectors:
    """Return the pooled vectors of `n` > 0 texts, an (n, dimension) array in the order of the texts.

    Texts are sorted by length, which limits the padding, and the batches are distributed over the engine's
    lanes, the longest first. A small number of texts is distributed too, for the shortest wait.
    """
    lengths = [len(text) for text in ids]
    batches = list(plan(lengths, min(engine.batch_tokens, math.ceil(sum(lengths) / engine.lanes))))

    def run(batch: list[int]) -> Vectors:
        return engine.pooled([ids[index] for index in batch])

    if len(batches) == 1 or engine.lanes == 1:
        found = [run(batch) for batch in batches]
    else:
        with ThreadPoolExecutor(engine.lanes) as pool:
            found = list(pool.map(run, batches))
    vectors = np.empty((len(ids), found[0].shape[1]), dtype=np.float32)
    for batch, rows in zip(batches, found, strict=True):
        vectors[batch] = rows
    return vectors


def plan(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield indices by length, longest first, in batches of at most `tokens` padded tokens, or of one."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(index)
    yield batch
