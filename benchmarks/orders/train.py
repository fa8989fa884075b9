"""Train the detector of orders: `python -m benchmarks.orders.train` writes generator/orders/weights.json.

It learns from `train.txt` and `ordinary.txt` of this folder and from pages of CITEWELL_DATA, of which it
encodes the sentences that look most like orders. Other pages set the threshold, at 10 false alarms in
10,000 sentences; those of `python -m benchmarks.hostile.orders` are seen by neither. It takes three minutes
on 2 cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.orders.ordinary import ordinary_sentences, read_kinds
from benchmarks.results_files import external_data
from citewell.core.logistic import fit_logistic
from citewell.core.settings import load_settings
from citewell.generator.orders.detector import WEIGHTS, Encode, OrderWeights
from citewell.generator.orders.features import Numbers, found, with_pairs
from citewell.pipeline.providers import configured_encoder

_FALSE_ALARMS = 1e-3
_SCALE = 8.0  # of vectors, beside concepts that are 0 or 1
_RIDGE = 4.0
_HARD, _EASY = 6000, 1500  # ordinary sentences that are encoded: those most like orders, and any others
_ORDER, _NEAR, _RANDOM = 3.0, 2.0, 3.0  # weights of the rows
_GATED = 0.04  # orders of the training set that may be below the gate


class _Rows(NamedTuple):
    """Sentences and their concepts, an (n, all) array."""

    sentences: list[str]
    features: Numbers

    @classmethod
    def of(cls, sentences: Sequence[str]) -> _Rows:
        return cls(list(sentences), with_pairs(found(sentences)))

    def at(self, places: Sequence[int]) -> _Rows:
        return _Rows([self.sentences[place] for place in places], self.features[list(places)])


def train(data: Path, encoder: str, encode: Encode, most: int) -> OrderWeights:
    """Return the weights for an encoder; `most` is the number of sentences of each kind of ordinary text."""
    orders = _Rows.of([s for lines in read_kinds("train.txt").values() for s in lines])
    near = _Rows.of([s for lines in read_kinds("ordinary.txt").values() for s in lines])
    pages, checked = (
        _Rows.of([s for lines in ordinary_sentences(data, part=part, most=most).values() for s in lines])
        for part in ("train", "dev")
    )
    print(f"{len(orders.sentences)} orders, {len(pages.sentences):,} ordinary sentences", flush=True)
    chance = np.random.default_rng(0)
    some = pages.at(list(chance.permutation(len(pages.sentences))[:15_000]))
    words = _fit([orders.features, near.features, some.features], [5.0, 2.0, 1.0], ridge=10.0)
    hardest = np.argsort(-_sums(words, pages.features))
    others = chance.permutation(hardest[_HARD:])[:_EASY]
    rows = [orders, near, pages.at(list(hardest[:_HARD])), pages.at(list(others))]
    vectors = [encode(each.sentences).astype(np.float64) for each in rows]
    print("encoded", flush=True)
    center = vectors[3].mean(axis=0)
    inputs = [
        np.concatenate([each.features, (vector - center) * _SCALE], axis=1)
        for each, vector in zip(rows, vectors, strict=True)
    ]
    whole = _fit(inputs, [_ORDER, _NEAR, 1.0, _RANDOM], ridge=_RIDGE)
    size = orders.features.shape[1]
    vector = whole[size:-1] * _SCALE
    shift = whole[-1] - center @ vector
    alone = _fit([each.features for each in rows], [_ORDER, _NEAR, 1.0, _RANDOM], ridge=_RIDGE)
    by_words = _sums(alone, checked.features)
    gate = float(np.quantile(_sums(alone, orders.features), _GATED))
    top = checked.at([place for place, value in enumerate(by_words) if value > gate])
    sums = top.features @ whole[:size] + encode(top.sentences).astype(np.float64) @ vector + shift
    allowed = int(_FALSE_ALARMS * len(checked.sentences))
    shift_words = np.sort(by_words)[-allowed - 1]
    print(f"{len(top.sentences) / len(by_words):.3f} of ordinary sentences are encoded")
    return OrderWeights(
        encoder=encoder,
        words=alone[:-1],
        shift_words=float(alone[-1] - shift_words),
        gate=float(gate - shift_words),
        concepts=whole[:size],
        vector=vector,
        shift=float(shift - np.sort(sums)[-allowed - 1]),
    )


def _fit(inputs: Sequence[Numbers], weights: Sequence[float], *, ridge: float) -> Numbers:
    """Fit a model that tells the first of the inputs from the others."""
    truth = np.concatenate([np.full(len(each), place == 0) for place, each in enumerate(inputs)])
    counted = np.concatenate(
        [np.full(len(each), weight) for each, weight in zip(inputs, weights, strict=True)]
    )
    return fit_logistic(np.concatenate(inputs), truth, counted, ridge=ridge)


def _sums(model: Numbers, features: Numbers) -> Numbers:
    sums: Numbers = features @ model[:-1] + model[-1]
    return sums


def main() -> None:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, default=WEIGHTS, help="output file")
    parser.add_argument("--most", type=int, default=3500, help="sentences of each kind of ordinary text")
    arguments = parser.parse_args()
    encoder = configured_encoder(load_settings())
    weights = train(external_data(), encoder.name, encoder.encode_passages, arguments.most)
    weights.write(arguments.output)
    print(f"gate {weights.gate:.2f}; written to {arguments.output}")


if __name__ == "__main__":
    main()
