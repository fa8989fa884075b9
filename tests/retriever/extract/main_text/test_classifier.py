"""The packaged classifier, and forests of trees by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from citewell.retriever.extract.main_text.classifier import MODEL, Classifier, load, packaged, stacked
from citewell.retriever.extract.main_text.features import featurize
from citewell.retriever.extract.main_text.forest import Forest
from citewell.retriever.extract.main_text.frames import WordWeights
from citewell.retriever.extract.main_text.layout import lay_out, parse
from citewell.retriever.extract.main_text.signs import Signs, read_signs


def leaf(probability: float) -> float:
    return float(np.log(probability / (1 - probability)))


def test_a_tree_asks_one_question_a_level() -> None:
    leaves = np.array([[leaf(0.1)], [leaf(0.2)], [leaf(0.3)], [leaf(0.4)]], dtype=np.float32)
    forest = Forest(
        columns=np.array([[0], [1]], dtype=np.int32),
        borders=np.array([[0.5], [2.0]], dtype=np.float32),
        leaves=leaves,
        bias=0.0,
    )
    rows = np.array([[0, 0], [1, 0], [0.5, 3], [1, 2.5]], dtype=np.float32)  # on a border is not above it
    assert forest.probabilities(rows).tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-6)


def test_a_forest_judges_many_rows_as_it_judges_each() -> None:
    draw = np.random.default_rng(1)
    forest = Forest(
        draw.integers(0, 9, size=(6, 40)).astype(np.int32),
        draw.normal(size=(6, 40)).astype(np.float32),
        draw.normal(size=(64, 40)).astype(np.float32) / 10,
        0.3,
    )
    rows = draw.normal(size=(2500, 9)).astype(np.float32)
    together = forest.probabilities(rows)
    assert together.shape == (2500,)
    for number in (0, 1023, 1024, 2499):
        assert forest.probabilities(rows[number : number + 1])[0] == pytest.approx(together[number], abs=1e-6)


def test_the_second_forest_sees_the_guesses_around_a_piece() -> None:
    tree = parse("<div><p>one</p><p>two</p></div><div><p>three</p></div>")
    assert tree is not None
    features = featurize(lay_out(tree), Signs("", (0.0,)), WordWeights({}, {}))
    table = stacked(features, np.array([0.2, 0.6, 1.0], dtype=np.float32))
    assert table.shape == (3, features.values.shape[1] + 20)
    added = table[:, features.values.shape[1] :]
    assert added[:, 0].tolist() == pytest.approx([0.2, 0.6, 1.0])
    assert added[0, 2] == pytest.approx(0.4), "the mean of the first <div>"
    assert added[:, 6].tolist() == pytest.approx([-0.1, 0.2, 0.6]), "the piece before"
    assert added[:, 9].tolist() == pytest.approx([0.6, 1.0, -0.1]), "the piece after"


def test_the_packaged_classifier_fits_the_features_of_today() -> None:
    tree = parse("<p>one</p>")
    assert tree is not None
    classifier = packaged()
    assert classifier is packaged()
    features = featurize(lay_out(tree), read_signs(tree, ""), classifier.weights)
    width = features.values.shape[1]
    assert classifier.first.columns.max() < width
    assert width <= classifier.second.columns.max() < width + 20


def test_the_packaged_classifier_is_small() -> None:
    assert sum(file.stat().st_size for file in MODEL.iterdir()) < 1_000_000


def test_a_folder_without_a_classifier_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path)
    assert isinstance(load(MODEL), Classifier)
